"""The synthetic tasks Syn1 to Syn6 (paper, Appendix D.5): data, relevant features, Bayes accuracy.

A label is 1 with probability ``1 / (1 + logit(x))``. The printed Syn3 has no ``exp`` around its logit and so
gives no probability for about half of the points; what was run is in :func:`_syn3`. The printed form,
exponentiated, is offered as ``syn3-printed`` (and in ``syn5-printed`` and ``syn6-printed``, which contain it).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dnfnet.exceptions import InvalidParameterError
from dnfnet.paper.datasets import Dataset

N_SAMPLES = 10_000
MIN_FEATURES = 11
DIMENSIONS = (11, 50, 100, 150, 200, 250, 300)
_DATA_SEED = 1

Array = NDArray[np.float64]


def _syn1(x: Array) -> Array:
    return x[:, 0] * x[:, 1]


def _syn2(x: Array) -> Array:
    return (x[:, 2:6] ** 2).sum(axis=1) - 4.0


def _syn3(x: Array) -> Array:
    """Return Syn3 as it was run."""
    return -10.0 * np.sin(0.2 * x[:, 6]) + np.abs(x[:, 7]) + x[:, 8] + np.exp(-x[:, 9]) - 2.4


def _syn3_printed(x: Array) -> Array:
    return -10.0 * np.sin(2.0 * x[:, 6]) + 2.0 * np.abs(x[:, 7]) + x[:, 8] + np.exp(-x[:, 9]) - 2.4


@dataclass(frozen=True)
class Part:
    """One interaction: the logarithm of the paper's logit, and the features that it reads (from 0)."""

    log_logit: Callable[[Array], Array]
    features: tuple[int, ...]


_ONE = Part(_syn1, (0, 1))
_TWO = Part(_syn2, (2, 3, 4, 5))
_THREE = Part(_syn3, (6, 7, 8, 9))
_PRINTED = Part(_syn3_printed, (6, 7, 8, 9))
_SWITCH = 10  # x11: below 0 the first part rules, from 0 on the second

TASKS: dict[str, tuple[Part, ...]] = {
    "syn1": (_ONE,),
    "syn2": (_TWO,),
    "syn3": (_THREE,),
    "syn4": (_ONE, _TWO),
    "syn5": (_ONE, _THREE),
    "syn6": (_TWO, _THREE),
    "syn3-printed": (_PRINTED,),
    "syn5-printed": (_ONE, _PRINTED),
    "syn6-printed": (_TWO, _PRINTED),
}
PAPER_TASKS = tuple(f"syn{i}" for i in range(1, 7))


def _parts(task: str) -> tuple[Part, ...]:
    if task not in TASKS:
        raise InvalidParameterError(f"task must be one of {', '.join(TASKS)}, however: {task!r}")
    return TASKS[task]


def probability(task: str, x: Array) -> Array:
    """Return P(y = 1 | x) of a task for rows of at least 11 features."""
    parts = _parts(task)
    log_logit = parts[0].log_logit(x)
    if len(parts) == 2:
        log_logit = np.where(x[:, _SWITCH] < 0, log_logit, parts[1].log_logit(x))
    # 1 / (1 + exp(f)) without an overflow for large f.
    return np.exp(-np.logaddexp(0.0, log_logit))


def oracle_mask(task: str, d: int) -> NDArray[np.bool_]:
    """Return which of ``d`` features a task reads."""
    parts = _parts(task)
    mask = np.zeros(d, dtype=bool)
    for part in parts:
        mask[list(part.features)] = True
    if len(parts) == 2:
        mask[_SWITCH] = True
    return mask


def make_synthetic(task: str, d: int, *, n_samples: int = N_SAMPLES, seed: int = _DATA_SEED) -> Dataset:
    """Draw one instance of a task: ``d`` independent standard normal features and the labels.

    Every (task, d) is a data set of its own, as in the paper; the same arguments give the same bits.
    """
    _parts(task)
    if d < MIN_FEATURES:
        raise InvalidParameterError(f"d must be at least {MIN_FEATURES}, however: {d=}")
    rng = np.random.default_rng([seed, list(TASKS).index(task), d])
    x = rng.standard_normal((n_samples, d))
    y = (rng.random(n_samples) < probability(task, x)).astype(np.int64)
    return Dataset(
        name=f"{task}-d{d}",
        x=x,
        y=y,
        classes=("0", "1"),
        features=tuple(f"x{i + 1}" for i in range(d)),
        metric="accuracy",
        oracle=oracle_mask(task, d),
    )


def parse_name(name: str) -> tuple[str, int] | None:
    """Split ``"syn4-d50"`` into the task and d; None when the name is no synthetic instance."""
    task, _, d = name.rpartition("-d")
    return (task, int(d)) if task in TASKS and d.isdigit() else None


@dataclass(frozen=True)
class Estimate:
    """A number and its standard error."""

    value: float
    error: float


@cache
def bayes_accuracy(task: str) -> Estimate:
    """Return the accuracy of the best possible classifier, E[max(p, 1 - p)].

    Computed by integration over 16 independently scrambled Sobol sequences of 2**15 points; the standard
    error over the sixteen is below 5e-5, well below what 2,000 test rows can resolve (about 9e-3).
    """
    from scipy.stats import qmc, sem

    means = []
    for scramble in range(16):
        points = qmc.MultivariateNormalQMC(mean=np.zeros(MIN_FEATURES), rng=scramble).random(2**15)
        p = probability(task, points)
        means.append(np.maximum(p, 1.0 - p).mean())
    return Estimate(float(np.mean(means)), float(sem(means)))
