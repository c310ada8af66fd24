"""Stand-ins for training, importable by worker processes."""

import os
import signal
import sys
import time
from pathlib import Path

from dnfnet.paper.backends import backend
from dnfnet.paper.runner import pending, run
from dnfnet.paper.store import Store
from dnfnet.paper.trial import Trial
from dnfnet.paper.worker import Task


def trials(n, **config):
    """Return n different trials on a small synthetic data set."""
    return [Trial("syn1-d11", "synthetic-fcn", {"number": i, **config}, i % 5, 1) for i in range(n)]


def score(trial):
    return {"metric": "accuracy", "validation": 0.5 + trial.config["number"] / 1000, "test": 0.25}


def quick(trial, split, clock, threads):
    return score(trial)


def logged(trial, split, clock, threads):
    """Take a moment, and leave a line for every start in the file that the configuration names."""
    with Path(trial.config["log"]).open("a") as log:
        log.write(f"{trial.key}\n")
    for _ in range(10):
        time.sleep(0.01)
        clock.check()
    return score(trial)


def troubled(trial, split, clock, threads):
    """Fail in the way that the configuration names."""
    kind = trial.config.get("trouble", {}).get(str(trial.config["number"]))
    if kind == "error":
        raise ValueError("no such luck")
    if kind == "memory":
        raise MemoryError
    if kind == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "hang":
        while True:
            clock.check()
            time.sleep(0.01)
    return score(trial)


def main(store, log, n, engine):
    """Run n logged trials on two workers."""
    todo = pending(trials(int(n), log=log), Store(store))
    with backend(engine, 2):
        run(todo, Task(store, evaluate=logged), n_jobs=2)


if __name__ == "__main__":
    main(*sys.argv[1:])
