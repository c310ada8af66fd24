"""The accuracy bench on tables of a few rows: what is stored, and what goes on after trouble."""

import math
import os
import signal
import subprocess
import sys
import time
from inspect import signature
from pathlib import Path

import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.accuracy.__main__ import main
from benchmarks.accuracy.data import open_table
from benchmarks.accuracy.limit import interrupting
from dnfnet.exceptions import DatasetUnavailableError
from dnfnet.paper.clock import Clock, TimeLimitReached
from dnfnet.paper.sources import DataSources
from dnfnet.paper.store import Store

ROOT = Path(__file__).parents[2]
TINY = ("--variant", "tiny", "n_formulas=4", "max_epochs=2")


def run(*words):
    return main(["run", *words])


def stored(folder="accuracy-store"):
    return {file.stem: file.stat().st_mtime_ns for file in Path(folder).glob("trials/*/*.json")}


def records(folder="accuracy-store"):
    return {(r["config"]["variant"], r["dataset"], r["partition"]): r for r in Store(folder).records()}


@pytest.mark.skipif(
    "X_val" not in signature(HistGradientBoostingClassifier.fit).parameters,
    reason="HistGradientBoosting takes validation rows from scikit-learn 1.7 on",
)
def test_a_run_stores_scores_times_and_all_parameters(here, capsys):
    words = (
        *TINY,
        "--variants",
        "xgboost",
        "histgradientboosting",
        "--datasets",
        "titanic",
        "diamonds",
        "--partitions",
        "3",
    )
    assert run(*words) == 0
    found = records()
    assert len(found) == 6
    for record in found.values():
        assert record["status"] == "ok", record
        assert math.isfinite(record["test"])
        assert record["fit_seconds"] > 0
        assert record["threads"] == 1
    ours = found["tiny", "titanic", 3]
    assert ours["metric"] == "roc_auc"
    assert ours["config"]["parameters"]["n_formulas"] == 4
    assert ours["config"]["parameters"]["learning_rate"] == "auto"  # a default, and part of the identity
    assert found["tiny", "diamonds", 3]["metric"] == "r2"
    before = stored()
    capsys.readouterr()
    assert run(*words) == 0
    assert capsys.readouterr().out == "6 trials, 6 of them finished already, 0 to run.\n"
    assert stored() == before


def test_a_killed_run_goes_on_where_it_was(here, capsys):
    words = ("--variant", "slow", "n_formulas=64", "max_epochs=60", "patience=60", "--datasets", "titanic", "diamonds")
    command = [sys.executable, "-m", "benchmarks.accuracy", "run", *words, "--store", str(here / "accuracy-store")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while not stored() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = stored()
    assert 1 <= len(before) < 10
    assert run(*words) == 0
    assert f"{len(before)} of them finished already" in capsys.readouterr().out
    after = stored()
    assert len(after) == 10
    assert {key: after[key] for key in before} == before


def test_a_variant_that_fails_is_recorded_and_runs_again_only_when_asked(here, capsys):
    words = ("--variant", "broken", "n_formulas=-1", *TINY, "--datasets", "titanic", "--partitions", "0")
    assert run(*words) == 0
    assert "1 finished, 1 failed" in capsys.readouterr().out
    assert "'n_formulas' parameter of DNFNetClassifier must be" in records()["broken", "titanic", 0]["reason"]
    run(*words)
    assert "0 to run" in capsys.readouterr().out
    run(*words, "--retry-failed", "--dry-run")
    run(*words, "--retry-failed")
    assert "1 to run" in capsys.readouterr().out
    main(["table"])
    assert "| broken | – | – | – | 0 partitions, 1 failed |" in capsys.readouterr().out


def test_a_time_limit_ends_a_fit_and_is_recorded(here):
    endless = ("--variant", "endless", "max_epochs=1000000", "patience=1000000", "--trial-limit", "1s")
    assert run(*endless, "--datasets", "titanic", "--partitions", "0") == 0
    record = records()["endless", "titanic", 0]
    assert (record["status"], record["reason"]) == ("timeout", "time limit of 1s reached")


def test_the_limit_reaches_code_that_knows_nothing_of_it():
    def endless():
        while True:
            pass

    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TimeLimitReached), interrupting(Clock(limit=0.1)):
        endless()
    assert signal.getsignal(signal.SIGALRM) is before


def test_results_are_exported_and_count_as_finished(here, capsys):
    words = (*TINY, "--datasets", "titanic", "--partitions", "0")
    run(*words)
    assert main(["export"]) == 0
    assert (here / "results" / "accuracy" / "titanic.jsonl").exists()
    capsys.readouterr()
    run(*words, "--store", "another")
    assert "1 of them finished already, 0 to run" in capsys.readouterr().out


def test_a_name_keeps_its_parameters(here, capsys):
    run(*TINY, "--datasets", "titanic", "--partitions", "0")
    assert run("--variant", "tiny", "n_formulas=5", "--datasets", "titanic") == 2
    assert "'tiny' has results on titanic with other parameters" in capsys.readouterr().err


def test_missing_data_is_said_before_any_trial(here, capsys):
    assert run(*TINY, "--datasets", "adult") == 2
    assert "The table 'adult' is not here: save it as adult.parquet" in capsys.readouterr().err
    assert stored() == {}
    with pytest.raises(DatasetUnavailableError):
        open_table("adult", DataSources.of())
