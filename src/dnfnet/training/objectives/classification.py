"""Classes: one of two, one of many, or any number of labels at once."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from dnfnet.training.objectives.base import MetricChoice, Objective

# Probabilities nearer to 0, or to 1, count as if they were this far from it.
LEAST = 1e-15


class BinaryClassification(Objective):
    """Two classes, one logit."""

    metrics = ("log_loss", "roc_auc", "accuracy")

    def __init__(self, metric: MetricChoice = None) -> None:
        super().__init__(1, metric)

    def losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Sigmoid cross-entropy; targets are 0 and 1."""
        return F.binary_cross_entropy_with_logits(output.squeeze(-1), target.to(output), reduction="none")

    def link(self, output: Tensor) -> Tensor:
        """Probability of class 1, ``(rows,)``."""
        return torch.sigmoid(output.squeeze(-1))

    def unlink(self, prediction: Tensor) -> Tensor:
        """Logits, ``(rows, 1)``."""
        return torch.logit(prediction, eps=LEAST).unsqueeze(-1)


class MulticlassClassification(Objective):
    """Any number of classes, one logit each."""

    metrics = ("log_loss", "accuracy")
    target_dtype = torch.int64

    def losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Softmax cross-entropy; targets are class indices."""
        return F.cross_entropy(output, target, reduction="none")

    def link(self, output: Tensor) -> Tensor:
        """Probabilities, ``(rows, classes)``."""
        return torch.softmax(output, dim=-1)

    def unlink(self, prediction: Tensor) -> Tensor:
        """Logarithms of the probabilities."""
        return prediction.clamp_min(LEAST).log()


class MultilabelClassification(Objective):
    """Labels that a row can have or not, each by itself: one logit per label."""

    metrics = ("log_loss", "roc_auc", "accuracy")

    def losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Sigmoid cross-entropy, averaged over the labels; targets are 0 and 1."""
        return F.binary_cross_entropy_with_logits(output, target.to(output), reduction="none").mean(-1)

    def link(self, output: Tensor) -> Tensor:
        """Probability of each label, ``(rows, labels)``."""
        return torch.sigmoid(output)

    def unlink(self, prediction: Tensor) -> Tensor:
        """Logits."""
        return torch.logit(prediction, eps=LEAST)


def classification(n_classes: int, metric: MetricChoice = None) -> Objective:
    """The objective for that many classes: one logit for two, one per class for more.

    The metric "paper" is the paper's choice: ROC AUC for two classes, log-loss for more.
    """
    if isinstance(metric, str) and metric == "paper":
        metric = "roc_auc" if n_classes <= 2 else "log_loss"
    return BinaryClassification(metric) if n_classes <= 2 else MulticlassClassification(n_classes, metric)
