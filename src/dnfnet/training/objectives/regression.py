"""Real targets: means, quantiles, counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from dnfnet.exceptions import InvalidParameterError
from dnfnet.training.metrics import Metric, pinball
from dnfnet.training.objectives.base import MetricChoice, Objective

RealLoss = Literal["squared_error", "quantile", "poisson"]


class Regression(Objective):
    """One or several real outputs under squared error.

    Parameters
    ----------
    mean, deviation : array of shape (n_outputs,)
        Of the training targets. The network learns standardised targets; predictions and scores are on the scale of
        the user.
    """

    metrics: ClassVar[tuple[str, ...]] = ("rmse", "mae", "r2")

    def __init__(self, mean: NDArray[np.float64], deviation: NDArray[np.float64], metric: MetricChoice = None) -> None:
        super().__init__(len(mean), metric)
        self.mean, self.deviation = torch.from_numpy(mean), torch.from_numpy(deviation)

    def losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Squared error of standardised targets, averaged over the outputs."""
        return (output - target).square().mean(-1)

    def link(self, output: Tensor) -> Tensor:
        """Outputs on the scale of the user, ``(rows, outputs)``."""
        return output * self.deviation.to(output) + self.mean.to(output)

    def unlink(self, prediction: Tensor) -> Tensor:
        """Standardised values."""
        return (prediction - self.mean.to(prediction)) / self.deviation.to(prediction)

    def truth(self, target: Tensor) -> Tensor:
        """Targets on the scale of the user."""
        return Regression.link(self, target.double())


class QuantileRegression(Regression):
    """Several quantiles of one real target, which never cross.

    The first output is the lowest quantile; each further one is the distance to the next, made positive by softplus.

    Parameters
    ----------
    mean, deviation : array of shape (1,)
    quantiles : sequence of float
        Levels in (0, 1), increasing.
    """

    metrics = ("pinball",)

    def __init__(
        self,
        mean: NDArray[np.float64],
        deviation: NDArray[np.float64],
        quantiles: Sequence[float],
        metric: MetricChoice = None,
    ) -> None:
        self.quantiles = check_quantiles(quantiles)
        super().__init__(mean, deviation, metric)
        self.n_outputs = len(self.quantiles)

    def losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Pinball loss, averaged over the quantiles."""
        error = target - self._increasing(output)
        level = torch.tensor(self.quantiles, dtype=error.dtype, device=error.device)
        return torch.maximum(level * error, (level - 1) * error).mean(-1)

    def link(self, output: Tensor) -> Tensor:
        """Quantiles on the scale of the user, ``(rows, quantiles)``."""
        return super().link(self._increasing(output))

    def unlink(self, prediction: Tensor) -> Tensor:
        """The lowest quantile, and what softplus makes the distances of."""
        values = super().unlink(prediction)
        gaps = values.diff(dim=1).clamp_min(torch.finfo(values.dtype).tiny)
        return torch.cat([values[:, :1], gaps + torch.log(-torch.expm1(-gaps))], dim=1)

    def _increasing(self, output: Tensor) -> Tensor:
        first, gaps = output[:, :1], F.softplus(output[:, 1:])
        return torch.cat([first, gaps], dim=1).cumsum(dim=1)

    def _named_metric(self, name: str) -> Metric:  # noqa: ARG002
        return pinball(self.quantiles)


class PoissonRegression(Regression):
    """Means of counts under Poisson's deviance, with a logarithmic link.

    The network learns counts divided by their mean, so an output of 0 is the mean, and large counts learn as fast as
    small ones.

    Parameters
    ----------
    mean, deviation : array of shape (n_outputs,)
        Zeros, and the mean counts of the training rows.
    """

    metrics = ("poisson_deviance", "rmse", "mae", "r2")

    def losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Negative log-likelihood without its constant, averaged over the outputs."""
        return (output.exp() - target * output).mean(-1)

    def link(self, output: Tensor) -> Tensor:
        """Expected counts, ``(rows, outputs)``; the smallest number above 0 where they would round to 0."""
        means = super().link(output.exp())
        return means.clamp_min(torch.finfo(means.dtype).tiny)

    def unlink(self, prediction: Tensor) -> Tensor:
        """Logarithms of the counts divided by their mean."""
        means = super().unlink(prediction)
        return means.clamp_min(torch.finfo(means.dtype).tiny).log()


def regression(
    mean: NDArray[np.float64],
    deviation: NDArray[np.float64],
    loss: RealLoss = "squared_error",
    quantiles: Sequence[float] = (),
    metric: MetricChoice = None,
) -> Regression:
    """The objective for that loss."""
    if loss == "quantile":
        return QuantileRegression(mean, deviation, quantiles, metric)
    kind = PoissonRegression if loss == "poisson" else Regression
    return kind(mean, deviation, metric)


def check_quantiles(quantiles: Sequence[float]) -> tuple[float, ...]:
    """The levels as a tuple of floats."""
    try:
        levels = np.asarray(quantiles, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        levels = np.empty(0)
    inside = bool(((levels > 0) & (levels < 1)).all())
    if not len(levels) or not inside or (np.diff(levels) <= 0).any():
        raise InvalidParameterError(
            f"quantiles must be increasing numbers between 0 and 1, at least one, however: {quantiles=}"
        )
    return tuple(levels.tolist())
