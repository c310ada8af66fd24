"""One step of the paper's Algorithm 1: train a configuration, score it on validation and test rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from dnfnet.exceptions import InvalidParameterError
from dnfnet.paper.clock import Clock
from dnfnet.paper.outcome import Predictions
from dnfnet.paper.split import Split
from dnfnet.paper.trial import Trial
from dnfnet.training.metrics import METRICS

Model = Callable[[Trial, Split, Clock], Predictions]
Collection = Callable[[int], Mapping[str, Model]]


def models(threads: int = 1) -> Mapping[str, Model]:
    """Return the models that a trial can name."""
    from dnfnet.paper.boosting import train_xgboost
    from dnfnet.paper.neural import train_dnf_net, train_fcn, train_masked_fcn

    return {
        "dnf-net": train_dnf_net,
        "fcn": train_fcn,
        "synthetic-fcn": train_masked_fcn,
        "xgboost": partial(train_xgboost, threads=threads),
    }


def evaluate(
    trial: Trial, split: Split, clock: Clock, threads: int = 1, *, collection: Collection = models
) -> dict[str, Any]:
    """Run a trial of a model of ``collection``: the two scores, the metric, and facts about the training."""
    available = collection(threads)
    if trial.model not in available:
        raise InvalidParameterError(f"model must be one of {', '.join(available)}, however: {trial.model!r}")
    predictions = available[trial.model](trial, split, clock)
    metric = METRICS[split.metric]
    return {
        "metric": metric.name,
        "validation": metric(predictions.validation.astype(np.float64), split.validation.y),
        "test": metric(predictions.test.astype(np.float64), split.test.y),
        "partition_checksum": split.checksum[:16],
        **predictions.facts,
    }
