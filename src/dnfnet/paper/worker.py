"""What a worker does with a trial: claim it, run it, and store whatever came of it."""

from __future__ import annotations

import os
import signal
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dnfnet.paper.clock import BudgetSpent, Clock, TimeLimitReached
from dnfnet.paper.evaluate import evaluate
from dnfnet.paper.sources import DataSources
from dnfnet.paper.split import load_split
from dnfnet.paper.store import FAILED, OK, TIMEOUT, Store
from dnfnet.paper.trial import Trial

# Ways in which a trial can come back without a record of its own.
FOUND, BUSY, LEFT = "found", "busy", "left"

Load = Callable[..., Any]
Evaluate = Callable[..., dict[str, Any]]


@dataclass(frozen=True)
class Task:
    """What every trial of a run shares; travels to the workers.

    ``load`` gives the rows of a trial's data set and partition, ``evaluate`` makes of them what is stored: the study's
    own unless another collection of trials brings its own.
    """

    store: str
    sources: DataSources = field(default_factory=DataSources)
    limit: float | None = None
    deadline: float | None = None
    threads: int = 1
    environment: str = ""
    main_process: int = field(default_factory=os.getpid)
    load: Load = load_split
    evaluate: Evaluate = evaluate


def work(trial: Trial, task: Task) -> str:
    """Run one trial, unless it is finished, taken, or the time is up; returns how it went."""
    _leave_interrupts_to(task.main_process)
    store = Store(task.store)
    try:
        Clock(deadline=task.deadline).check()
        with store.claim(trial.key) as mine:
            if not mine:
                return BUSY
            # Another run may have finished it since this one was planned.
            return FOUND if store.has(trial.key) else _attempt(trial, store, task)
    except BudgetSpent:
        return LEFT


def _attempt(trial: Trial, store: Store, task: Task) -> str:
    clock = Clock(task.limit, task.deadline)
    outcome: dict[str, Any]
    try:
        outcome = {"status": OK, **_evaluate(trial, store, task, clock)}
    except BudgetSpent:
        raise
    except TimeLimitReached as reached:
        outcome = {"status": TIMEOUT, "reason": str(reached)}
    except Exception as error:
        outcome = {"status": FAILED, "reason": _reason(error)}
    seconds = round(clock.elapsed, 2)
    store.put(trial, **outcome, seconds=seconds, threads=task.threads, environment=task.environment)
    return outcome["status"]


def _evaluate(trial: Trial, store: Store, task: Task, clock: Clock) -> dict[str, Any]:
    import torch

    torch.set_num_threads(task.threads)
    split = task.load(trial.dataset, trial.partition, task.sources, store.partitions_file(trial.dataset))
    return task.evaluate(trial, split, clock, task.threads)


def _reason(error: Exception) -> str:
    """Say in one line what went wrong and where."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(where.filename)}:{where.lineno}"
    text = " ".join(str(error).split())[:300]
    memory = isinstance(error, MemoryError) or "can't allocate memory" in text
    return f"{'out of memory: ' if memory else ''}{type(error).__name__}: {text} ({place})"


def _leave_interrupts_to(main_process: int) -> None:
    """Let only the main process react to Ctrl-C, which a terminal sends to the workers as well."""
    if os.getpid() != main_process and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
