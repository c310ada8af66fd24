"""Scores by hand and against scikit-learn."""

import math

import numpy as np
import pytest
from sklearn import metrics as sk

from dnfnet.training import METRICS

RNG = np.random.default_rng(0)


def test_log_loss_by_hand():
    binary = METRICS["log_loss"](np.array([0.25, 0.5]), np.array([0, 1]))
    assert binary == pytest.approx((-math.log(0.75) - math.log(0.5)) / 2)
    several = METRICS["log_loss"](np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]), np.array([2, 0]))
    assert several == pytest.approx(-math.log(0.5) / 2)


@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_scikit_learn(weighted):
    y, p = RNG.integers(2, size=50), RNG.random(50)
    weight = RNG.random(50) if weighted else None
    assert METRICS["log_loss"](p, y, weight) == pytest.approx(sk.log_loss(y, p, sample_weight=weight))
    assert METRICS["roc_auc"](p, y, weight) == pytest.approx(sk.roc_auc_score(y, p, sample_weight=weight))
    assert METRICS["accuracy"](p, y, weight) == pytest.approx(sk.accuracy_score(y, p > 0.5, sample_weight=weight))
    assert METRICS["r2"](p[:, None], y[:, None], weight) == pytest.approx(sk.r2_score(y, p, sample_weight=weight))
    value = METRICS["rmse"](p[:, None], y[:, None], weight)
    assert value**2 == pytest.approx(sk.mean_squared_error(y, p, sample_weight=weight))


def test_impossible_probability_is_a_large_number_not_infinity():
    assert 700 < METRICS["log_loss"](np.array([[1.0, 0.0, 0.0]]), np.array([1])) < 800


@pytest.mark.parametrize(("name", "better", "worse"), [("log_loss", 0.1, 0.2), ("roc_auc", 0.9, 0.8)])
def test_better_is_strict(name, better, worse):
    metric = METRICS[name]
    assert metric.better(better, worse)
    assert not metric.better(worse, better)
    assert not metric.better(better, better)
    assert metric.better(worse, metric.worst)
