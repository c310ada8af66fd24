"""What the encoder says of its inputs: between which ends each goes, and which depend on one place."""

import numpy as np
import pandas as pd
import pytest

from dnfnet.table import TableEncoder


@pytest.fixture
def encoder():
    draw = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "pieces": draw.normal(size=300) ** 3,
            "grade": draw.integers(0, 6, 300),
            "when": pd.date_range("2024-01-01", periods=300, freq="31h"),
            "level": draw.choice(["a", "b", "c"], 300),
            "flag": draw.random(300) < 0.3,
            "constant": 1.0,
        }
    )
    table.loc[:20, ["pieces", "level"]] = None
    fitted = TableEncoder(pieces=5, datetimes="expand").fit(table)
    return fitted, fitted.transform(table)


def test_the_runs_are_those_of_the_columns(encoder):
    fitted, _ = encoder
    runs, _ = fitted.runs
    names = [(fitted.encoded_names[run.first], run.n, run.kind) for run in runs]
    assert names[0][1:] == (5, "pieces")
    assert [name for name in names if name[2] == "values"] == [("grade = 0", 6, "values"), ("level = a", 4, "values")]
    parts = [n for n in fitted.schema.columns[2].pieces if n > 1]
    assert [n for _, n, kind in names if kind == "pieces"] == [5, 5, *parts]


def test_of_pieces_all_but_one_are_at_their_ends(encoder):
    fitted, rows = encoder
    runs, (low, high) = fitted.runs
    for first, n, kind in runs:
        own, lows, highs = rows[:, first : first + n], low[first : first + n], high[first : first + n]
        own = own[~(own == 0).all(axis=1)]  # the others are rows without a value
        assert len(own) > 250
        if kind == "pieces":
            between = (own != lows) & (own != highs)
            assert between.sum(axis=1).max() <= 1
            reached = own != lows
            assert (np.diff(reached.astype(int), axis=1) <= 0).all()
        else:
            assert ((own == lows) | (own == highs)).all()
            assert (own == highs).sum(axis=1).max() == 1


def test_every_input_stays_between_its_ends(encoder):
    fitted, rows = encoder
    runs, (low, high) = fitted.runs
    inside = np.concatenate([np.arange(first, first + n) for first, n, _ in runs])
    assert ((low <= rows) & (rows <= high))[:, inside].all()


def test_without_pieces_only_categories_are_runs():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "level": ["a", "b", "a", "b"]})
    runs, ends = TableEncoder(min_level_rows=1).fit(table).runs
    assert [tuple(run) for run in runs] == [(1, 2, "values")]
    assert ends.tolist() == [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]


def test_the_numbers_are_columns_dates_parts_and_means():
    draw = np.random.default_rng(0)
    user = draw.integers(0, 2000, 6000)
    table = pd.DataFrame(
        {
            "x": draw.normal(size=6000),
            "grade": draw.integers(0, 6, 6000),
            "when": pd.date_range("2024-01-01", periods=6000, freq="31h"),
            "level": draw.choice(["a", "b"], 6000),
            "flag": draw.random(6000) < 0.3,
            "user": user,
        }
    )
    target = (draw.normal(size=2000)[user] + 0.1 * draw.normal(size=6000)).astype(np.float32)
    fitted = TableEncoder(pieces=5, datetimes="expand").fit(table, None, target)
    x, grade, when, level, flag, user = fitted.schema.columns
    assert grade.n_single_values
    assert user.n_mean_pieces > 1
    expected, count = [], 0
    for column in (x, grade, when, level, flag, user):
        own = []
        for n in column.pieces:
            own += [count] * n
            count += 1
        own += [-1] * (column.n_own_inputs - len(own))
        own += [count] * column.n_mean_pieces
        count += column.n_mean_pieces > 0
        expected += own
    assert fitted.input_numbers.tolist() == expected
    assert count == 2 + len(when.parts) + 2


def test_a_column_that_is_standardised_is_a_number():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "level": ["a", "b", "a", "b"], "y": [1.0, None, 0.0, 0.0]})
    encoder = TableEncoder(min_level_rows=1).fit(table)
    assert encoder.encoded_names[-1] == "y is missing"
    assert encoder.input_numbers.tolist() == [0, -1, -1, 1, -1]
