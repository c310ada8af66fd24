"""Values worked out by hand, weights, odd input, and the way through a file."""

from __future__ import annotations

import ast
import datetime
import decimal
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.preprocessing import StandardScaler

import dnfnet.table
from dnfnet.exceptions import (
    InvalidParameterError,
    InvalidTableError,
    NotFittedError,
    SchemaMismatchError,
    TableWarning,
    UnsupportedTypeError,
)
from dnfnet.table import Schema, TableEncoder
from dnfnet.table.weights import check_weights

NAN = float("nan")
ROWS = [
    [22.0, "male", True, "C85"],
    [38.0, "female", False, None],
    [NAN, "female", True, None],
    [30.0, "male", None, "C85"],
    [30.0, "male", False, "E46"],
]


def test_values_worked_out_by_hand():
    """Ages 22, 38, 30, 30 have mean 30 and deviation sqrt(32); half of the known truth values are true."""
    encoder = TableEncoder(min_level_rows=2).fit(ROWS)
    assert encoder.encoded_names == [
        *("x0", "x0 is missing", "x1 = female", "x1 = male", "x2", "x2 is missing"),
        *("x3 = C85", "x3 = other", "x3 is missing"),
    ]
    assert encoder.encoded_column.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 3]
    a = 8 / np.sqrt(32)
    expected = [
        [-a, 0, 0, 1, 1, 0, 1, 0, 0],
        [a, 0, 1, 0, 0, 0, 0, 0, 1],
        [0, 1, 1, 0, 1, 0, 0, 0, 1],
        [0, 0, 0, 1, 0.5, 1, 1, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 1, 0],
    ]
    assert np.array_equal(encoder.transform(ROWS), np.array(expected, dtype=np.float32))


def test_the_schema_prints_as_an_aligned_table():
    encoder = TableEncoder(min_level_rows=2).fit([[*row, f"only {i}", 7, None] for i, row in enumerate(ROWS)])
    assert str(encoder.schema).splitlines() == [
        "column  kind      became                                    inputs  missing",
        "x0      numeric   standardised, missing or not                   2        1",
        "x1      category  2 levels                                       2        0",
        "x2      boolean   0 or 1, missing or not                         2        1",
        "x3      category  1 level, 1 rare as other, missing or not       3        2",
        "x4      category  left out: 5 levels, all rare                   0        0",
        "x5      numeric   0: constant in fit                             1        0",
        "x6      empty     left out: no value in fit                      0        5",
    ]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, np.float16])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_are_just_standardised_in_column_order(dtype, order):
    X = np.asarray(np.random.default_rng(0).normal(20, 5, size=(500, 6)), dtype=dtype, order=order)
    encoder = TableEncoder().fit(X)
    expected = StandardScaler().fit(X.astype(np.float64)).transform(X.astype(np.float64))
    assert encoder.encoded_names == [f"x{i}" for i in range(6)]
    assert np.allclose(encoder.transform(X), expected, rtol=0, atol=2e-7)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1e300, 3e300], [-1, 1]),
        ([-1.7e308, 1.7e308], [-1, 1]),
        ([1e-300, 3e-300], [-1, 1]),
        ([5e-324, 0.0], [1, -1]),
        ([1e9 + 1, 1e9 - 1], [1, -1]),
        ([2.0**60, 2.0**60 + 1024], [-1, 1]),
        ([0.1] * 2, [0, 0]),
        ([1e300] * 2, [0, 0]),
    ],
)
def test_any_magnitude_is_standardised(values, expected):
    column = np.array(values)[:, None]
    assert TableEncoder().fit(column).transform(column)[:, 0].tolist() == expected


def test_integers_beyond_float64_and_wild_values_stay_finite():
    column = [[10**400], [-(10**400)], [1], [2], [3]]
    with pytest.warns(TableWarning, match=r"'x0' \(2 rows\)"):
        encoder = TableEncoder().fit(column)
    assert encoder.schema["x0"].n_infinite == 2
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encoder.transform([[1e308], [-1e308]]).tolist() == [[1e6], [-1e6]]


def test_a_column_without_finite_values_is_told_apart_from_an_empty_one():
    encoder = TableEncoder().fit(np.array([[1.0, np.inf, np.nan], [2.0, -np.inf, np.nan]]))
    assert [column.became for column in encoder.schema][1:] == [
        "left out: no finite value in fit",
        "left out: no value in fit",
    ]


def test_what_was_constant_stays_zero():
    encoder = TableEncoder().fit([[5.0, 1.0], [5.0, 2.0]])
    assert encoder.transform([[1e9, 1.0]]).tolist() == [[0, -1]]


def test_dates_become_the_parts_that_vary():
    """15 November 2026 is a Sunday; the other moments differ in hour and day only."""
    moments = [datetime.datetime(2026, 11, day, hour, 30) for day, hour in ((15, 8), (16, 10), (16, 8), (15, 10))]
    rows = np.array(moments, dtype="datetime64[s]")[:, None]
    encoder = TableEncoder(datetimes="expand").fit(rows)
    assert encoder.encoded_names == ["x0 day", "x0 weekday", "x0 hour"]
    # weekdays 6, 0, 0, 6
    assert encoder.transform(rows).tolist() == [[-1, 1, -1], [1, -1, 1], [1, -1, -1], [-1, 1, 1]]
    assert encoder.schema["x0"].became == "day, weekday, hour"


def test_texts_that_look_like_dates_or_numbers_stay_texts():
    encoder = TableEncoder().fit(np.array([["2020-01-01", "1.5"]] * 4 + [["2021-01-01", "2.5"]] * 4))
    assert [column.kind for column in encoder.schema] == ["category", "category"]


def test_mixed_objects_are_levels_by_text_also_in_part():
    column = np.array([["a"], ["a"], [1], [1], [2.0], [2], [True], [True], [None]], dtype=object)
    encoder = TableEncoder().fit(column)
    assert encoder.encoded_names == ["x0 = 1", "x0 = 2", "x0 = True", "x0 = a", "x0 is missing"]
    whole = encoder.transform(column)
    assert whole.argmax(axis=1).tolist() == [3, 3, 0, 0, 1, 1, 2, 2, 4]
    for i in range(len(column)):
        assert np.array_equal(encoder.transform(column[i : i + 1])[0], whole[i])


@pytest.mark.parametrize("missing", [None, NAN, np.float32("nan"), np.datetime64("NaT"), decimal.Decimal("sNaN")])
@pytest.mark.parametrize("values", [[1.5, 2.5], ["a", "b"], [True, False]])
def test_every_kind_of_missing_object(missing, values):
    column = np.array([*values, *values, missing], dtype=object)[:, None]
    encoder = TableEncoder().fit(column)
    assert encoder.schema["x0"].n_missing == 1
    assert encoder.transform(column)[:, -1].tolist() == [0, 0, 0, 0, 1]


def test_missing_values_of_pandas():
    pd = pytest.importorskip("pandas")
    for values in (
        ["a", "a", pd.NA],
        [1, 2, pd.NA],
        [True, False, pd.NaT],
        [datetime.datetime.now(), pd.NaT],
    ):
        column = np.array(values, dtype=object)[:, None]
        encoder = TableEncoder(datetimes="expand", min_level_rows=1)
        if len(values) > 2:
            assert encoder.fit(column).schema["x0"].n_missing == 1
        else:
            assert encoder.fit(column).schema["x0"].parts == ()
    nullable = pd.DataFrame({"i": [1, 2, None], "b": [True, None, False], "s": ["a", None, "a"]}).convert_dtypes()
    assert [(c.kind, c.n_missing) for c in TableEncoder().fit(nullable).schema] == [
        ("numeric", 1),
        ("boolean", 1),
        ("category", 1),
    ]


def test_categories_of_pandas_are_levels_whatever_they_hold():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"bin": pd.cut([1, 2, 8, 9], [0, 5, 10]), "code": pd.Categorical([1, 1, 2, None])})
    encoder = TableEncoder(min_level_rows=1).fit(frame)
    assert encoder.encoded_names == [
        *("bin = (0, 5]", "bin = (5, 10]"),
        *("code = 1", "code = 2", "code is missing"),
    ]


def test_gaps_of_an_arrow_dictionary_are_missing():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"c": pa.array(["a", None, "b", "a", "b"]).dictionary_encode()})
    encoder = TableEncoder().fit(table)
    assert encoder.transform(table).tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 0]]
    batch = table.to_batches()[0]
    assert np.array_equal(encoder.transform(batch), encoder.transform(table))


def test_time_zones_keep_the_clock_on_the_wall():
    pd = pytest.importorskip("pandas")
    aware = pd.DataFrame({"t": pd.date_range("2026-01-01 06:00", periods=8, freq="h", tz="Asia/Tokyo")})
    naive = pd.DataFrame({"t": aware["t"].dt.tz_localize(None)})
    objects = aware.astype(object)
    encoder = TableEncoder(datetimes="expand").fit(naive)
    assert encoder.encoded_names == ["t hour"]
    assert np.array_equal(encoder.transform(aware), encoder.transform(naive))
    assert np.array_equal(encoder.transform(objects), encoder.transform(naive))


WEIGHTED = np.array([[1.0, "a"], [2.0, "b"], [4.0, "b"], [NAN, "c"], [9.0, None], [3.0, "a"], [7.0, "d"]], dtype=object)


def same(one: TableEncoder, two: TableEncoder, X: np.ndarray) -> bool:
    return one.encoded_names == two.encoded_names and np.array_equal(one.transform(X), two.transform(X))


def test_equal_weights_are_no_weights():
    plain = TableEncoder().fit(WEIGHTED)
    for weight in (0.1, 1, 2, 1e300):
        assert same(TableEncoder().fit(WEIGHTED, np.full(7, weight)), plain, WEIGHTED)


def test_weight_zero_is_a_row_left_out():
    weights = np.array([1, 1, 1, 0, 0, 1, 0])
    one = TableEncoder(min_level_rows=1).fit(WEIGHTED, weights)
    two = TableEncoder(min_level_rows=1).fit(WEIGHTED[weights > 0])
    assert one.schema == two.schema
    assert one.encoded_names == ["x0", "x1 = a", "x1 = b"]
    assert np.array_equal(one.input_scales, two.input_scales)


def test_a_whole_weight_is_that_many_rows():
    weights = np.array([1, 3, 2, 2, 1, 4, 1])
    one = TableEncoder(min_level_rows=2).fit(WEIGHTED, weights)
    two = TableEncoder(min_level_rows=2).fit(np.repeat(WEIGHTED, weights, axis=0))
    assert one.encoded_names == two.encoded_names
    assert one.schema["x1"].levels == ("a", "b", "c")
    assert np.allclose(one.input_scales, two.input_scales, rtol=1e-14)
    assert np.array_equal(one.transform(WEIGHTED), two.transform(WEIGHTED))


def test_weighted_mean_and_deviation_by_hand():
    """Weights 3 and 1 on 0 and 4: mean 1, variance 3."""
    unit, centre, deviation, lower, upper, fill = TableEncoder().fit([[0.0], [4.0]], [0.75, 0.25]).input_scales[0]
    assert (unit * centre, lower, upper, fill) == (1, 0, 4, 0)
    assert unit * deviation == pytest.approx(np.sqrt(3), rel=1e-15)


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ([1, 2], r"shape \(7,\), however: \(2,\)"),
        ([1, 1, 1, 1, 1, 1, -1], "which 1 of 7 are not"),
        ([1, 1, 1, 1, 1, NAN, float("inf")], "which 2 of 7 are not"),
        ([0] * 7, "zero for every row"),
    ],
)
def test_bad_weights(weights, reason):
    with pytest.raises(InvalidTableError, match=reason):
        TableEncoder().fit(WEIGHTED, weights)


def test_state_goes_through_json_and_gives_the_same_bits():
    encoder = TableEncoder(min_level_rows=2, datetimes="expand", extra_columns="ignore").fit(ROWS)
    entry, arrays = encoder.state()
    back = TableEncoder.from_state(json.loads(json.dumps(entry, allow_nan=False)), arrays)
    assert back.state()[0] == entry
    assert back.schema == encoder.schema == Schema.from_dict(encoder.schema.to_dict())
    assert back.transform(ROWS).tobytes() == encoder.transform(ROWS).tobytes()
    assert not hasattr(back, "feature_names_in_")
    with pytest.raises(InvalidTableError, match="of different encoders"):
        TableEncoder.from_state(entry, {"input_scales": arrays["input_scales"][:-1]})


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("options",), {"max_levels": 0}),
        (("options",), {"code": "x"}),
        (("options",), None),
        (("naming",), "guess"),
        (("schema",), {}),
        (("schema", "columns"), 5),
        (("schema", "columns", 0, "kind"), "code"),
        (("schema", "columns", 0, "kind"), []),
        (("schema", "columns", 0, "inputs"), ["a"]),
        (("schema", "columns", 0, "inputs"), None),
        (("schema", "columns", 0, "name"), 5),
        (("schema", "columns", 0, "has_indicator"), 7),
        (("schema", "columns", 1, "levels"), [1, 2]),
        (("schema", "columns", 1, "n_missing"), "many"),
        (("schema", "columns", 2, "parts"), ["year"] * 2),
    ],
)
def test_an_edited_state_is_refused(place, value):
    entry, arrays = TableEncoder(min_level_rows=2).fit(ROWS).state()
    where = entry
    for key in place[:-1]:
        where = where[key]
    where[place[-1]] = value
    if place[-1] == "parts":
        where["kind"], where["inputs"] = "datetime", ["a", "b", 3]
    with pytest.raises(ValueError, match=r"damaged|must be"):
        TableEncoder.from_state(entry, arrays)


@pytest.mark.parametrize("number", [np.nan, np.inf, 0.0, -1.0])
def test_edited_scales_are_refused(number):
    entry, arrays = TableEncoder().fit(ROWS).state()
    arrays["input_scales"][0, 2] = number
    with pytest.raises(InvalidTableError, match="not finite and positive"):
        TableEncoder.from_state(entry, arrays)


def test_an_edited_fill_beyond_float32_is_refused():
    entry, arrays = TableEncoder().fit(ROWS).state()
    arrays["input_scales"][0, 5] = 1e300
    with pytest.raises(InvalidTableError, match="a mean in it"):
        TableEncoder.from_state(entry, arrays)


def test_pickle_gives_the_same_bits():
    encoder = TableEncoder().fit(ROWS)
    assert np.array_equal(pickle.loads(pickle.dumps(encoder)).transform(ROWS), encoder.transform(ROWS))


def test_names_follow_scikit_learn():
    pd = pytest.importorskip("pandas")
    named = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    encoder = TableEncoder().fit(named)
    assert encoder.n_features_in_ == 2
    assert encoder.feature_names_in_.tolist() == ["a", "b"]
    assert encoder.feature_names_in_.dtype == object
    with pytest.warns(UserWarning, match="X does not have valid feature names, but DNFNet was fitted with"):
        encoder.transform(named.to_numpy())
    encoder.fit(named.to_numpy())
    assert not hasattr(encoder, "feature_names_in_")
    with pytest.warns(UserWarning, match="X has feature names, but DNFNet was fitted without"):
        encoder.transform(named)
    with pytest.raises(SchemaMismatchError, match="X has 1 features, but DNFNet is expecting 2 features as input"):
        encoder.transform(named.to_numpy()[:, :1])


def test_integer_names_match_by_name_and_their_texts():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1.0, 5.0], [2.0, 9.0]], columns=[0, 1])
    encoder = TableEncoder().fit(frame)
    assert not hasattr(encoder, "feature_names_in_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = encoder.transform(frame)
        assert np.array_equal(encoder.transform(frame[[1, 0]]), whole)
        assert np.array_equal(encoder.transform(frame.to_numpy()), whole)
        assert np.array_equal(encoder.transform(frame.rename(columns=str)), whole)


def test_odd_names_are_fine_and_duplicates_are_not():
    pd = pytest.importorskip("pandas")
    odd = ["", " ", "名前", "a\nb", "x" * 100, "é", 3, ("t", 1)]
    frame = pd.DataFrame(np.arange(16.0).reshape(2, 8))
    frame.columns = pd.Index(odd, tupleize_cols=False)
    encoder = TableEncoder().fit(frame)
    assert encoder.schema.names == ("", " ", "名前", "a\nb", "x" * 100, "é", "3", "('t', 1)")
    assert len(str(encoder.schema).splitlines()) == 9
    for twice in (["a", "a"], [1, "1"]):
        with pytest.raises(InvalidTableError, match=r"unique"):
            TableEncoder().fit(pd.DataFrame([[1.0, 2.0]], columns=twice))


def test_a_boolean_column_takes_zeros_and_ones_but_no_other_number():
    encoder = TableEncoder().fit(np.array([[True], [False]]))
    assert encoder.transform([[1], [0.0]]).tolist() == [[1], [0]]
    with pytest.raises(SchemaMismatchError, match="'x0' was boolean in fit and is not 0 or 1 in 2 rows now"):
        encoder.transform([[1], [2], [0.5]])


def test_all_retyped_columns_are_named_at_once():
    encoder = TableEncoder(min_level_rows=1).fit([[1.0, "a", 2.0], [2.0, "b", 3.0]])
    with pytest.raises(SchemaMismatchError, match=r"'x0' was numeric .*'x1' was text or category in fit"):
        encoder.transform([["a", 1.0, 2.0]])


@pytest.mark.parametrize(
    ("X", "error", "reason"),
    [
        (sparse.csr_array(np.eye(2)), UnsupportedTypeError, r"Sparse data was passed.*X\.toarray\(\)"),
        (sparse.coo_matrix(np.eye(2)), InvalidTableError, "Sparse"),
        (np.zeros(3), InvalidTableError, r"got 1D array instead. Reshape your data"),
        (np.zeros((2, 2, 2)), InvalidTableError, "got 3D array"),
        (5, InvalidTableError, "X must be a table .*, but is of type int"),
        (None, InvalidTableError, "but is of type NoneType"),
        ([{"a": 1}, {"a": 2}], InvalidTableError, r"list of dicts .*use pandas\.DataFrame\(X\)"),
        ([[1, 2], [3]], InvalidTableError, "different lengths"),
        (np.zeros((0, 3)), InvalidTableError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
        (np.zeros((12, 0)), InvalidTableError, r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1"),
        (np.ones((2, 1)) * 1j, InvalidTableError, "Complex data not supported"),
        ([[1j], [2]], InvalidTableError, "Complex data not supported"),
        (np.array([[np.timedelta64(1, "h")]]), InvalidTableError, "holds durations"),
        (
            [[{"foo": "bar"}], [1.0]],
            UnsupportedTypeError,
            r"'x0' holds a dict in 1 of 2 rows \(first in row 0\)",
        ),
        ([[1.0], [{"a"}]], TypeError, "argument must be a string or a number"),
        ([[object()]], UnsupportedTypeError, "holds a object in 1 of 1 rows"),
        ([[datetime.time(3)]], UnsupportedTypeError, "'x0' has type time"),
        ([["a"], [datetime.date(2020, 1, 1)]], InvalidTableError, "mixes dates with other values"),
        (np.zeros(2, dtype=[("a", float)]), InvalidTableError, "structured array"),
        ([[None], [NAN]], InvalidTableError, "No column has anything to learn from"),
        ([["a"], ["b"]], InvalidTableError, "No column has anything to learn from"),
    ],
)
def test_tables_that_cannot_be_used(X, error, reason):
    with pytest.raises(error, match=reason):
        TableEncoder().fit(X)


def test_a_lazy_frame_is_refused_with_the_call_that_helps():
    pl = pytest.importorskip("polars")
    with pytest.raises(InvalidTableError, match=r"X\.collect\(\)"):
        TableEncoder().fit(pl.LazyFrame({"a": [1.0]}))


def test_masked_cells_are_missing():
    X = np.ma.masked_array([[1.0], [2.0], [3.0]], mask=[[0], [1], [0]])
    assert TableEncoder().fit(X).transform(X).tolist() == [[-1, 0], [0, 1], [1, 0]]


def test_wide_polars_integers():
    pl = pytest.importorskip("polars", "1.20")
    frame = pl.DataFrame({"i": pl.Series([1, 3, None], dtype=pl.Int128)})
    assert TableEncoder().fit(frame).transform(frame).tolist() == [[-1, 0], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    "options",
    [
        {"datetimes": "guess"},
        {"extra_columns": "x"},
        {"max_levels": 0},
        {"max_levels": True},
        {"min_level_rows": 0.5},
        {"single_values": "some"},
    ],
)
def test_bad_options(options):
    with pytest.raises(InvalidParameterError, match=f"{next(iter(options))} must be .*, however: "):
        TableEncoder(**options)


def test_an_encoder_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError, match="call fit first"):
        TableEncoder().transform(ROWS)


def test_the_room_imports_no_data_frame_library_and_no_other_room():
    """Frames come in through narwhals, pyarrow by name when a file is read, and torch not at all."""
    imported = set()
    for path in Path(dnfnet.table.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module)
    assert not {name.partition(".")[0] for name in imported} & {"pandas", "polars", "pyarrow", "torch"}
    own = {name for name in imported if name.startswith("dnfnet") and not name.startswith("dnfnet.table")}
    assert own == {"dnfnet.exceptions", "dnfnet.atomic", "dnfnet.compat"}


@pytest.mark.parametrize("weights", [["a", "b"], [[1.0], [1.0, 2.0]], [{}, {}], [datetime.date(2026, 1, 1)] * 2])
def test_weights_that_are_no_numbers(weights):
    with pytest.raises(InvalidTableError, match="sample_weight must hold numbers"):
        check_weights(weights, 2)


def test_a_tensor_with_gradients_is_a_table():
    tensor = torch.tensor([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]], requires_grad=True)
    for X in (tensor, torch.nn.Parameter(tensor)):
        encoder = TableEncoder().fit(X)
        assert np.array_equal(encoder.transform(X), encoder.transform(tensor.detach().numpy()))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_series_becomes_a_frame(library):
    series = pytest.importorskip(library).Series([1.0, 2.0])
    with pytest.raises(InvalidTableError, match=r"use X\.to_frame\(\) if it is a column, pandas\.DataFrame\(\[X\]\)"):
        TableEncoder().fit(series)


def test_a_dict_becomes_a_frame():
    with pytest.raises(InvalidTableError, match=r"use pandas\.DataFrame\(\[X\]\) if it is a row"):
        TableEncoder().fit({"a": 1, "b": 2})


def test_flat_arrays_are_told_in_the_words_of_scikit_learn():
    with pytest.raises(InvalidTableError, match="Expected 2D array, got 1D array instead"):
        TableEncoder().fit(np.zeros(3))
