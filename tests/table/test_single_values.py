"""Numbers with inputs of their own."""

import math

import numpy as np
import pandas as pd
import pytest

from dnfnet.exceptions import InvalidTableError
from dnfnet.table import TableEncoder, encoding
from dnfnet.table.encoding import MOST_SINGLE_VALUES

NAN = float("nan")


def fit(values, weights=None, **options):
    return TableEncoder(pieces=4, **options).fit(np.array(values, dtype=float)[:, None], weights)


def singles(encoder):
    return encoder.encoded_names[sum(encoder.schema["x0"].pieces) :]


def test_values_worked_out_by_hand():
    """Of 16 rows 4 are 0, 8 are 3, 2 are 7; 8 and 9 are too rare for an input."""
    encoder = TableEncoder(pieces=2, min_level_rows=2).fit(np.array([0] * 4 + [3] * 8 + [7] * 2 + [8, 9.0])[:, None])
    assert encoder.encoded_names == ["x0 0 to 3", "x0 3 to 9", "x0 = 0", "x0 = 3", "x0 = 7"]
    assert encoder.schema["x0"].became == "2 pieces, 3 values"
    found = encoder.transform([[7.0], [8.0], [5.0]])[:, -2:]
    off = [-1.0, -0.125 / math.sqrt(0.125 * 0.875)]
    on = 0.875 / math.sqrt(0.125 * 0.875)
    np.testing.assert_allclose(found, [[off[0], on], off, off], rtol=1e-6)


def test_rare_values_are_divided_by_the_same_deviation():
    encoder = TableEncoder(pieces=2, min_level_rows=2).fit(np.repeat([0.0, 1, 2, 3], [60, 32, 6, 2])[:, None])
    on, off = encoder.transform([[3.0], [0.0]])[:, -1]
    np.testing.assert_allclose([on, off], [0.98 / 0.3, -0.02 / 0.3], rtol=1e-6)


def test_missing_values_are_at_the_mean_and_infinite_ones_at_the_extremes():
    encoder = fit([*np.repeat(np.arange(1.0, 8), 2), NAN, NAN], min_level_rows=2)
    names = encoder.encoded_names
    assert names[-3:] == ["x0 = 6", "x0 = 7", "x0 is missing"]
    assert encoder.transform([[NAN]])[0].tolist() == [0] * (len(names) - 1) + [1]
    with pytest.warns(UserWarning, match="(?i)infinite"):
        assert (encoder.transform([[float("inf")]]) == encoder.transform([[7.0]])).all()


@pytest.mark.parametrize(
    "values", [[0, 1] * 20, np.arange(20.0) + 0.5, np.repeat(np.arange(513), 20), np.repeat([0, 1e15, 1e16], 20)]
)
def test_measurements_and_two_values_have_none(values):
    assert singles(fit(values)) == []


def test_they_can_be_left_out_and_the_pieces_stay():
    values = np.repeat(np.arange(12), 20)
    encoder = fit(values, single_values=False)
    assert encoder.encoded_names == fit(values).encoded_names[:4]
    assert TableEncoder.from_state(*encoder.state()).single_values is False


def test_without_pieces_there_are_none():
    assert TableEncoder().fit(np.repeat(np.arange(5.0), 20)[:, None]).encoded_names == ["x0"]


def test_of_a_wide_table_the_most_frequent_values_are_left():
    rng = np.random.default_rng(0)
    X = np.sort(rng.integers(0, 200, size=(4000, 20)) ** 2 // 200, axis=0).astype(float)
    encoder = TableEncoder(pieces=2, min_level_rows=1).fit(X)
    n_singles = sum(column.n_single_values for column in encoder.schema)
    assert 0.9 * MOST_SINGLE_VALUES < n_singles <= MOST_SINGLE_VALUES
    assert len(encoder.encoded_names) == encoder.transform(X).shape[1] == n_singles + 40
    known = {name for name in encoder.encoded_names if name.startswith("x0 = ")}
    values, counts = np.unique(X[:, 0], return_counts=True)
    kept = np.array([f"x0 = {value:.0f}" in known for value in values])
    assert counts[kept].min() >= counts[~kept][1:-1].max() - 1


def test_of_equally_frequent_values_as_many_are_left_as_there_may_be():
    X = np.tile(np.arange(300.0), 4)[:, None] + np.arange(4) * 1000
    encoder = TableEncoder(pieces=2, min_level_rows=2).fit(X)
    assert [column.n_single_values for column in encoder.schema] == [300, 300, 300, 124]
    assert encoder.encoded_names[-1] == "x3 = 3123"


def test_of_a_long_table_few_values_are_left(monkeypatch):
    monkeypatch.setattr(encoding, "MOST_CELLS", 3 * 120)
    encoder = fit(np.repeat(np.arange(8.0), np.arange(8) * 4 + 1))
    assert singles(encoder) == ["x0 = 5", "x0 = 6", "x0 = 7"]
    monkeypatch.setattr(encoding, "MOST_CELLS", 0)
    assert singles(fit(np.repeat(np.arange(8.0), 20))) == []


def test_a_weight_is_that_many_rows():
    values = np.array([0, 1, 1, 2, 5, 5, 9])
    weights = np.array([3, 1, 2, 1, 4, 1, 2])
    weighted, repeated = fit(values, weights, min_level_rows=2), fit(np.repeat(values, weights), min_level_rows=2)
    assert weighted.encoded_names == repeated.encoded_names
    assert weighted.input_scales.tobytes() == repeated.input_scales.tobytes()


def test_the_same_row_alone_in_a_batch_and_from_a_frame():
    values = np.random.default_rng(0).integers(0, 40, 500)
    encoder = TableEncoder(pieces=4).fit(pd.DataFrame({"code": values}))
    whole = encoder.transform(pd.DataFrame({"code": values}))
    assert encoder.schema["code"].n_single_values > 10
    for i in (0, 7, 499):
        assert (encoder.transform(pd.DataFrame({"code": [float(values[i])]})) == whole[i]).all()


def test_state_comes_back_and_damaged_values_are_refused():
    encoder = fit(np.repeat(np.arange(12), 20))
    entry, arrays = encoder.state()
    again = TableEncoder.from_state(entry, arrays)
    rows = np.arange(-1.0, 8)[:, None]
    assert again.transform(rows).tobytes() == encoder.transform(rows).tobytes()
    scales = arrays["input_scales"].copy()
    scales[[-1, -2]] = scales[[-2, -1]]
    with pytest.raises(InvalidTableError, match="not in order"):
        TableEncoder.from_state(entry, {"input_scales": scales})
    entry["schema"]["columns"][0]["n_single_values"] = 10**15
    with pytest.raises(InvalidTableError, match="not sound"):
        TableEncoder.from_state(entry, arrays)


def names_with(target, values, weights=None):
    encoder = TableEncoder(pieces=4, min_level_rows=2).fit(np.array(values, dtype=float)[:, None], weights, target)
    return singles(encoder)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_only_values_that_tell_more_than_their_pieces_have_inputs(kind):
    """A target that changes from value to value needs them; one that rises along with the values does not."""
    values = np.repeat(np.arange(12.0), 40)
    jumping, rising = values % 3 == 1, np.tile(np.arange(40), 12) < 3 * values
    dtype = np.int64 if kind == "classes" else np.float32
    assert len(names_with(jumping.astype(dtype), values)) == 12
    assert names_with(rising.astype(dtype), values) == []
    assert names_with(np.zeros(len(values), dtype=dtype), values) == []


@pytest.mark.parametrize("n_rows", [300, 1000, 4000])
@pytest.mark.parametrize("classes", [2, 10, None])
@pytest.mark.parametrize("weighted", [True, False])
def test_chance_is_no_reason_for_inputs(n_rows, classes, weighted):
    draw = np.random.default_rng(0)
    fits = 0
    for _ in range(20):
        target = draw.integers(0, classes, n_rows) if classes else draw.normal(size=n_rows)
        weights = draw.lognormal(sigma=1.5, size=n_rows) if weighted else None
        fits += bool(names_with(target, draw.integers(0, 60, n_rows), weights))
    assert fits <= 1


def test_small_effects_on_many_classes_are_seen():
    """Each code prefers a class of ten a little, as one row in five would show."""
    draw = np.random.default_rng(0)
    codes = draw.integers(0, 100, 4000)
    target = np.where(draw.random(4000) < 0.2, codes * 7 % 10, draw.integers(0, 10, 4000))
    assert len(names_with(target, codes)) > 90


def test_values_that_pieces_tell_apart_have_inputs_whatever_they_tell():
    values = np.repeat(np.arange(4.0), 40)
    assert len(names_with(np.zeros(len(values)), values)) == 4


def test_a_target_of_several_outputs_and_weights_count_too():
    values = np.repeat(np.arange(12.0), 40)
    target = np.stack([values, values % 3 == 1], axis=1)
    encoder = TableEncoder(pieces=4, min_level_rows=2)
    assert len(singles(encoder.fit(values[:, None], None, target))) == 12
    rows = np.where(values % 3 == 1, 0.0, 1.0)  # without the rows that jump
    assert singles(encoder.fit(values[:, None], rows, target)) == []


CENTS = np.repeat(np.arange(40) / 4 + 0.05, 20)


@pytest.mark.parametrize("values", [CENTS, np.repeat(np.arange(600.0) * 7, 20)])
def test_amounts_that_tell_much_by_their_single_values_have_inputs(values):
    """Numbers with a fraction, and many distinct whole ones: every third value jumps."""
    jumping = (np.unique(values, return_inverse=True)[1] % 3 == 1).astype(np.int64)
    names = names_with(jumping, values)
    assert len(names) == len(np.unique(values))
    assert len(set(names)) == len(names)
    noisy = np.random.default_rng(0).permutation(jumping)
    assert names_with(noisy, values) == []
    assert names_with(values, values) == []


def test_amounts_have_readable_names():
    names = names_with((np.unique(CENTS, return_inverse=True)[1] % 3 == 1).astype(np.int64), CENTS)
    assert names[:3] == ["x0 = 0.05", "x0 = 0.3", "x0 = 0.55"]
    assert names[-1] == "x0 = 9.8"


def test_amounts_that_are_mostly_rare_have_none():
    """Half of the rows must have a frequent value."""
    measured = np.random.default_rng(0).normal(size=2 * len(CENTS))
    values = np.concatenate([CENTS, measured])
    target = np.concatenate([np.unique(CENTS, return_inverse=True)[1] % 3 == 1, measured > 0]).astype(np.int64)
    assert names_with(target, values) == []
    assert names_with(target[: 2 * len(CENTS)], values[: 2 * len(CENTS)])
