"""What every objective has, and an objective whose loss is a function of the user's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dnfnet.exceptions import InvalidParameterError
from dnfnet.training.metrics import METRICS, Metric, Score

LossFunction = Callable[[Tensor, Tensor], Tensor]
MetricChoice = str | Metric | Score | None


class Objective(ABC):
    """One kind of task.

    Outputs may have a third dimension in the middle, ``(rows, members, n_outputs)``: then each member of an ensemble
    has its own loss, and their predictions are averaged.

    Parameters
    ----------
    n_outputs : int
        Width of the network's output.
    metric : str, Metric or callable, optional
        The validation score; the first of ``metrics`` without it. Of a plain callable
        ``(prediction, target, weight) -> float`` lower is better, as of a loss; a Metric says its direction.
    """

    metrics: ClassVar[tuple[str, ...]]
    target_dtype: torch.dtype = torch.float32

    def __init__(self, n_outputs: int, metric: MetricChoice = None) -> None:
        self.n_outputs = n_outputs
        self.metric = self._find_metric(self.metrics[0] if metric is None else metric)

    def _find_metric(self, metric: str | Metric | Score) -> Metric:
        if isinstance(metric, Metric):
            return metric
        if not isinstance(metric, str):
            return Metric(getattr(metric, "__name__", type(metric).__name__), metric, greater_is_better=False)
        if metric not in self.metrics:
            raise InvalidParameterError(
                f"metric must be one of {list(self.metrics)} for this task, a Metric or a function, however: {metric=}"
            )
        return self._named_metric(metric)

    def _named_metric(self, name: str) -> Metric:
        return METRICS[name]

    @abstractmethod
    def losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Loss of each row: ``(rows, n_outputs), target -> (rows,)``."""

    @abstractmethod
    def link(self, output: Tensor) -> Tensor:
        """Predictions in the form that the metrics take."""

    @abstractmethod
    def unlink(self, prediction: Tensor) -> Tensor:
        """The outputs whose ``link`` gives these predictions: ``(rows, n_outputs)``."""

    def truth(self, target: Tensor) -> Tensor:
        """Targets in the form that the metrics take."""
        return target

    def loss(self, output: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        """Mean loss, also over members; weights are expected to average 1 over the training rows."""
        if output.dim() == 3:
            members = output.shape[1]
            output, target = output.flatten(0, 1), target.repeat_interleave(members, dim=0)
            weight = None if weight is None else weight.repeat_interleave(members)
        return _mean(self.losses(output, target), weight)

    def joint_loss(self, output: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        """Mean loss of the predictions that are averaged over members, which so learn together."""
        return _mean(self.mean_losses(output, target), weight)

    def predictions(self, output: Tensor) -> NDArray[np.float64]:
        """Predictions of ``link`` in double precision, averaged over members."""
        return self._averaged(output).cpu().numpy()

    def pooled(self, predictions: Sequence[NDArray]) -> NDArray[np.float64]:
        """One prediction of several that are as sure as they should be: their mean on the scale of outputs.

        The mean of such probabilities themselves would be less sure than it is right, the more the better they are.
        """
        outputs = [self.unlink(torch.from_numpy(prediction)) for prediction in predictions]
        return self.link(torch.stack(outputs).mean(0)).numpy()

    def mean_losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Loss of each row, ``(rows,)``, of the prediction that is averaged over members."""
        return self.losses(self.unlink(self._averaged(output)), target)

    def _averaged(self, output: Tensor) -> Tensor:
        output = output.double()
        if output.dim() == 3:
            return self.link(output.flatten(0, 1)).unflatten(0, output.shape[:2]).mean(1)
        return self.link(output)

    def score(self, output: Tensor, target: Tensor, weight: Tensor | None = None) -> float:
        """The metric of these outputs."""
        weights = None if weight is None else weight.double().cpu().numpy()
        return self.metric(self.predictions(output), self.truth(target).cpu().numpy(), weights)


def _mean(losses: Tensor, weight: Tensor | None) -> Tensor:
    return losses.mean() if weight is None else (losses * weight).mean()


class CustomLoss(Objective):
    """An objective with another loss; its link and its metric stay.

    Parameters
    ----------
    objective : Objective
    function : callable
        ``(output, target) -> losses``, one loss per row, in torch. With one output both arguments have shape (rows,),
        so that nothing broadcasts by accident.
    """

    def __init__(self, objective: Objective, function: LossFunction) -> None:
        self.metrics = objective.metrics  # type: ignore[misc]
        super().__init__(objective.n_outputs, objective.metric)
        self.objective, self.function, self.target_dtype = objective, function, objective.target_dtype

    def losses(self, output: Tensor, target: Tensor) -> Tensor:
        """What the function gives, if that is one number per row."""
        if self.n_outputs == 1:
            output, target = output.reshape(-1), target.reshape(-1)
        losses = self.function(output, target)
        if not isinstance(losses, Tensor) or losses.shape != (len(output),):
            found = tuple(losses.shape) if isinstance(losses, Tensor) else type(losses).__name__
            raise InvalidParameterError(
                f"loss must give a tensor with one loss per row, of shape ({len(output)},), however: {found}"
            )
        return losses

    def link(self, output: Tensor) -> Tensor:
        """As in the objective."""
        return self.objective.link(output)

    def unlink(self, prediction: Tensor) -> Tensor:
        """As in the objective."""
        return self.objective.unlink(prediction)

    def truth(self, target: Tensor) -> Tensor:
        """As in the objective."""
        return self.objective.truth(target)
