"""What is learned: a loss, the link from outputs to predictions, and the score to stop by."""

from dnfnet.training.objectives.base import CustomLoss, LossFunction, MetricChoice, Objective
from dnfnet.training.objectives.classification import (
    BinaryClassification,
    MulticlassClassification,
    MultilabelClassification,
    classification,
)
from dnfnet.training.objectives.regression import (
    PoissonRegression,
    QuantileRegression,
    RealLoss,
    Regression,
    check_quantiles,
    regression,
)

__all__ = [
    "BinaryClassification",
    "CustomLoss",
    "LossFunction",
    "MetricChoice",
    "MulticlassClassification",
    "MultilabelClassification",
    "Objective",
    "PoissonRegression",
    "QuantileRegression",
    "RealLoss",
    "Regression",
    "check_quantiles",
    "classification",
    "regression",
]
