"""Numbers in pieces: edges and places worked out by hand, weights, odd columns, names, files."""

from __future__ import annotations

import json
import tracemalloc
import warnings
from itertools import pairwise

import numpy as np
import pytest
from frames import LIBRARIES, make_frame, moments
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dnfnet import DNFNetClassifier, load
from dnfnet.bundle import read_bundle, write_bundle
from dnfnet.exceptions import InvalidParameterError, InvalidTableError, ModelFileError, TableWarning
from dnfnet.table import TableEncoder
from dnfnet.table.pieces import ROWS_AT_ONCE, piece_names
from dnfnet.table.schema import Column, Scale

NAN, INF = float("nan"), float("inf")
AGES = [17, 20, 28, 30, 35, 40, 60, 61, 90]


def column(values) -> np.ndarray:
    values = np.asarray(values)
    return values[:, None] if values.dtype.kind == "M" else values.astype(np.float64)[:, None]


def fit(values, pieces, weights=None) -> TableEncoder:
    return TableEncoder(pieces=pieces).fit(column(values), weights)


def edges(encoder: TableEncoder) -> list[float]:
    scales = encoder.input_scales[: sum(encoder.schema["x0"].pieces)]
    return [scales[0, 3], *scales[:, 4]]


def places(encoder: TableEncoder, values) -> np.ndarray:
    """Undo the standardisation of the pieces: 0 at the lower edge, 1 at the upper one."""
    _, centre, deviation, *_ = encoder.input_scales.T
    return encoder.transform(column(values)).astype(np.float64) * deviation + centre


def test_values_worked_out_by_hand():
    """Cut at the median .2 of 0, .1, .2, .6, .6: the places are 0, .5, 1, 1, 1 and 0, 0, 0, 1, 1."""
    encoder = fit([0, 0.1, 0.2, 0.6, 0.6], 2)
    assert edges(encoder) == [0, 0.2, 0.6]
    assert encoder.encoded_names == ["x0 0 to 0.2", "x0 0.2 to 0.6"]
    assert encoder.encoded_column.tolist() == [0, 0]
    # means 0.7 and 0.4; variances (0.49 + 0.04 + 3 * 0.09) / 5 = 0.16 and 0.24
    first, second = [-1.75, -0.5, 0.75, 0.75, 0.75, 0.75, -1.75], np.array([-0.4, -0.4, -0.4, 0.6, 0.1, 0.6, -0.4])
    expected = np.column_stack([first, second / np.sqrt(0.24)])
    assert np.allclose(encoder.transform(column([0, 0.1, 0.2, 0.6, 0.4, 99, -99])), expected, rtol=1e-6)
    assert encoder.schema["x0"].became == "2 pieces"


def test_edges_are_the_smallest_values_with_their_share_of_the_rows():
    """A quarter of nine rows is reached by the third, half by the fifth, three quarters by the seventh."""
    encoder = fit(AGES, 4)
    assert edges(encoder) == [17, 28, 35, 60, 90]
    assert encoder.encoded_names == ["x0 17 to 28", "x0 28 to 35", "x0 35 to 60", "x0 60 to 90"]
    assert np.allclose(places(encoder, [33])[0], [1, 5 / 7, 0, 0], atol=1e-6)


def test_edges_equal_the_quantiles_of_numpy():
    values = np.random.default_rng(0).normal(size=1001)
    expected = np.quantile(values, np.arange(9) / 8, method="inverted_cdf")
    assert edges(fit(values, 8)) == expected.tolist()


def test_training_rows_have_mean_0_and_deviation_1():
    values = np.random.default_rng(0).lognormal(0, 2, size=3000)
    encoded = fit(values, 8).transform(column(values)).astype(np.float64)
    assert encoded.shape == (3000, 8)
    assert np.allclose(encoded.mean(axis=0), 0, atol=1e-6)
    assert np.allclose(encoded.std(axis=0), 1, atol=1e-6)


@pytest.mark.parametrize("n_pieces", [9, 16, 32])
def test_many_pieces_vary_as_much_as_8_do_together(n_pieces):
    values = np.random.default_rng(0).normal(size=3000)
    encoded = fit(values, n_pieces).transform(column(values)).astype(np.float64)
    assert np.allclose(encoded.std(axis=0), 8 / n_pieces, atol=1e-6)
    assert np.allclose(encoded.mean(axis=0), 0, atol=1e-6)
    few = fit(values % 3 // 1, n_pieces)  # as many pieces as there are to tell apart, however many there might be
    assert np.allclose(few.transform(column(values % 3 // 1))[:, :2].std(axis=0), 1, atol=1e-6)


@pytest.mark.parametrize("n_values", [2, 3, 9])
def test_few_distinct_values_are_the_edges(n_values):
    """Whatever their shares are."""
    values = [0.0] * 1000 + [float(i) for i in range(n_values)]
    assert edges(fit(values, 8)) == list(range(n_values))


def test_most_values_equal():
    """The value of most rows counts as one piece, and the others are cut as if it were not there."""
    assert edges(fit([0] * 90 + list(range(1, 11)), 4)) == [0, 4, 7, 10]
    assert edges(fit([0] * 900 + list(range(1, 11)), 4)) == [0, 4, 7, 10]
    assert edges(fit([0] * 50 + [5] * 40 + list(range(6, 11)), 4)) == [0, 5, 8, 10]
    encoder = fit([*range(-10, 0), *[0] * 80, *range(1, 11)], 8)
    assert edges(encoder) == [-10, -8, -5, -2, 0, 2, 5, 8, 10]
    assert encoder.schema["x0"].pieces == (8,)


@pytest.mark.parametrize("values", [[5.0], [5.0] * 4, [1e300] * 3])
def test_a_constant_column_stays_zero(values):
    encoder = fit(values, 8)
    assert encoder.encoded_names == ["x0"]
    assert encoder.schema["x0"] == Column("x0", "numeric", ("x0",), constant=True)
    assert encoder.transform([[5.0], [99.0]]).tolist() == [[0], [0]]


def test_one_piece_is_the_standardisation_of_before():
    X = np.random.default_rng(0).normal(3, 7, size=(100, 3))
    X[::9, 1] = NAN
    one, before = TableEncoder(pieces=1).fit(X), TableEncoder().fit(X)
    assert one.schema == before.schema
    assert one.transform(X).tobytes() == before.transform(X).tobytes()
    assert one.encoded_names == ["x0", "x1", "x1 is missing", "x2"]


def test_missing_values_take_the_mean_of_every_piece():
    encoder = fit([*AGES, NAN], 4)
    assert edges(encoder) == edges(fit(AGES, 4))
    assert encoder.encoded_names[-1] == "x0 is missing"
    assert encoder.schema["x0"].became == "4 pieces, missing or not"
    assert encoder.transform([[NAN]]).tolist() == [[0, 0, 0, 0, 1]]
    with pytest.warns(TableWarning, match="the training rows never lacked"):
        assert fit(AGES, 4).transform([[NAN]]).tolist() == [[0, 0, 0, 0]]


def test_a_column_without_a_single_value_takes_the_means():
    assert fit([*AGES, NAN], 2).transform([[None], [None]]).tolist() == [[0, 0, 1]] * 2


def test_infinite_values_are_the_extremes():
    with pytest.warns(TableWarning, match=r"Infinite values .* 'x0' \(2 rows\)"):
        encoder = fit([*AGES, INF, -INF], 4)
    assert np.array_equal(encoder.input_scales, fit([*AGES, 90, 17], 4).input_scales)
    with pytest.warns(TableWarning, match=r"Infinite values .* 'x0' \(2 rows\)"):
        encoded = encoder.transform([[INF], [-INF]])
    assert np.array_equal(encoded, encoder.transform([[90.0], [17.0]]))


def test_truth_values_and_categories_are_as_ever():
    rows = [[True, "a", 1.0], [False, "b", 2.0], [True, "a", 3.0], [None, "b", 4.0]]
    many, one = TableEncoder(pieces=2).fit(rows), TableEncoder().fit(rows)
    assert many.encoded_names == [*one.encoded_names[:-1], "x2 1 to 2", "x2 2 to 4"]
    assert np.array_equal(many.transform(rows)[:, :-2], one.transform(rows)[:, :-1])


def test_the_parts_of_a_date():
    """Hours 0 to 23 on two days; the twelfth hour completes a half."""
    rows = np.arange("2026-11-15T00", "2026-11-17T00", dtype="datetime64[h]")[:, None]
    encoder = TableEncoder(datetimes="expand", pieces=2).fit(rows)
    names = ["x0 day 15 to 16", "x0 weekday 0 to 6", "x0 hour 0 to 11", "x0 hour 11 to 23"]
    assert encoder.encoded_names == names
    assert encoder.schema["x0"].pieces == (1, 1, 2)
    assert encoder.schema["x0"].became == "day in 1 piece, weekday in 1 piece, hour in 2 pieces"
    hours = places(encoder, np.array(["2026-11-15T05", "2026-11-16T14"], dtype="datetime64[h]"))[:, 2:]
    assert np.allclose(hours, [[5 / 11, 0], [1, 3 / 12]], atol=1e-6)


def test_a_constant_date_is_left_out():
    rows = np.array([["2026-11-15", "2026-11-16"], ["2026-11-15", "2026-11-17"]], dtype="datetime64[D]")
    encoder = TableEncoder(datetimes="expand", pieces=4).fit(rows)
    assert encoder.schema["x0"].became == "left out: constant in fit"
    assert encoder.encoded_names == ["x1 day 16 to 17", "x1 weekday 0 to 1"]


# Weights.


def test_weight_zero_is_a_row_left_out():
    one = fit([*AGES, -1000, 1000], 4, [1] * 9 + [0, 0])
    assert np.array_equal(one.input_scales, fit(AGES, 4).input_scales)


@settings(max_examples=200, deadline=None)
@example([(0.1, 9), (0.1, 9), (0.7, 9)])
@example([(2, 2), (3, 2), (1e9, 2)])  # twice each, these would have inputs of their own
@given(st.lists(st.tuples(st.sampled_from([0.1, 0.7, 2, 3, 5.5, 1e9, -4, -0.0, 0.0]), st.integers(0, 9)), min_size=2))
def test_a_whole_weight_is_exactly_that_many_rows(rows):
    values, weights = map(np.array, zip(*rows, strict=True))
    if not weights.any():
        return
    counts = weights if len(np.unique(weights[weights > 0])) > 1 else weights > 0  # equal weights are none
    one, two = fit(values, 4, weights), fit(np.repeat(values, counts), 4)
    assert one.schema == two.schema
    if one.schema["x0"].pieces:
        assert one.input_scales.tobytes() == two.input_scales.tobytes()


@pytest.mark.parametrize("factor", [1e-3, 0.1, 1 / 3, 3, 7, 1e10])
def test_the_scale_of_the_weights_is_nothing(factor):
    """Also where the share of a quantile is reached exactly, as by 10 equal rows for every tenth."""
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 5, size=60)
    values = rng.normal(size=60)
    for w in (weights, np.array([3] + [1] * 56 + [1, 1, 1])):
        one, two = fit(values, 10, w), fit(values, 10, w * factor)
        assert edges(one) == edges(two)
        assert np.allclose(one.input_scales, two.input_scales, rtol=0 if factor > 1 else 1e-12, atol=0)


def test_weighted_edges_and_means_by_hand():
    """Half of the mass of 8 is reached by 0 already, so there is one piece, with places 0, 1/3, 2/3 and 1."""
    encoder = fit([0, 1, 2, 3], 2, [4, 2, 1, 1])
    assert edges(encoder) == [0, 3]
    _, centre, deviation, *_ = encoder.input_scales[0]
    assert centre == pytest.approx((2 / 3 + 2 / 3 + 1) / 8, rel=1e-15)
    assert deviation**2 == pytest.approx((2 / 9 + 4 / 9 + 1) / 8 - centre**2, rel=1e-14)


# Any magnitude.


@pytest.mark.parametrize(
    "values",
    [
        [1e300, 2e300, 3e300],
        [1e-300, 2e-300, 3e-300],
        [-1.75e308, 0.0, 1.75e308],
        [0.0, 5e-324, 1e-323],
        [1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 2) + 2**-52],
        [2.0**60, 2.0**60 + 256, 2.0**60 + 512],
    ],
)
def test_places_at_any_magnitude(values):
    """Three values at equal distances are 0, 1, 1 in the first piece and 0, 0, 1 in the second."""
    encoder = fit(values, 2)
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        found = encoder.transform(column([*values, 1.79e308, -1.79e308]))
    low, high = np.float32([-np.sqrt(2), -np.sqrt(0.5)]), np.float32([np.sqrt(0.5), np.sqrt(2)])
    expected = [low, [high[0], low[1]], high, high, low]
    assert np.allclose(found, expected, rtol=1e-6)


def test_the_width_of_a_piece_may_be_beyond_float64():
    assert np.allclose(places(fit([-1.75e308, 1.75e308], 2), [-1.75e308, 0, 1.75e308])[:, 0], [0, 0.5, 1])


ANY = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=300, deadline=None)
@given(
    values=st.lists(ANY | st.sampled_from([0.0, 1.0, np.nextafter(1.0, 2), 5e-324, -1.7e308, 1.7e308]), min_size=1),
    more=st.lists(ANY, max_size=20),
    pieces=st.integers(2, 9),
)
def test_finite_monotone_and_saturated(values, more, pieces):
    with np.errstate(over="raise", invalid="raise", divide="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder = TableEncoder(pieces=pieces, single_values=False).fit(column(values))
        asked = np.sort([*values, *more, -1.79e308, 1.79e308])
        encoded = encoder.transform(column(asked))
    assert np.isfinite(encoded).all()
    assert (np.diff(encoded, axis=0) >= 0).all()
    assert len(set(encoder.encoded_names)) == len(encoder.encoded_names) <= pieces
    if not encoder.schema["x0"].pieces:
        return
    for i, (lower, upper) in enumerate(pairwise(edges(encoder))):
        assert lower < upper
        assert (encoded[asked <= lower, i] == encoded[0, i]).all()
        assert (encoded[asked >= upper, i] == encoded[-1, i]).all()
        assert encoded[0, i] < 0 < encoded[-1, i]


# Tables of all sorts.


@pytest.mark.parametrize("library", LIBRARIES)
def test_all_libraries_give_the_same_bits_and_a_row_alone_too(library):
    n = 60
    values = [None if i % 7 == 0 else (i * 37 % 60) ** 2 / 8 for i in range(n)]
    frame = make_frame(library, {"v": values, "n": list(range(n)), "t": moments(n)})
    first = make_frame(LIBRARIES[0], {"v": values, "n": list(range(n)), "t": moments(n)})
    encoder = TableEncoder(datetimes="expand", pieces=5).fit(frame)
    other = TableEncoder(datetimes="expand", pieces=5).fit(first)
    assert encoder.encoded_names == other.encoded_names
    whole = encoder.transform(frame)
    assert whole.tobytes() == other.transform(first).tobytes()
    for i in (0, 1, 59):
        row = make_frame(library, {"v": values[i : i + 1], "n": [i], "t": moments(n)[i : i + 1]})
        assert np.array_equal(encoder.transform(row)[0], whole[i])


def test_many_rows_are_what_each_is_alone():
    values = np.random.default_rng(0).normal(size=2 * ROWS_AT_ONCE + 5)
    encoder = fit(values[:1000], 3)
    whole = encoder.transform(column(values))
    for i in (0, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, len(values) - 1):
        assert np.array_equal(encoder.transform(column(values[i : i + 1]))[0], whole[i])
    assert encoder.transform(column([])).shape == (0, 3)


def test_pieces_are_written_without_a_second_matrix():
    X = np.random.default_rng(0).normal(size=(300_000, 1))
    encoder = TableEncoder(pieces=8).fit(X[:1000])
    tracemalloc.start()
    try:
        encoded = encoder.transform(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < encoded.nbytes + X.nbytes


# Names.


@pytest.mark.parametrize(
    ("numbers", "names"),
    [
        ([17, 28, 90], ["v 17 to 28", "v 28 to 90"]),
        ([-0.5, 0, 0.123456], ["v -0.5 to 0", "v 0 to 0.123"]),
        ([1.0001, 1.0002, 2], ["v 1.0001 to 1.0002", "v 1.0002 to 2"]),
        ([999.7, 1234567.8], ["v 1000 to 1234568"]),
        ([999.7, 1000], ["v 999.7 to 1000"]),
        ([3e-9, 0.00012, 5e20], ["v 3e-09 to 0.00012", "v 0.00012 to 5e+20"]),
        ([1, np.nextafter(1, 2)], ["v 1 to 1.0000000000000002"]),
        ([0, 5e-324, 1e-323], ["v 0 to 4.94e-324", "v 4.94e-324 to 9.88e-324"]),
    ],
)
def test_names_have_the_digits_that_tell_edges_apart(numbers, names):
    scales = [Scale(lower=float(a), upper=float(b)) for a, b in pairwise(numbers)]
    assert piece_names("v", scales) == names


@pytest.mark.parametrize("pieces", [0, -1, 1.5, True, "8", None])
def test_pieces_is_a_count(pieces):
    with pytest.raises(InvalidParameterError, match="pieces must be a whole number of at least 1"):
        TableEncoder(pieces=pieces)


# State and files.

TABLE = np.column_stack([np.random.default_rng(0).lognormal(size=(80, 2)), np.arange(80) % 3])
TABLE[::9, 1] = NAN


def test_state_goes_through_json_and_gives_the_same_bits():
    encoder = TableEncoder(pieces=np.int64(5)).fit(TABLE)
    entry, arrays = encoder.state()
    back = TableEncoder.from_state(json.loads(json.dumps(entry, allow_nan=False)), arrays)
    assert back.pieces == 5
    assert back.schema == encoder.schema
    assert back.input_scales.tobytes() == encoder.input_scales.tobytes()
    assert back.transform(TABLE).tobytes() == encoder.transform(TABLE).tobytes()


def test_a_state_from_before_pieces():
    encoder = TableEncoder().fit(TABLE)
    entry, arrays = encoder.state()
    del entry["options"]["pieces"]
    for old in entry["schema"]["columns"]:
        del old["pieces"]
    back = TableEncoder.from_state(entry, arrays)
    assert back.schema == encoder.schema
    assert back.transform(TABLE).tobytes() == encoder.transform(TABLE).tobytes()


@pytest.mark.parametrize(
    "pieces", [[], [4], [6], [5, 1], [0], [-5], [True], [5.0], ["5"], "5", None, 5, [10**30], [2, 3], [6, -1]]
)
def test_a_wrong_number_of_pieces_is_refused(pieces):
    entry, arrays = TableEncoder(pieces=5).fit(TABLE).state()
    entry["schema"]["columns"][0]["pieces"] = pieces
    with pytest.raises(InvalidTableError, match="damaged"):
        TableEncoder.from_state(entry, arrays)


@pytest.mark.parametrize("kind", ["boolean", "category", "datetime", "empty"])
def test_pieces_of_what_is_no_number_are_refused(kind):
    entry, arrays = TableEncoder(pieces=5).fit(TABLE).state()
    entry["schema"]["columns"][0]["kind"] = kind
    with pytest.raises(InvalidTableError, match="damaged"):
        TableEncoder.from_state(entry, arrays)


def spoilt(name, scales):
    """The scales of a file that somebody edited; columns 3 and 4 are the edges."""
    scales = scales.copy()
    if name == "unsorted":
        scales[[1, 2]] = scales[[2, 1]]
    elif name == "descending":
        scales[:5, 3:5] = scales[4::-1, 4:2:-1]
    elif name == "gap":
        scales[1, 3] = np.nextafter(scales[1, 3], INF)
    elif name == "empty piece":
        scales[0, 4] = scales[1, 3] = scales[0, 3]
    else:
        scales[2, 4] = scales[3, 3] = float(name)
    return scales


SPOILT = ["unsorted", "descending", "gap", "empty piece", "nan", "inf", "-inf"]


@pytest.mark.parametrize("name", SPOILT)
def test_edges_that_are_none_are_refused(name):
    entry, arrays = TableEncoder(pieces=5).fit(TABLE).state()
    with pytest.raises(InvalidTableError, match=r"not in order|not finite"):
        TableEncoder.from_state(entry, {"input_scales": spoilt(name, arrays["input_scales"])})


@pytest.fixture
def model():
    return DNFNetClassifier(pieces=5, n_formulas=4, max_epochs=2, random_state=0).fit(TABLE, np.arange(80) % 2)


def test_a_model_file_gives_the_same_bits(model, tmp_path):
    model.save(tmp_path / "model.dnfnet")
    loaded = load(tmp_path / "model.dnfnet")
    assert loaded.encoder_.encoded_names == model.encoder_.encoded_names
    assert loaded.encoder_.input_scales.tobytes() == model.encoder_.input_scales.tobytes()
    assert str(loaded.schema_) == str(model.schema_)
    assert np.array_equal(loaded.predict_proba(TABLE), model.predict_proba(TABLE))


@pytest.mark.parametrize("name", SPOILT)
def test_a_model_file_with_other_edges_is_refused(name, model, tmp_path):
    path = tmp_path / "model.dnfnet"
    model.save(path)
    manifest, tensors = read_bundle(path)
    tensors["encoder.input_scales"] = spoilt(name, tensors["encoder.input_scales"])
    write_bundle(path, manifest, tensors)
    with pytest.raises(ModelFileError, match="damaged"):
        load(path)
