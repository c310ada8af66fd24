"""Running trials: in parallel, resumable, within a budget, and on past whatever fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dnfnet.compat import require
from dnfnet.paper.store import FAILED, OK, TIMEOUT, Store
from dnfnet.paper.trial import Trial
from dnfnet.paper.worker import BUSY, FOUND, LEFT, Task, work


@dataclass
class Summary:
    """How the trials of a run came out, by the name of the outcome."""

    counts: Counter[str] = field(default_factory=Counter)
    interrupted: bool = False

    @property
    def unfinished(self) -> int:
        """Trials without a result: the budget ran out, another run has them, or Ctrl-C came."""
        return self.counts[LEFT] + self.counts[BUSY]

    def __str__(self) -> str:
        words = {OK: "finished", TIMEOUT: "at their time limit", FAILED: "failed", FOUND: "finished by another run"}
        parts = [f"{self.counts[name]} {text}" for name, text in words.items() if self.counts[name]]
        if self.unfinished:
            parts.append(f"{self.unfinished} still to do")
        return ", ".join(parts) or "nothing to do"


def pending(trials: Sequence[Trial], store: Store, *, retry_failed: bool = False) -> list[Trial]:
    """Return the trials without a result; with ``retry_failed``, failed and timed-out ones run again."""
    if retry_failed:
        for trial in trials:
            record = store.get(trial.key)
            if record is not None and record["status"] != OK:
                store.forget(trial.key)
    return [trial for trial in trials if not store.has(trial.key)]


def run(trials: Sequence[Trial], task: Task, *, n_jobs: int = 1, progress: bool = False) -> Summary:
    """Run trials under joblib's current backend (see :func:`dnfnet.paper.backends.backend`).

    Ctrl-C ends the run in order: what was finished is stored, and the summary says what was not.
    """
    summary = Summary()
    with _bar(len(trials), progress) as bar:
        try:
            _run(list(trials), task, n_jobs, summary, bar)
        except KeyboardInterrupt:
            summary.interrupted = True
            summary.counts[LEFT] += len(trials) - summary.counts.total()
    return summary


def _run(trials: list[Trial], task: Task, n_jobs: int, summary: Summary, bar: Any) -> None:
    """Run all trials; when a worker process dies, find out whose fault it was and go on without it."""
    store = Store(task.store)
    while trials:
        trials, error = _pass(trials, task, n_jobs, summary, bar)
        # Finished, but the word of it was lost with the worker.
        for record in filter(None, [store.get(trial.key) for trial in trials]):
            _count(summary, bar, record["status"])
        trials = [trial for trial in trials if not store.has(trial.key)]
        suspects = [trial for trial in trials if _was_dropped(trial, store)]
        if error is not None and not suspects:
            raise error
        for trial in suspects:
            _count(summary, bar, _run_alone(trial, task, store))
        trials = [trial for trial in trials if trial not in suspects]


def _pass(
    trials: list[Trial], task: Task, n_jobs: int, summary: Summary, bar: Any
) -> tuple[list[Trial], Exception | None]:
    """Run trials until all came back or a worker died; returns those that did not come back, and the error."""
    done = set[str]()
    try:
        for key, outcome in _parallel(trials, task, n_jobs):
            _count(summary, bar, outcome)
            done.add(key)
    except Exception as error:
        # `work` catches what a trial raises, so this is a worker that died, most likely for lack of memory.
        return [trial for trial in trials if trial.key not in done], error
    return [], None


def _parallel(trials: Sequence[Trial], task: Task, n_jobs: int) -> Iterator[tuple[str, str]]:
    joblib = require("joblib", "paper")
    jobs = [joblib.delayed(_keyed)(trial, task) for trial in trials]
    if joblib.parallel.get_active_backend()[0].supports_return_generator:
        yield from joblib.Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")(jobs)
        return
    # Ray's backend only gives whole lists back: pieces keep the progress bar moving.
    size = 8 * abs(n_jobs)
    for first in range(0, len(jobs), size):
        yield from joblib.Parallel(n_jobs=n_jobs, batch_size=1)(jobs[first : first + size])


def _keyed(trial: Trial, task: Task) -> tuple[str, str]:
    return trial.key, work(trial, task)


def _was_dropped(trial: Trial, store: Store) -> bool:
    """Tell whether a worker died over a trial: its claim is still there, with nobody behind it."""
    if store.has(trial.key) or not store.claim_file(trial.key).exists():
        return False
    with store.claim(trial.key) as free:
        return free


def _run_alone(trial: Trial, task: Task, store: Store) -> str:
    """Run a trial with no other beside it; a worker that dies over it again is the trial's own doing."""
    try:
        # Two jobs and one trial: with one job joblib would run it in this very process.
        return next(outcome for _, outcome in _parallel([trial], task, 2))
    except Exception as error:
        reason = f"its worker process died, most likely out of memory: {type(error).__name__}"
        store.put(trial, status=FAILED, reason=reason, seconds=0.0, threads=task.threads, environment=task.environment)
        return FAILED


def _count(summary: Summary, bar: Any, outcome: str) -> None:
    summary.counts[outcome] += 1
    troubles = {"failed": summary.counts[FAILED], "time limit": summary.counts[TIMEOUT]}
    bar.set_postfix({name: n for name, n in troubles.items() if n}, refresh=False)
    bar.update(1)


def _bar(total: int, progress: bool) -> Any:
    from tqdm.auto import tqdm

    # Trials differ a hundredfold in length, so the time left is an average over all of them, not the latest.
    return tqdm(total=total, unit="trial", disable=not progress, smoothing=0.0, dynamic_ncols=True)
