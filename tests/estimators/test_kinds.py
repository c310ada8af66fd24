"""What each kind of target and loss gives."""

import numpy as np
import pytest
import torch
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import mean_pinball_loss, mean_poisson_deviance, roc_auc_score

from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.exceptions import InvalidParameterError, InvalidTargetError
from dnfnet.training import METRICS, Metric
from dnfnet.training.metrics import pinball

SMALL = {"n_formulas": 16, "max_epochs": 100, "random_state": 0}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
NOISY = 2 * X[:, 0] + np.exp(X[:, 1] / 2) * RNG.normal(size=400)
COUNTS = RNG.poisson(np.exp(1 + X[:, 0]))


def label_sets(dtype=np.int64):
    return np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 2] > 1, X[:, 3] > 0.5]).astype(dtype)


# Several labels per row.


@pytest.mark.parametrize("dtype", [np.int64, bool, np.float64])
def test_label_sets_come_back_as_they_were_given(dtype):
    y = label_sets(dtype)
    model = DNFNetClassifier(**SMALL, batch_size=64).fit(X, y)
    assert model.predict(X).dtype == dtype
    assert model.score(X, y) > 0.8
    assert model.classes_.tolist() == [0, 1, 2]
    probabilities = model.predict_proba(X)
    assert np.array_equal(probabilities > 0.5, model.predict(X).astype(bool))
    assert roc_auc_score(y, probabilities) > 0.95


@pytest.mark.parametrize("metric", ["log_loss", "roc_auc", "accuracy"])
def test_metrics_of_label_sets(metric):
    y = label_sets()
    model = DNFNetClassifier(**SMALL, metric=metric).fit(X, y, eval_set=(X, y))
    probabilities = model.predict_proba(X)
    if metric == "log_loss":
        expected = -np.log(np.where(y == 1, probabilities, 1 - probabilities)).mean()
    else:
        expected = roc_auc_score(y, probabilities) if metric == "roc_auc" else model.score(X, y)
    assert model.best_score_ == pytest.approx(expected, rel=1e-5)


def test_the_only_row_with_a_label_stays_in_training():
    _, y = make_multilabel_classification(n_samples=100, n_classes=3, random_state=0)
    y[:, 2] = 0
    y[17, 2] = 1
    for seed in range(5):
        model = DNFNetClassifier(n_formulas=4, validation_fraction=0.5, random_state=seed)
        [(_, valid)] = model._parts(X[:100], y, None, None, np.random.RandomState(seed), True)
        assert valid.target[:, 2].sum() == 0
        assert 45 <= valid.n_rows <= 50


def test_columns_of_more_than_two_values_are_no_labels():
    with pytest.raises(InvalidTargetError, match="must hold only 0 and 1"):
        DNFNetClassifier().fit(X, np.column_stack([COUNTS, COUNTS]))


# Quantiles.


def test_quantiles_cover_what_they_say_and_never_cross():
    model = DNFNetRegressor(loss="quantile", quantiles=(0.1, 0.5, 0.9), **SMALL).fit(X, NOISY, eval_set=(X, NOISY))
    quantiles = model.predict(X)
    assert (NOISY[:, None] <= quantiles).mean(axis=0) == pytest.approx([0.1, 0.5, 0.9], abs=0.06)
    far = 100 * RNG.normal(size=(2000, 4))
    assert (np.diff(model.predict(far), axis=1) >= 0).all()
    expected = np.mean([mean_pinball_loss(NOISY, quantiles[:, i], alpha=a) for i, a in enumerate((0.1, 0.5, 0.9))])
    assert model.best_score_ == pytest.approx(expected, rel=1e-5)
    assert 0.3 < model.score(X, NOISY) < 1


def test_quantiles_follow_the_scale_of_the_target():
    model = DNFNetRegressor(loss="quantile", **SMALL)
    plain = model.fit(X, NOISY).predict(X)
    scaled = model.fit(X, NOISY * 1e6 + 1e9).predict(X)
    assert np.allclose((scaled - 1e9) / 1e6, plain, atol=1e-6)


def test_one_quantile_is_flat():
    model = DNFNetRegressor(loss="quantile", quantiles=[0.8], **SMALL).fit(X, NOISY)
    assert model.predict(X).shape == (400,)
    assert (model.predict(X) >= NOISY).mean() == pytest.approx(0.8, abs=0.1)


@pytest.mark.parametrize("quantiles", [(), (0.9, 0.1), (0.5, 0.5), (0.0, 0.5), (0.5, 1.0), (np.nan,)])
def test_quantiles_that_are_none(quantiles):
    with pytest.raises(InvalidParameterError, match="quantiles must be increasing numbers between 0 and 1"):
        DNFNetRegressor(loss="quantile", quantiles=quantiles).fit(X, NOISY)


def test_quantiles_are_of_one_target():
    with pytest.raises(InvalidTargetError, match="needs one target, but y has 2 columns"):
        DNFNetRegressor(loss="quantile").fit(X, X[:, :2])


# Counts.


def test_counts_have_positive_means_and_their_deviance_as_score():
    model = DNFNetRegressor(loss="poisson", **SMALL).fit(X, COUNTS, eval_set=(X, COUNTS))
    means = model.predict(X)
    assert means.min() > 0
    assert model.best_score_ == pytest.approx(mean_poisson_deviance(COUNTS, means), rel=1e-5)
    assert mean_poisson_deviance(COUNTS, means) < 0.5 * mean_poisson_deviance(COUNTS, np.full(400, COUNTS.mean()))
    assert means.mean() == pytest.approx(COUNTS.mean(), rel=0.1)


def test_large_counts_learn_as_well_as_small_ones():
    model = DNFNetRegressor(loss="poisson", **SMALL)
    small = model.fit(X, COUNTS).predict(X)
    large = model.fit(X, COUNTS * 2.0**20).predict(X)
    assert np.allclose(large / 2**20, small, rtol=1e-6)


def test_counts_of_several_columns():
    y = np.column_stack([COUNTS, COUNTS[::-1]])
    assert DNFNetRegressor(loss="poisson", **SMALL).fit(X, y).predict(X).shape == (400, 2)


def test_what_is_no_count():
    with pytest.raises(InvalidTargetError, match="needs y >= 0, but 2 of 3 rows are negative"):
        DNFNetRegressor(loss="poisson").fit(X[:3], [1, -1, -2])
    with pytest.raises(InvalidTargetError, match="y is 0 in all of them"):
        DNFNetRegressor(loss="poisson").fit(X[:3], [0, 0, 0])


# Functions of the user's.


def huber(output, target):
    assert output.shape == target.shape == (len(output),)
    return torch.nn.functional.huber_loss(output, target, reduction="none", delta=0.1)


def test_a_robust_loss_is_robust():
    y = X[:, 0].copy()
    y[::20] += 50
    robust = DNFNetRegressor(loss=huber, metric="mae", **SMALL).fit(X, y)
    squared = DNFNetRegressor(**SMALL).fit(X, y)
    typical = np.arange(400) % 20 != 0
    error = {name: np.abs(m.predict(X) - y)[typical].mean() for name, m in (("robust", robust), ("squared", squared))}
    assert error["robust"] < 0.5 * error["squared"]


def test_a_function_equal_to_the_built_in_loss_gives_the_same_model():
    def cross_entropy(output, target):
        return torch.nn.functional.binary_cross_entropy_with_logits(output, target, reduction="none")

    built_in = DNFNetClassifier(**SMALL).fit(X, NOISY > 0)
    own = DNFNetClassifier(loss=cross_entropy, **SMALL).fit(X, NOISY > 0)
    assert np.array_equal(own.predict_proba(X), built_in.predict_proba(X))


def test_a_loss_that_is_not_per_row_is_refused():
    with pytest.raises(InvalidParameterError, match=r"one loss per row, of shape \(\d+,\), however: \(\)"):
        DNFNetRegressor(loss=lambda output, target: (output - target).square().mean()).fit(X, NOISY)


def test_lower_is_better_for_a_plain_function_and_a_metric_says_its_direction():
    def bad(prediction, target, weight):
        return -float(np.mean((prediction > 0.5) == target))

    plain = DNFNetClassifier(metric=bad, **SMALL).fit(X, NOISY > 0)
    named = DNFNetClassifier(metric=Metric("hits", lambda *args: -bad(*args), greater_is_better=True), **SMALL)
    named.fit(X, NOISY > 0)
    assert plain.best_score_ == -named.best_score_
    assert plain.best_epoch_ == named.best_epoch_
    assert np.array_equal(plain.predict_proba(X), named.predict_proba(X))


def test_a_metric_of_another_task_is_refused():
    with pytest.raises(InvalidParameterError, match=r"metric must be one of \['rmse', 'mae', 'r2'\] for this task"):
        DNFNetRegressor(metric="roc_auc").fit(X, NOISY)


def test_changed_parameters_do_not_change_what_a_fitted_model_predicts():
    model = DNFNetRegressor(**SMALL).fit(X, NOISY)
    before = model.predict(X)
    assert np.array_equal(model.set_params(loss="poisson").predict(X), before)
    with pytest.raises(InvalidParameterError, match="cannot change in a model that goes on"):
        model.set_params(warm_start=True).fit(X, COUNTS)


def test_values_of_metrics_by_hand():
    values, truth, weight = np.array([[1.0], [2.0]]), np.array([[0.0], [4.0]]), np.array([3.0, 1.0])
    assert METRICS["mae"](values, truth, weight) == pytest.approx((3 * 1 + 2) / 4)
    assert METRICS["rmse"](values, truth, weight) == pytest.approx(np.sqrt((3 * 1 + 4) / 4))
    assert METRICS["poisson_deviance"](values, truth) == pytest.approx((2 * 1 + 2 * (4 * np.log(2) - 2)) / 2)
    assert pinball([0.1, 0.9])(np.array([[1.0, 3.0]]), np.array([[2.0]])) == pytest.approx((0.1 * 1 + 0.1 * 1) / 2)
