"""Training by the paper's rules: the loop, its rules, and what can watch it. It sees tensors, never a table."""

from dnfnet.training.callbacks import Callback, Checkpoint, ProgressBar, TimeLimit, resume
from dnfnet.training.dropout import DropoutSource
from dnfnet.training.history import History
from dnfnet.training.metrics import METRICS, Metric
from dnfnet.training.objectives import (
    BinaryClassification,
    CustomLoss,
    LossFunction,
    MetricChoice,
    MulticlassClassification,
    MultilabelClassification,
    Objective,
    PoissonRegression,
    QuantileRegression,
    RealLoss,
    Regression,
    check_quantiles,
    classification,
    regression,
)
from dnfnet.training.optim import LiteralAdamW, TensorFlowAdam, halve_on_plateau
from dnfnet.training.source import Batch, BatchSource, TensorSource
from dnfnet.training.trainer import Trainer

__all__ = [
    "METRICS",
    "Batch",
    "BatchSource",
    "BinaryClassification",
    "Callback",
    "Checkpoint",
    "CustomLoss",
    "DropoutSource",
    "History",
    "LiteralAdamW",
    "LossFunction",
    "Metric",
    "MetricChoice",
    "MulticlassClassification",
    "MultilabelClassification",
    "Objective",
    "PoissonRegression",
    "ProgressBar",
    "QuantileRegression",
    "RealLoss",
    "Regression",
    "TensorFlowAdam",
    "TensorSource",
    "TimeLimit",
    "Trainer",
    "check_quantiles",
    "classification",
    "halve_on_plateau",
    "regression",
    "resume",
]
