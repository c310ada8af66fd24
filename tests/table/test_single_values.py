"""Whole numbers with inputs of their own."""

import math

import numpy as np
import pandas as pd
import pytest

from dnfnet.exceptions import InvalidTableError
from dnfnet.table import TableEncoder
from dnfnet.table.encoder import MOST_SINGLE_VALUES

NAN = float("nan")


def fit(values, weights=None, **options):
    return TableEncoder(pieces=4, **options).fit(np.array(values, dtype=float)[:, None], weights)


def singles(encoder):
    return encoder.encoded_names[sum(encoder.schema["x0"].pieces) :]


def test_values_worked_out_by_hand():
    """0 in half of the rows, 3 in a quarter, 7 in an eighth; 8 is too rare for an input."""
    encoder = fit([0] * 8 + [3] * 4 + [7] * 2 + [8] + [9], min_level_rows=2)
    assert singles(encoder) == ["x0 = 0", "x0 = 3", "x0 = 7"]
    assert encoder.schema["x0"].became == "4 pieces, 3 values"
    found = encoder.transform([[3.0], [8.0], [5.0]])[:, -3:]
    off = [-share / math.sqrt(share * (1 - share)) for share in (0.5, 0.25, 0.125)]
    on = 0.75 / math.sqrt(0.25 * 0.75)
    np.testing.assert_allclose(found, [[off[0], on, off[2]], off, off], rtol=1e-6)


def test_missing_values_are_at_the_mean_and_infinite_ones_at_the_extremes():
    encoder = fit([1, 1, 2, 2, 3, 3, NAN, NAN], min_level_rows=2)
    names = encoder.encoded_names
    assert names[-4:] == ["x0 = 1", "x0 = 2", "x0 = 3", "x0 is missing"]
    assert encoder.transform([[NAN]])[0, -4:].tolist() == [0, 0, 0, 1]
    with pytest.warns(UserWarning, match="(?i)infinite"):
        assert (encoder.transform([[float("inf")]]) == encoder.transform([[3.0]])).all()


@pytest.mark.parametrize(
    "values", [[0, 1] * 20, np.arange(20.0) + 0.5, np.repeat(np.arange(513), 20), np.repeat([0, 1e15, 1e16], 20)]
)
def test_measurements_and_two_values_have_none(values):
    assert singles(fit(values)) == []


def test_without_pieces_there_are_none():
    assert TableEncoder().fit(np.repeat(np.arange(5.0), 20)[:, None]).encoded_names == ["x0"]


def test_a_wide_table_shares_the_inputs():
    X = np.tile(np.repeat(np.arange(200.0), 2), (100, 1)).T
    encoder = TableEncoder(pieces=2, min_level_rows=1).fit(X)
    assert len(encoder.encoded_names) <= MOST_SINGLE_VALUES + 2 * 100


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
    encoder = fit(np.repeat(np.arange(6), 20))
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
