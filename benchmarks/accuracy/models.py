"""What a trial does: fit a model on the training rows, stop by the validation rows, predict, and take the times."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.data import Rows, Split, joined
from benchmarks.accuracy.limit import interrupting
from benchmarks.accuracy.variants import DNF_NET, DNF_NET_OWN_SPLIT
from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.compat import require
from dnfnet.paper import evaluate as study
from dnfnet.paper.clock import Clock
from dnfnet.paper.outcome import Predictions
from dnfnet.paper.trial import Trial

Predict = Callable[[pd.DataFrame], NDArray]


@dataclass(frozen=True)
class Job:
    """What a model is fitted with."""

    parameters: Mapping[str, Any]
    split: Split
    seed: int
    threads: int
    clock: Clock

    @property
    def classes(self) -> bool:
        """Whether the target is a class."""
        return self.split.n_classes is not None


@dataclass(frozen=True)
class Fitted:
    """A function from tables to probabilities (rows, classes) or values (rows,), and facts about the training."""

    predict: Predict
    facts: dict[str, Any] = field(default_factory=dict)


Fit = Callable[[Job], Fitted]


def evaluate(trial: Trial, split: Split, clock: Clock, threads: int = 1) -> dict[str, Any]:
    """Run a trial of the bench; for :class:`dnfnet.paper.worker.Task`."""
    with threadpool_limits(threads), interrupting(clock):
        return study.evaluate(trial, split, clock, threads, collection=collection)  # type: ignore[arg-type]


def collection(threads: int = 1) -> dict[str, Any]:
    """The models that a trial can name."""
    from benchmarks.accuracy import rivals

    fits: dict[str, Fit] = {DNF_NET: fit_dnf_net, DNF_NET_OWN_SPLIT: fit_own_split, **rivals.FITS}
    return {name: partial(_train, fit=fit, threads=threads) for name, fit in fits.items()}


def check_packages(models: set[str]) -> None:
    """An error now, not in every trial, where a model's package is missing."""
    from benchmarks.accuracy.rivals import PACKAGES

    for model in models & PACKAGES.keys():
        require(PACKAGES[model], "accuracy")


def _train(trial: Trial, split: Split, clock: Clock, *, fit: Fit, threads: int) -> Predictions:
    job = Job(trial.config["parameters"], split, trial.seed, threads, clock)
    started, cpu_started = time.perf_counter(), time.process_time()
    fitted = fit(job)
    fit_seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    clock.check()
    started = time.perf_counter()
    test = fitted.predict(split.test.X)
    times = {
        "fit_seconds": round(fit_seconds, 3),
        "fit_cpu_seconds": round(cpu_seconds, 3),
        "predict_seconds": round(time.perf_counter() - started, 4),
    }
    validation = fitted.predict(split.validation.X)
    return Predictions(_scored(validation, split), _scored(test, split), {**fitted.facts, **times})


def _scored(prediction: NDArray, split: Split) -> NDArray:
    """The form that the scores take: of two classes the probability of the second."""
    prediction = np.asarray(prediction, dtype=np.float64)
    return prediction[:, 1] if split.n_classes == 2 else prediction


def fit_dnf_net(job: Job) -> Fitted:
    """DNF-Net on the table as it is, stopped by the validation rows."""
    validation = job.split.validation
    return _fit_dnf_net(job, job.split.train, eval_set=(validation.X, validation.y))


def fit_own_split(job: Job) -> Fitted:
    """DNF-Net on training and validation rows, of which each network sets others aside to stop by.

    The validation score of such a trial is of rows that most networks have learned, and tells nothing.
    """
    return _fit_dnf_net(job, joined(job.split.train, job.split.validation))


def _fit_dnf_net(job: Job, rows: Rows, **options: Any) -> Fitted:
    kind = DNFNetClassifier if job.classes else DNFNetRegressor
    model = kind(**job.parameters, random_state=job.seed)
    model.fit(rows.X, rows.y, **options)
    if model.stop_reason_ == "interrupted":
        # The estimator keeps an interrupted network; a trial that was cut short must not count as finished.
        raise KeyboardInterrupt
    facts = {"epochs": model.n_iter_, "best_epoch": model.best_epoch_}
    return Fitted(model.predict_proba if job.classes else model.predict, facts)
