"""Estimators whose groups go on together after the plan."""

import numpy as np
import pytest

import dnfnet
from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.exceptions import InvalidParameterError

OPTIONS = {"n_formulas": 32, "n_groups": 8, "max_epochs": 30, "random_state": 0}
N_PLAN, N_ALL = 30, 45


def table():
    """A target without noise that is too much for groups of four formulas, with 100 rows to judge by."""
    X = np.random.default_rng(0).uniform(-1, 1, (800, 4))
    return X, np.sin(3 * X[:, 0]) * X[:, 1] + X[:, 2] * X[:, 3]


def classes(y, n):
    return np.searchsorted(np.quantile(y, np.arange(1, n) / n), y)


def test_a_target_without_noise_is_learned_further():
    X, y = table()
    plan = DNFNetRegressor(**OPTIONS, together=0.0).fit(X, y)
    model = DNFNetRegressor(**OPTIONS).fit(X, y)
    assert (plan.n_iter_, model.n_iter_) == (N_PLAN, N_ALL)
    assert model.best_epoch_ > N_PLAN
    assert model.stop_reason_ == "max_epochs=30 reached and 15 more, together"
    assert model.best_score_ < 0.95 * plan.best_score_
    assert model.history_.column("valid_score")[:N_PLAN] == plan.history_.column("valid_score")
    assert model.settings_.max_epochs == N_PLAN


def test_noise_ends_with_the_plan():
    X, _ = table()
    y = np.random.default_rng(1).normal(size=len(X))
    model = DNFNetRegressor(**OPTIONS).fit(X, y)
    assert model.n_iter_ == N_PLAN
    again = DNFNetRegressor(**OPTIONS, together=0.0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))


def of_each_kind():
    y = table()[1]
    return {
        "five classes": (DNFNetClassifier, {}, classes(y, 5)),
        "two targets": (DNFNetRegressor, {}, np.column_stack([y, -1000 * y])),
        "quantiles": (DNFNetRegressor, {"loss": "quantile", "quantiles": (0.1, 0.5, 0.9)}, y),
        "counts": (DNFNetRegressor, {"loss": "poisson"}, np.round(np.exp(2 + 2 * y))),
        "own loss": (DNFNetRegressor, {"loss": lambda output, target: (output - target).abs()}, y),
        "an ensemble": (DNFNetRegressor, {"n_ensemble": 2}, y),
    }


@pytest.mark.parametrize("kind", of_each_kind())
def test_every_other_objective_gains(kind):
    """The best epoch of all is kept, and it is one of those together; weights count there, too."""
    estimator, options, y = of_each_kind()[kind]
    X, _ = table()
    weight = np.random.default_rng(2).uniform(0.5, 1.5, len(X))
    model = estimator(**OPTIONS, **options).fit(X, y, sample_weight=weight)
    scores = np.array(model.history_.column("valid_score")).reshape(-1, N_ALL)
    assert (scores.argmin(axis=1) >= N_PLAN).all()
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("y", [classes(table()[1], 2), np.column_stack([table()[1] > 0, table()[1] > 0.2]).astype(int)])
def test_two_classes_and_labels_end_with_the_plan(y):
    X, _ = table()
    model = DNFNetClassifier(**OPTIONS).fit(X, y)
    assert model.best_epoch_ >= 0.8 * N_PLAN
    assert model.n_iter_ == N_PLAN


def test_a_file_keeps_what_was_learned_together(tmp_path):
    X, y = table()
    model = DNFNetClassifier(**OPTIONS, together=0.3).fit(X, classes(y, 3))
    assert model.n_iter_ == 39
    model.save(tmp_path / "model")
    again = dnfnet.load(tmp_path / "model")
    assert again.together == 0.3
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("together", [-0.1, 1.1, "yes", None, float("nan"), float("inf")])
def test_what_it_may_be(together):
    X, y = table()
    with pytest.raises(InvalidParameterError, match="together"):
        DNFNetRegressor(together=together).fit(X, y)
