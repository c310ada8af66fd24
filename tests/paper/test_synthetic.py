"""The synthetic tasks: formulas by hand, relevant features, Bayes accuracy."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, k0
from scipy.stats import chi2

from dnfnet.exceptions import InvalidParameterError
from dnfnet.paper.synthetic import (
    DIMENSIONS,
    PAPER_TASKS,
    TASKS,
    bayes_accuracy,
    make_synthetic,
    oracle_mask,
    parse_name,
    probability,
)


def row(**values):
    x = np.zeros((1, 11))
    for name, value in values.items():
        x[0, int(name[1:]) - 1] = value
    return x


@pytest.mark.parametrize(
    ("task", "x", "exponent"),
    [
        ("syn1", row(x1=2, x2=-3), -6),
        ("syn2", row(x3=1, x4=2, x5=-1, x6=0.5), 2.25),
        ("syn3", row(x7=1, x8=-2, x9=0.5, x10=1), -10 * np.sin(0.2) + 2 + 0.5 + np.exp(-1) - 2.4),
        ("syn3-printed", row(x7=1, x8=-2, x9=0.5, x10=1), -10 * np.sin(2) + 4 + 0.5 + np.exp(-1) - 2.4),
        ("syn4", row(x1=2, x2=-3, x11=-0.1), -6),
        ("syn4", row(x1=2, x2=-3, x11=0), -4),
        ("syn5", row(x1=2, x2=-3, x11=0.1), 1 - 2.4),
        ("syn6", row(x3=3, x11=-1), 5),
    ],
)
def test_probabilities_by_hand(task, x, exponent):
    assert probability(task, x)[0] == pytest.approx(1 / (1 + np.exp(exponent)), rel=1e-12)


@pytest.mark.parametrize(
    ("task", "relevant"),
    [
        ("syn1", [1, 2]),
        ("syn2", [3, 4, 5, 6]),
        ("syn3", [7, 8, 9, 10]),
        ("syn4", [1, 2, 3, 4, 5, 6, 11]),
        ("syn5", [1, 2, 7, 8, 9, 10, 11]),
        ("syn6", [3, 4, 5, 6, 7, 8, 9, 10, 11]),
    ],
)
def test_oracle_masks(task, relevant):
    assert (np.flatnonzero(oracle_mask(task, 50)) + 1).tolist() == relevant


@pytest.mark.parametrize("task", TASKS)
def test_irrelevant_features_do_not_matter(task):
    data = make_synthetic(task, 20, n_samples=200)
    changed = data.x.copy()
    changed[:, ~data.oracle] += 1.0
    assert np.array_equal(probability(task, changed), probability(task, data.x))


def test_bayes_accuracy_against_integrals_in_closed_form():
    """x1 x2 has density K0(|z|)/pi, and the sum of four squares is chi-squared."""
    product, _ = quad(lambda z: 2 * expit(z) * k0(z) / np.pi, 0, np.inf)
    squares, _ = quad(lambda s: expit(abs(s - 4)) * chi2.pdf(s, 4), 0, 200, points=[4], limit=200)
    assert bayes_accuracy("syn1").value == pytest.approx(product, abs=1e-4)
    assert bayes_accuracy("syn2").value == pytest.approx(squares, abs=2e-4)
    # x11 chooses each part half of the time.
    assert bayes_accuracy("syn4").value == pytest.approx((product + squares) / 2, abs=2e-4)


def test_bayes_accuracy_of_both_forms_of_syn3():
    assert bayes_accuracy("syn3").value == pytest.approx(0.822, abs=5e-4)
    assert bayes_accuracy("syn3-printed").value == pytest.approx(0.954, abs=5e-4)
    assert all(bayes_accuracy(task).error < 1e-4 for task in TASKS)


def test_labels_follow_their_probabilities():
    data = make_synthetic("syn2", 11, n_samples=40_000)
    p = probability("syn2", data.x)
    assert data.y.mean() == pytest.approx(p.mean(), abs=4 * np.sqrt(0.25 / 40_000))
    assert ((p > 0.5) == data.y).mean() == pytest.approx(bayes_accuracy("syn2").value, abs=0.01)


def test_instances_are_repeatable_and_independent():
    first, again, wider = make_synthetic("syn1", 11), make_synthetic("syn1", 11), make_synthetic("syn1", 50)
    assert first.x.shape == (10_000, 11)
    assert np.array_equal(first.x, again.x)
    assert np.array_equal(first.y, again.y)
    assert not np.array_equal(first.x[:, :2], wider.x[:, :2])
    assert first.name == "syn1-d11"
    assert first.metric == "accuracy"


def test_names_and_limits():
    assert PAPER_TASKS == ("syn1", "syn2", "syn3", "syn4", "syn5", "syn6")
    assert DIMENSIONS == (11, 50, 100, 150, 200, 250, 300)
    assert parse_name("syn3-printed-d50") == ("syn3-printed", 50)
    assert parse_name("gas-drift") is None
    with pytest.raises(InvalidParameterError, match="d must be at least 11"):
        make_synthetic("syn1", 10)
    with pytest.raises(InvalidParameterError, match="task must be one of syn1"):
        make_synthetic("syn9", 11)
