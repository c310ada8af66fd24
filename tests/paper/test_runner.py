"""Runs that are killed, doubled, short of time, or troubled."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import fakes
import pytest

from dnfnet.paper.backends import backend
from dnfnet.paper.locks import try_lock
from dnfnet.paper.runner import pending, run
from dnfnet.paper.store import Store
from dnfnet.paper.worker import Task

N = 16


def start(store, log, engine):
    """Run the logged trials in a process group of their own."""
    paths = [str(Path(fakes.__file__).parent), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)}
    command = [sys.executable, fakes.__file__, str(store), str(log), str(N), engine]
    return subprocess.Popen(command, env=environment, start_new_session=True)


def stored(path):
    return {file.stem: file.read_bytes() for file in Path(path).glob("trials/*/*.json")}


def starts(log):
    return Counter(log.read_text().split())


def is_free(claim):
    with try_lock(claim) as taken:
        return taken


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_a_killed_run_loses_and_repeats_nothing_that_was_finished(tmp_path):
    store, log = tmp_path / "store", tmp_path / "log"
    process = start(store, log, "loky")
    wait_for(lambda: len(stored(store)) >= 3)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    wait_for(lambda: all(is_free(claim) for claim in (store / "claims").iterdir()))  # its workers take a moment to die
    before = stored(store)
    assert 3 <= len(before) < N
    todo = pending(fakes.trials(N, log=str(log)), Store(store))
    assert len(todo) == N - len(before)
    log.write_text("")
    with backend("threading", 2):
        summary = run(todo, Task(str(store), evaluate=fakes.logged), n_jobs=2)
    assert summary.counts == {"ok": N - len(before)}
    assert not starts(log).keys() & before.keys()
    assert stored(store).items() >= before.items()
    assert len(stored(store)) == N


def test_two_runs_at_once_share_the_work(tmp_path):
    store, log = tmp_path / "store", tmp_path / "log"
    processes = [start(store, log, "threading") for _ in range(2)]
    for process in processes:
        assert process.wait(timeout=120) == 0
    assert len(stored(store)) == N
    assert set(starts(log).values()) == {1}


def test_failures_are_recorded_with_their_reason_and_the_rest_goes_on(tmp_path):
    trials = fakes.trials(6, trouble={"1": "error", "2": "memory", "3": "hang"})
    task = Task(str(tmp_path), evaluate=fakes.troubled, limit=0.2, environment="e")
    summary = run(trials, task)
    assert summary.counts == {"ok": 3, "failed": 2, "timeout": 1}
    records = {r["config"]["number"]: r for r in Store(tmp_path).records()}
    assert records[1]["reason"].startswith("ValueError: no such luck (fakes.py:")
    assert records[2]["reason"].startswith("out of memory: MemoryError")
    assert records[3]["status"] == "timeout"
    assert records[3]["reason"] == "time limit of 0.2s reached"
    assert records[0]["status"] == "ok"
    assert records[0]["environment"] == "e"


def test_failed_trials_run_again_only_when_asked(tmp_path):
    trials = fakes.trials(3, trouble={"1": "error"})
    run(trials, Task(str(tmp_path), evaluate=fakes.troubled))
    assert pending(trials, Store(tmp_path)) == []
    assert pending(trials, Store(tmp_path), retry_failed=True) == [trials[1]]


def test_a_worker_that_dies_takes_only_its_own_trial_with_it(tmp_path):
    trials = fakes.trials(6, trouble={"2": "die"})
    with backend("loky", 2):
        summary = run(trials, Task(str(tmp_path), evaluate=fakes.troubled), n_jobs=2)
    assert summary.counts == {"ok": 5, "failed": 1}
    (failed,) = [r for r in Store(tmp_path).records() if r["status"] == "failed"]
    assert failed["config"]["number"] == 2
    assert "worker process died" in failed["reason"]


def test_a_budget_stops_in_time_and_leaves_the_trial_in_hand_unrecorded(tmp_path):
    trials = fakes.trials(5, trouble={"1": "hang"})
    task = Task(str(tmp_path), evaluate=fakes.troubled, limit=600, deadline=time.time() + 0.5)
    summary = run(trials, task)
    assert summary.counts == {"ok": 1, "left": 4}
    assert str(summary) == "1 finished, 4 still to do"
    assert pending(trials, Store(tmp_path)) == trials[1:]


def test_ctrl_c_ends_in_order(tmp_path):
    def interrupted(trial, split, clock, threads):
        if trial.config["number"] == 2:
            raise KeyboardInterrupt
        return fakes.score(trial)

    summary = run(fakes.trials(5), Task(str(tmp_path), evaluate=interrupted))
    assert summary.interrupted
    assert summary.counts == {"ok": 2, "left": 3}
    assert len(Store(tmp_path).records()) == 2


def test_another_runs_claim_is_left_to_it(tmp_path):
    trials = fakes.trials(2)
    with Store(tmp_path).claim(trials[0].key):
        summary = run(trials, Task(str(tmp_path), evaluate=fakes.quick))
    assert summary.counts == {"busy": 1, "ok": 1}
    assert summary.unfinished == 1


def test_an_unknown_backend_is_refused():
    with pytest.raises(ValueError, match="backend must be one of loky, threading, dask, ray"), backend("spark", 2):
        pass
