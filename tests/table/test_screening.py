"""Columns of a wide table that tell nothing of the target are left out."""

import numpy as np
import pandas as pd
import pytest

from dnfnet.table import Schema, TableEncoder, open_table, telling_columns
from dnfnet.table.screening import MANY_COLUMNS

ROWS = 400


def noise(n_columns, seed=0):
    return np.random.default_rng(seed).normal(size=(ROWS, n_columns))


def test_up_to_128_columns_all_stay():
    X = noise(MANY_COLUMNS)
    assert telling_columns(open_table(X), None, X[:, 0]).tolist() == list(range(MANY_COLUMNS))


@pytest.mark.parametrize("kind", ["real", "classes", "outputs"])
def test_those_that_tell_stay_wherever_they_are(kind):
    X = noise(600)
    sums = X[:, 599] + np.abs(X[:, 7])  # the second tells nothing along a line
    target = {"real": sums, "classes": np.digitize(sums, [0.0, 1.5]), "outputs": np.stack([sums, -X[:, 300]], axis=1)}
    kept = telling_columns(open_table(X), None, target[kind])
    assert len(kept) == MANY_COLUMNS
    assert {7, 599} <= set(kept)
    assert (300 in kept) or kind != "outputs"
    assert (np.diff(kept) > 0).all()


def test_as_many_stay_as_tell():
    hidden = np.random.default_rng(1).normal(size=ROWS)
    X = np.hstack([hidden[:, None] + noise(200), noise(200, seed=2)])
    kept = telling_columns(open_table(X), None, hidden)
    assert set(range(200)) <= set(kept)
    assert 200 < len(kept) < 230  # by chance some of the others, a twentieth or so


def test_a_date_stays_among_many_that_tell():
    hidden = np.random.default_rng(1).normal(size=ROWS)
    frame = pd.DataFrame(hidden[:, None] + noise(200)).add_prefix("c")
    frame["when"] = pd.date_range("2026-01-01", periods=ROWS)
    assert 200 in telling_columns(open_table(frame), None, hidden)


def test_chance_alone_keeps_few_more_than_128():
    X = noise(2000)
    target = np.random.default_rng(5).integers(0, 3, ROWS)
    assert MANY_COLUMNS <= len(telling_columns(open_table(X), None, target)) < 200


def test_texts_gaps_and_extremes_tell():
    frame = pd.DataFrame(noise(300), columns=[f"c{i}" for i in range(300)])
    target = np.random.default_rng(3).integers(0, 2, ROWS)
    frame["c10"] = np.where(target == 1, "yes", "no")
    frame.loc[target == 1, "c20"] = np.nan
    frame.loc[target == 1, "c30"] = np.inf
    frame["c40"] = np.where(target == 1, 1.0, np.nan)
    frame["c50"] = target == 1
    frame["c60"], frame["c70"] = np.nan, 5.0
    frame["c80"] = pd.date_range("2026-01-01", periods=ROWS)
    frame["c90"] = [f"row {i}" for i in range(ROWS)]
    kept = set(telling_columns(open_table(frame), None, target))
    assert {10, 20, 30, 40, 50, 80} <= kept
    assert not {60, 70, 90} & kept


def test_a_weight_is_so_many_rows_and_0_is_none():
    X, rng = noise(300), np.random.default_rng(4)
    target = X[:, 5] + rng.normal(size=ROWS)
    weights = rng.integers(0, 4, ROWS)
    copies = np.repeat(np.arange(ROWS), weights)
    weighted = telling_columns(open_table(X), weights.astype(float), target)
    assert weighted.tolist() == telling_columns(open_table(X[copies]), None, target[copies]).tolist()
    assert weighted.tolist() != telling_columns(open_table(X), None, target).tolist()


def test_what_is_not_used_has_no_inputs_and_may_hold_anything_later():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"], "c": [1.0, np.nan, 0.0]})
    encoder = TableEncoder(min_level_rows=1).fit(frame, columns=np.array([0, 2]))
    assert encoder.encoded_names == ["a", "c", "c is missing"]
    assert encoder.encoded_column.tolist() == [0, 2, 2]
    assert encoder.schema["b"].became == "left out: tells nothing of the target"
    later = frame.assign(b=[np.inf, None, 7])
    np.testing.assert_array_equal(encoder.transform(later), encoder.transform(frame))
    again = Schema.from_dict(encoder.schema.to_dict())
    assert again == encoder.schema
    assert all(column.is_sound() for column in again)
