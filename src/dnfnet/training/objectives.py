"""What is learned: a loss, the link from outputs to predictions, and the score to stop by."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from dnfnet.exceptions import InvalidParameterError
from dnfnet.training.metrics import METRICS, Metric


class Objective(ABC):
    """One kind of task.

    Parameters
    ----------
    n_outputs : int
        Width of the network's output.
    metric : str or Metric, optional
        The validation score; each kind of task has its own default.
    """

    default_metric: str
    target_dtype: torch.dtype = torch.float32

    def __init__(self, n_outputs: int, metric: str | Metric | None = None) -> None:
        self.n_outputs = n_outputs
        metric = self.default_metric if metric is None else metric
        if isinstance(metric, str) and metric not in METRICS:
            raise InvalidParameterError(f"metric must be one of {sorted(METRICS)} or a Metric, however: {metric=}")
        self.metric = METRICS[metric] if isinstance(metric, str) else metric

    @abstractmethod
    def losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Loss of each row: ``(rows, n_outputs), target -> (rows,)``."""

    @abstractmethod
    def link(self, output: Tensor) -> Tensor:
        """Predictions in the form that the metrics take."""

    def loss(self, output: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        """Mean loss; weights are expected to average 1 over the training rows."""
        losses = self.losses(output, target)
        return losses.mean() if weight is None else (losses * weight).mean()

    def predictions(self, output: Tensor) -> NDArray[np.float64]:
        """Predictions of ``link`` in double precision."""
        return self.link(output.double()).cpu().numpy()

    def score(self, output: Tensor, target: Tensor, weight: Tensor | None = None) -> float:
        """The metric of these outputs."""
        weights = None if weight is None else weight.double().cpu().numpy()
        return self.metric(self.predictions(output), target.cpu().numpy(), weights)


class BinaryClassification(Objective):
    """Two classes, one logit."""

    default_metric = "log_loss"

    def __init__(self, metric: str | Metric | None = None) -> None:
        super().__init__(1, metric)

    def losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Sigmoid cross-entropy; targets are 0 and 1."""
        return F.binary_cross_entropy_with_logits(output.squeeze(-1), target.to(output), reduction="none")

    def link(self, output: Tensor) -> Tensor:
        """Probability of class 1, ``(rows,)``."""
        return torch.sigmoid(output.squeeze(-1))


class MulticlassClassification(Objective):
    """Any number of classes, one logit each."""

    default_metric = "log_loss"
    target_dtype = torch.int64

    def losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Softmax cross-entropy; targets are class indices."""
        return F.cross_entropy(output, target, reduction="none")

    def link(self, output: Tensor) -> Tensor:
        """Probabilities, ``(rows, classes)``."""
        return torch.softmax(output, dim=-1)


class Regression(Objective):
    """One or several real outputs under squared error.

    Parameters
    ----------
    mean, deviation : array of shape (n_outputs,)
        Of the training targets. The network learns standardised targets; predictions and scores are on the scale of
        the user.
    """

    default_metric = "rmse"

    def __init__(
        self, mean: NDArray[np.float64], deviation: NDArray[np.float64], metric: str | Metric | None = None
    ) -> None:
        super().__init__(len(mean), metric)
        self.mean, self.deviation = torch.from_numpy(mean), torch.from_numpy(deviation)

    def losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Squared error of standardised targets, averaged over the outputs."""
        return (output - target).square().mean(-1)

    def link(self, output: Tensor) -> Tensor:
        """Outputs on the scale of the user, ``(rows, outputs)``."""
        return output * self.deviation.to(output) + self.mean.to(output)

    def score(self, output: Tensor, target: Tensor, weight: Tensor | None = None) -> float:
        """The metric, on the scale of the user."""
        return super().score(output, self.link(target.double()), weight)


def classification(n_classes: int, metric: str | Metric | None = None) -> Objective:
    """The objective for that many classes: one logit for two, one per class for more.

    The metric "paper" is the paper's choice: ROC AUC for two classes, log-loss for more.
    """
    if metric == "paper":
        metric = "roc_auc" if n_classes <= 2 else "log_loss"
    return BinaryClassification(metric) if n_classes <= 2 else MulticlassClassification(n_classes, metric)
