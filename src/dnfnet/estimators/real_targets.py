"""What the network learns to give for real targets: standardised values, or counts over their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dnfnet.estimators.arrays import real_array
from dnfnet.exceptions import InvalidTargetError
from dnfnet.training import MetricChoice, Objective, RealLoss, check_quantiles, regression


@dataclass(frozen=True)
class Reals:
    """How each output was scaled, and which of the losses the outputs are for.

    Attributes
    ----------
    mean, deviation : ndarray of shape (outputs,)
        Over the training rows; for counts 0 and the mean.
    flat : bool
        Whether y had one dimension.
    loss : str
    quantiles : tuple of float
        Empty for other losses.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    flat: bool
    loss: RealLoss = "squared_error"
    quantiles: tuple[float, ...] = ()

    @classmethod
    def learn(
        cls,
        y: Any,
        weight: NDArray[np.float64] | None,
        loss: RealLoss = "squared_error",
        quantiles: Sequence[float] = (),
    ) -> Reals:
        """Measure the training rows; ``weight`` is 0 for the others."""
        values = real_array(y)
        matrix = values.reshape(len(values), -1)
        if loss == "quantile" and matrix.shape[1] > 1:
            raise InvalidTargetError(f'loss="quantile" needs one target, but y has {matrix.shape[1]} columns.')
        mean, deviation = _mean_count(matrix, weight) if loss == "poisson" else _moments(matrix, weight)
        return cls(mean, deviation, values.ndim == 1, loss, check_quantiles(quantiles) if loss == "quantile" else ())

    def encode(self, y: Any) -> NDArray[np.float32]:
        """Scaled targets, always with a column per output."""
        values = real_array(y)
        matrix = values.reshape(len(values), -1)
        if matrix.shape[1] != len(self.mean):
            raise InvalidTargetError(f"y has {matrix.shape[1]} outputs, but {len(self.mean)} in the first fit.")
        if self.loss == "poisson":
            _refuse_negative(matrix)
        return ((matrix - self.mean) / np.where(self.deviation > 0, self.deviation, 1)).astype(np.float32)

    def check_scale(self, y: Any) -> None:
        """An error if training is to go on with a target whose scale the first rows did not tell."""
        values = real_array(y)
        matrix = values.reshape(len(values), -1)
        if ((self.deviation == 0) & (matrix != self.mean).any(axis=0)).any():
            raise InvalidTargetError(
                f"The first rows had the constant target {self.mean.tolist()}, so its scale is unknown: begin anew "
                "with rows in which it varies."
            )

    def objective(self, metric: MetricChoice) -> Objective:
        """The objective of the loss."""
        return regression(self.mean, self.deviation, self.loss, self.quantiles, metric)


def _moments(matrix: NDArray[np.float64], weight: NDArray | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # Squares of values near the largest float would overflow.
    unit = np.exp2(np.floor(np.log2(np.maximum(np.abs(matrix).max(axis=0), np.finfo(np.float64).tiny))))
    mean = np.average(matrix / unit, axis=0, weights=weight)
    deviation = np.sqrt(np.average(np.square(matrix / unit - mean), axis=0, weights=weight)) * unit
    mean = mean * unit
    # A constant target has nothing but rounding errors for a deviation: every prediction is the constant.
    deviation[deviation <= 1e-12 * np.abs(mean)] = 0
    return mean, deviation


def _mean_count(matrix: NDArray[np.float64], weight: NDArray | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    _refuse_negative(matrix)
    mean = np.average(matrix, axis=0, weights=weight)
    if not mean.all():
        raise InvalidTargetError('loss="poisson" needs counts above 0 in some rows, but y is 0 in all of them.')
    return np.zeros_like(mean), mean


def _refuse_negative(matrix: NDArray[np.float64]) -> None:
    negative = int((matrix < 0).any(axis=1).sum())
    if negative:
        raise InvalidTargetError(f'loss="poisson" needs y >= 0, but {negative} of {len(matrix)} rows are negative.')
