"""Equal tables give equal models: repeated rows, weights and order."""

import numpy as np
import pandas as pd
import pytest

from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.estimators.merging import distinct_rows, first_of_each, total_weights
from dnfnet.table import open_table

RNG = np.random.default_rng(0)
X = pd.DataFrame({"n": RNG.normal(size=60), "c": RNG.choice(["a", "b", "c"], 60), "m": RNG.choice([1.0, np.nan], 60)})
LABELS = np.where((X["n"] > 0) ^ (X["c"] == "a"), "yes", "no")
COUNTS = RNG.integers(0, 3, 60)


def fit(table, y, **options):
    model = DNFNetClassifier if y.dtype.kind in "UO" else DNFNetRegressor
    return model(n_formulas=8, max_epochs=25, random_state=0).fit(table, y, **options)


def predictions(model):
    return model.predict_proba(X) if isinstance(model, DNFNetClassifier) else model.predict(X)


@pytest.mark.parametrize("y", [LABELS, X["n"].to_numpy() ** 2], ids=["classes", "reals"])
def test_weights_mean_what_users_expect(y):
    """Uniform is none, zero is absent, two is the row twice; and the order of rows does not matter."""
    plain = predictions(fit(X, y))
    np.testing.assert_array_equal(predictions(fit(X, y, sample_weight=np.full(60, 3.5))), plain)
    order = RNG.permutation(60)
    np.testing.assert_allclose(predictions(fit(X.iloc[order], y[order])), plain, rtol=1e-12)
    weighted = predictions(fit(X, y, sample_weight=COUNTS))
    rows = RNG.permutation(np.repeat(np.arange(60), COUNTS))
    np.testing.assert_allclose(predictions(fit(X.iloc[rows], y[rows])), weighted, rtol=1e-9)
    assert not np.allclose(weighted, plain)


def test_kinds_of_rows():
    table = open_table(pd.DataFrame({"a": [2.0, 1.0, 2.0, 2.0], "b": ["x", "y", "x", "z"]}))
    kinds = distinct_rows(table, np.array([0, 0, 0, 0]))
    assert kinds[0] == kinds[2]
    assert len(set(kinds.tolist())) == 3
    other = distinct_rows(table, np.array([0, 0, 1, 0]))
    assert len(set(other.tolist())) == 4


def test_one_row_of_each_kind_with_the_weight_of_all():
    kinds = np.array([2, 0, 1, 0])
    assert first_of_each(kinds).tolist() == [1, 2, 0]
    assert total_weights(kinds, None).tolist() == [2, 1, 1]
    assert total_weights(kinds, np.array([5.0, 0.5, 1, 2])).tolist() == [2.5, 1, 5]


def test_tables_of_several_batches_are_left_as_they_are():
    """There a row that stands twice may come in two batches, which one row of weight two cannot."""
    model = DNFNetClassifier(n_formulas=8, max_epochs=2, random_state=0, batch_size=16)
    twice = pd.concat([X, X])
    [(rows, _)] = model._parts(twice, np.concatenate([LABELS] * 2), (X, LABELS), None, np.random.RandomState(0), True)
    assert rows.n_rows == 120
