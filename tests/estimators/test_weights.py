"""Weights are right when uniform is none, zero is absent and two is the row twice; for every kind of target."""

import numpy as np
import pytest
from sklearn.base import clone

from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.exceptions import InvalidParameterError

SMALL = {"n_formulas": 8, "max_epochs": 20, "random_state": 0}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
NUMBERS = RNG.integers(0, 3, size=120)

KINDS = {
    "two classes": (DNFNetClassifier(**SMALL), NUMBERS > 0),
    "three classes": (DNFNetClassifier(**SMALL), np.array(["a", "b", "c"])[NUMBERS]),
    "balanced classes": (DNFNetClassifier(class_weight="balanced", **SMALL), NUMBERS > 0),
    "weighted classes": (DNFNetClassifier(class_weight={0: 0.5, 1: 3.0}, **SMALL), NUMBERS),
    "label sets": (DNFNetClassifier(**SMALL), np.column_stack([NUMBERS > 0, NUMBERS > 1, X[:, 0] > 0]).astype(int)),
    "means": (DNFNetRegressor(**SMALL), X[:, 0] + NUMBERS),
    "several means": (DNFNetRegressor(**SMALL), np.column_stack([X[:, 0], NUMBERS])),
    "quantiles": (DNFNetRegressor(loss="quantile", **SMALL), X[:, 0] + NUMBERS),
    "counts": (DNFNetRegressor(loss="poisson", **SMALL), NUMBERS),
}


@pytest.fixture(params=KINDS)
def case(request):
    model, y = KINDS[request.param]
    return clone(model), y


def outputs(model):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def test_uniform_weights_are_none(case):
    model, y = case
    plain = outputs(model.fit(X, y))
    assert np.array_equal(outputs(model.fit(X, y, sample_weight=np.full(120, 0.3))), plain)


def test_weight_zero_is_absent(case):
    model, y = case
    used = np.arange(120) % 4 != 0
    absent = outputs(model.fit(X[used], y[used]))
    assert np.array_equal(outputs(model.fit(X, y, sample_weight=used.astype(float))), absent)


def test_weight_two_is_the_row_twice(case):
    model, y = case
    counts = np.where(np.arange(120) % 3 == 0, 2, 1)
    twice = outputs(model.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts, axis=0)))
    assert np.array_equal(outputs(model.fit(X, y, sample_weight=counts)), twice)


def test_weights_matter(case):
    model, y = case
    weight = np.where(X[:, 1] > 0, 5.0, 1.0)
    assert np.abs(outputs(model.fit(X, y, sample_weight=weight)) - outputs(model.fit(X, y))).max() > 1e-3


# Weights of classes.


def test_class_weight_is_a_factor_of_sample_weight():
    weight = RNG.uniform(0.5, 2, size=120)
    y = NUMBERS > 0
    by_class = DNFNetClassifier(class_weight={False: 4.0}, **SMALL).fit(X, y, sample_weight=weight)
    by_row = DNFNetClassifier(**SMALL).fit(X, y, sample_weight=weight * np.where(y, 1.0, 4.0))
    assert np.array_equal(by_class.predict_proba(X), by_row.predict_proba(X))


def test_balanced_makes_classes_weigh_the_same():
    y = np.where(np.arange(120) < 12, "rare", "common")
    balanced = DNFNetClassifier(class_weight="balanced", **SMALL).fit(X, y)
    given = DNFNetClassifier(class_weight={"rare": 120 / 24, "common": 120 / 216}, **SMALL).fit(X, y)
    assert np.array_equal(balanced.predict_proba(X), given.predict_proba(X))
    plain = DNFNetClassifier(**SMALL).fit(X, y)
    assert balanced.predict_proba(X)[:, 1].mean() > 1.5 * plain.predict_proba(X)[:, 1].mean()


def test_class_weight_is_in_the_validation_score():
    y = NUMBERS > 0
    model = DNFNetClassifier(class_weight={True: 9.0}, **SMALL).fit(X, y, eval_set=(X, y))
    chosen = np.where(y, model.predict_proba(X)[:, 1], model.predict_proba(X)[:, 0])
    assert model.best_score_ == pytest.approx(np.average(-np.log(chosen), weights=np.where(y, 9.0, 1.0)), rel=1e-5)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({"spam": 2.0}, r"class_weight has keys \['spam'\], which are no labels of y: \[0, 1, 2\]"),
        ({0: -1.0}, "must have numbers that are finite and not negative"),
        ({0: 0.0, 1: 0.0, 2: 0.0}, "zero for the class of every row"),
        ("balance", "The 'class_weight' parameter"),
    ],
)
def test_class_weights_that_cannot_work(class_weight, message):
    with pytest.raises(InvalidParameterError, match=message):
        DNFNetClassifier(class_weight=class_weight).fit(X, NUMBERS)


def test_a_dict_is_not_for_label_sets():
    with pytest.raises(InvalidParameterError, match='must be None or "balanced" for several labels'):
        DNFNetClassifier(class_weight={0: 1.0}).fit(X, np.column_stack([NUMBERS > 0, NUMBERS > 1]))
