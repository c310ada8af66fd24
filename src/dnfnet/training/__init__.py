"""Training by the paper's rules: the loop, its rules, and what can watch it. It sees tensors, never a table."""

from dnfnet.training.callbacks import Callback, Checkpoint, ProgressBar, TimeLimit, resume
from dnfnet.training.history import History
from dnfnet.training.metrics import METRICS, Metric
from dnfnet.training.objectives import (
    BinaryClassification,
    MulticlassClassification,
    Objective,
    Regression,
    classification,
)
from dnfnet.training.optim import TensorFlowAdam, halve_on_plateau
from dnfnet.training.source import Batch, BatchSource, TensorSource
from dnfnet.training.trainer import Trainer

__all__ = [
    "METRICS",
    "Batch",
    "BatchSource",
    "BinaryClassification",
    "Callback",
    "Checkpoint",
    "History",
    "Metric",
    "MulticlassClassification",
    "Objective",
    "ProgressBar",
    "Regression",
    "TensorFlowAdam",
    "TensorSource",
    "TimeLimit",
    "Trainer",
    "classification",
    "halve_on_plateau",
    "resume",
]
