"""Scores of predictions, each with the direction that is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

Array = NDArray[np.float64]
Score = Callable[[Array, NDArray, NDArray | None], float]


@dataclass(frozen=True)
class Metric:
    """A named score: ``metric(prediction, target, weight)``.

    Predictions are probabilities for classes, of shape (rows,) for two and (rows, classes) for more, and values of
    shape (rows, outputs) for regression.
    """

    name: str
    function: Score
    greater_is_better: bool

    def __call__(self, prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
        """The score."""
        return float(self.function(prediction, target, weight))

    def better(self, score: float, best: float) -> bool:
        """Whether ``score`` is strictly better than ``best``."""
        return score > best if self.greater_is_better else score < best

    @property
    def worst(self) -> float:
        """A score that every finite one is better than."""
        return -np.inf if self.greater_is_better else np.inf


def log_loss(prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
    """Mean negative logarithm of the probability of the true class."""
    if prediction.ndim == 1:
        chosen = np.where(target == 1, prediction, 1 - prediction)
    else:
        chosen = np.take_along_axis(prediction, target.astype(np.intp)[:, None], axis=1)[:, 0]
    losses = -np.log(np.clip(chosen, np.finfo(np.float64).tiny, None))
    return float(np.average(losses, weights=weight))


def roc_auc(prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
    """Area under the ROC curve of two classes."""
    return float(roc_auc_score(target, prediction, sample_weight=weight))


def accuracy(prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
    """Share of rows whose most probable class is the true one."""
    chosen = prediction > 0.5 if prediction.ndim == 1 else prediction.argmax(axis=1)
    return float(np.average(chosen == target, weights=weight))


def rmse(prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
    """Root of the mean squared error, over all outputs."""
    squares = np.square(prediction - target).reshape(len(target), -1).mean(axis=1)
    return float(np.sqrt(np.average(squares, weights=weight)))


METRICS = {
    metric.name: metric
    for metric in (
        Metric("log_loss", log_loss, greater_is_better=False),
        Metric("roc_auc", roc_auc, greater_is_better=True),
        Metric("accuracy", accuracy, greater_is_better=True),
        Metric("rmse", rmse, greater_is_better=False),
    )
}
