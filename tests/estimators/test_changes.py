"""Parameters that change after a fit, and rows that repeat: nothing silently wrong."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import torch

import dnfnet
from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.estimators.split import split_kinds
from dnfnet.exceptions import InvalidParameterError, InvalidTargetError, NotFittedError, SchemaMismatchError

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=60), "b": ["x", "y", "z"] * 20})
Y = np.arange(60) % 2
SMALL = {"n_formulas": 8, "max_epochs": 5, "random_state": 0}


def test_a_table_of_few_kinds_of_rows_is_learned_whole():
    """Held out as a whole, one of the eight kinds would be unknown to the training part."""
    Z = RNG.integers(0, 2, (1000, 3))
    target = Z[:, 0] ^ Z[:, 1]
    for seed in range(3):
        model = DNFNetClassifier(n_formulas=16, random_state=seed, max_epochs=60)
        [(train, valid)] = model._parts(Z, target, None, None, np.random.RandomState(seed), True)
        assert train.n_rows == valid.n_rows == 8
        assert valid.weight.sum() / train.weight.sum() == pytest.approx(1 / 7, abs=0.01)


def test_kinds_of_many_rows_give_their_share_and_the_others_go_whole():
    kinds = np.repeat([0, 1, 2, 3, 4, 5, 6, 7, 8], [80, 1, 2, 1, 1, 3, 1, 1, 1])
    chosen = split_kinds(kinds, 0.125, np.random.RandomState(0))
    assert chosen[kinds == 0].sum() == 10
    for kind in range(1, 9):
        assert chosen[kinds == kind].mean() in (0, 1)
    assert chosen[kinds > 0].any()


@pytest.mark.parametrize(
    "change",
    [
        {"n_formulas": 16},
        {"n_groups": None},
        {"n_ensemble": 2},
        {"pieces": 3},
        {"single_values": False},
        {"value_means": False},
        {"screening": False},
        {"localization": "gaussian"},
        {"keep_probs": None},
        {"structure": "dense"},
        {"beta": 0.7},
    ],
)
def test_a_changed_structure_is_refused_in_training_and_harmless_in_a_file(tmp_path, change):
    model = DNFNetClassifier(**SMALL, warm_start=True).fit(X, Y)
    expected = model.predict_proba(X)
    model.set_params(**change)
    with pytest.raises(InvalidParameterError, match=f"{next(iter(change))} changed since the network was built"):
        model.fit(X, Y)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(dnfnet.load(tmp_path / "m").predict_proba(X), expected)


@pytest.mark.parametrize("change", [{"max_epochs": -4}, {"metric": "nonsense"}])
def test_impossible_parameters_are_not_saved(tmp_path, change):
    model = DNFNetClassifier(**SMALL).fit(X, Y)
    model.save(tmp_path / "m")
    with pytest.raises(InvalidParameterError):
        model.set_params(**change).save(tmp_path / "m")
    assert dnfnet.load(tmp_path / "m").max_epochs == 5


def test_extra_columns_can_be_allowed_after_the_fit(tmp_path):
    model = DNFNetClassifier(**SMALL).fit(X, Y)
    expected = model.predict_proba(X)
    with pytest.raises(SchemaMismatchError):
        model.predict(X.assign(q=1))
    model.set_params(extra_columns="ignore").save(tmp_path / "m")
    for ready in (model, dnfnet.load(tmp_path / "m")):
        np.testing.assert_array_equal(ready.predict_proba(X.assign(q=1)), expected)


@pytest.mark.parametrize("value", ["drop", np.array(["ignore"])])
def test_extra_columns_are_checked_when_they_change_after_the_fit(value):
    model = DNFNetClassifier(**SMALL).fit(X, Y).set_params(extra_columns=value)
    with pytest.raises(
        InvalidParameterError, match=f"extra_columns must be one of .* however: {re.escape(repr(value))}"
    ):
        model.predict(X)


def test_a_constant_first_batch_does_not_freeze_a_regressor():
    model = DNFNetRegressor(**SMALL).partial_fit(X[:10], np.full(10, 5.0))
    with pytest.raises(InvalidTargetError, match="had the constant target"):
        model.partial_fit(X, np.arange(60.0))


def test_targets_near_the_largest_float():
    y = RNG.normal(size=60)
    plain = DNFNetRegressor(**SMALL).fit(X, y).predict(X)
    np.testing.assert_allclose(DNFNetRegressor(**SMALL).fit(X, y * 2.0**1020).predict(X) / 2.0**1020, plain, rtol=1e-9)


def test_decimals_are_numbers():
    y = np.arange(60) / 8
    exact = DNFNetRegressor(**SMALL).fit(X, [Decimal(int(v * 8)) / 8 for v in y])
    np.testing.assert_array_equal(exact.predict(X), DNFNetRegressor(**SMALL).fit(X, y).predict(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "nowhere"}, "device='nowhere' cannot be used here: .*'cpu' always can"),
        ({"device": "meta"}, "device='meta' cannot be used here"),
        ({"keep_probs": (2,)}, "keep_probs must be"),
        ({"callbacks": [3]}, "callbacks must be"),
    ],
)
def test_bad_parameters_have_an_error_of_ours(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        DNFNetClassifier(**{**SMALL, **options}).fit(X, Y)


def test_not_fitted_has_an_error_of_ours(tmp_path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        DNFNetClassifier().save(tmp_path / "m")
    assert torch.get_default_dtype() == torch.float32
