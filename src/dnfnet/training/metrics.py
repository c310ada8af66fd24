"""Scores of predictions, each with the direction that is better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.metrics import r2_score, roc_auc_score

from dnfnet.exceptions import DNFNetError, InvalidParameterError, InvalidTargetError

Array = NDArray[np.float64]
Score = Callable[[Array, NDArray, NDArray | None], float]


@dataclass(frozen=True)
class Metric:
    """A named score: ``metric(prediction, target, weight)``.

    Predictions are probabilities for classes, of shape (rows,) for two and (rows, classes) for more, and values of
    shape (rows, outputs) for regression. Targets are 0 and 1 for two classes, positions in ``classes_`` for more, an
    indicator matrix for several labels, and values of shape (rows, outputs) on the user's scale for regression.

    Parameters
    ----------
    name : str
    function : callable
        ``(prediction, target, weight) -> float``; the weight is None or an array of shape (rows,).
    greater_is_better : bool

    Examples
    --------
    >>> from sklearn.metrics import average_precision_score
    >>> def precision(prediction, target, weight):
    ...     return average_precision_score(target, prediction, sample_weight=weight)
    >>> metric = Metric("average_precision", precision, greater_is_better=True)
    """

    name: str
    function: Score
    greater_is_better: bool

    def __call__(self, prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
        """The score."""
        try:
            return float(self.function(prediction, target, weight))
        except (TypeError, ValueError) as error:
            if isinstance(error, DNFNetError):
                raise
            raise InvalidParameterError(
                f"metric must be a function (prediction, target, weight) that gives a number, however {self.name} does "
                f"not: {error}"
            ) from error

    def better(self, score: float, best: float) -> bool:
        """Whether ``score`` is strictly better than ``best``."""
        return score > best if self.greater_is_better else score < best

    @property
    def worst(self) -> float:
        """A score that every finite one is better than."""
        return -np.inf if self.greater_is_better else np.inf


def log_loss(prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
    """Mean negative logarithm of the probability of the true class; of several labels, the mean over them."""
    if prediction.ndim == target.ndim:
        chosen = np.where(target == 1, prediction, 1 - prediction)
    else:
        chosen = np.take_along_axis(prediction, target.astype(np.intp)[:, None], axis=1)[:, 0]
    losses = -np.log(np.clip(chosen, np.finfo(np.float64).tiny, None))
    return _mean(losses, weight)


def roc_auc(prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
    """Area under the ROC curve of two classes; of several labels, the mean over them."""
    if (target.min(axis=0) == target.max(axis=0)).any():
        raise InvalidTargetError(
            "ROC AUC is not defined where the validation rows are all of one class: pass an eval_set that has both, "
            "or another metric."
        )
    return float(roc_auc_score(target, prediction, sample_weight=weight))


def accuracy(prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
    """Share of rows whose most probable class is the true one; of several labels, all of them."""
    chosen = prediction > 0.5 if prediction.ndim == target.ndim else prediction.argmax(axis=1)
    hits = chosen == target
    return _mean(hits.reshape(len(hits), -1).all(axis=1), weight)


def rmse(prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
    """Root of the mean squared error, over all outputs."""
    errors = np.abs(prediction - target)
    unit = max(errors.max(initial=0.0), np.finfo(np.float64).tiny)  # squares of the largest floats would overflow
    return float(np.sqrt(_mean(np.square(errors / unit), weight)) * unit)


def mae(prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
    """Mean absolute error, over all outputs."""
    return _mean(np.abs(prediction - target), weight)


def r2(prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
    """Share of the variance that is explained; of several outputs, the mean over them."""
    if len(target) < 2:
        raise InvalidTargetError("R² needs two validation rows: pass an eval_set that has them, or another metric.")
    unit = max(np.abs(target).max(), np.abs(prediction).max(), np.finfo(np.float64).tiny)  # squares might overflow
    return float(r2_score(target / unit, prediction / unit, sample_weight=weight))


def poisson_deviance(prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
    """Mean Poisson deviance of expected counts, over all outputs."""
    return _mean(2 * (xlogy(target, target / prediction) - target + prediction), weight)


def pinball(quantiles: Sequence[float]) -> Metric:
    """The pinball loss at these levels, averaged over them; predictions have a column per level."""
    level = np.asarray(quantiles, dtype=np.float64)

    def pinball_loss(prediction: Array, target: NDArray, weight: NDArray | None = None) -> float:
        error = target.reshape(-1, 1) - prediction
        return _mean(np.maximum(level * error, (level - 1) * error), weight)

    return Metric("pinball", pinball_loss, greater_is_better=False)


def _mean(values: NDArray, weight: NDArray | None) -> float:
    """Weighted mean over the rows of the plain mean over the rest."""
    return float(np.average(values.reshape(len(values), -1).mean(axis=1), weights=weight))


METRICS = {
    metric.name: metric
    for metric in (
        Metric("log_loss", log_loss, greater_is_better=False),
        Metric("roc_auc", roc_auc, greater_is_better=True),
        Metric("accuracy", accuracy, greater_is_better=True),
        Metric("rmse", rmse, greater_is_better=False),
        Metric("mae", mae, greater_is_better=False),
        Metric("r2", r2, greater_is_better=True),
        Metric("poisson_deviance", poisson_deviance, greater_is_better=False),
    )
}
