"""Every library × every kind of column × every bad case."""

from __future__ import annotations

import datetime
import decimal
import warnings

import numpy as np
import pytest
from frames import LIBRARIES, make_frame, moments

from dnfnet.exceptions import SchemaMismatchError, TableWarning
from dnfnet.table import TableEncoder

N = 40
KINDS = {
    "integer": [i % 7 for i in range(N)],
    "float": [i / 3 for i in range(N)],
    "decimal": [decimal.Decimal(i) / 4 for i in range(N)],
    "boolean": [i % 3 == 0 for i in range(N)],
    "text": ["abc"[i % 3] for i in range(N)],
    "datetime": moments(N),
    "date": [moment.date() for moment in moments(N)],
    "constant": [5.0] * N,
    "empty": [None] * N,
}
BECAME = {
    "integer": "numeric",
    "float": "numeric",
    "decimal": "numeric",
    "constant": "numeric",
    "text": "category",
}
BECAME |= {"date": "datetime"}


def with_gaps(values):
    return [None if i % 5 == 1 else value for i, value in enumerate(values)]


def fitted(library, values):
    frame = make_frame(library, {"c": values, "x": [float(i) for i in range(len(values))]})
    return TableEncoder(datetimes="expand").fit(frame), frame


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_fit_and_transform(library, kind, gaps):
    """Kind, counts and a finite matrix whose numeric inputs have mean 0 and deviation 1."""
    values = with_gaps(KINDS[kind]) if gaps else KINDS[kind]
    encoder, frame = fitted(library, values)
    column = encoder.schema["c"]
    assert column.kind == BECAME.get(kind, kind)
    assert column.n_missing == sum(value is None for value in values)
    encoded = encoder.transform(frame)
    assert encoded.dtype == np.float32
    assert encoded.shape == (N, len(encoder.encoded_names)) == (N, column.n_inputs + 1)
    assert np.isfinite(encoded).all()
    if column.has_indicator:
        assert encoded[:, column.n_inputs - 1].tolist() == [float(value is None) for value in values]
    if column.kind in ("numeric", "datetime") and not column.constant:
        known = [value is not None for value in values]
        block = encoded[known, : column.n_inputs - column.has_indicator].astype(np.float64)
        assert np.allclose(block.mean(axis=0), 0, atol=1e-6)
        assert np.allclose(block.std(axis=0), 1, atol=1e-6)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_one_row_alone_and_missing_only_in_prediction(library, kind, gaps):
    values = with_gaps(KINDS[kind]) if gaps else KINDS[kind]
    encoder, frame = fitted(library, values)
    whole = encoder.transform(frame)
    for i in (0, 1, 17):
        row = make_frame(library, {"c": [values[i]], "x": [float(i)]})
        assert np.array_equal(encoder.transform(row)[0], whole[i])
    missing = make_frame(library, {"c": [None], "x": [0.0]})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoded = encoder.transform(missing)[0]
    if gaps or kind == "empty":
        assert not caught
        assert np.array_equal(encoded[:-1], whole[1, :-1])
    else:
        assert [str(w.message) for w in caught] == [
            "Values are missing that the training rows never lacked, and became the mean, in column 'c' (1 row)."
        ]
        means = whole[:, :-1].mean(axis=0)
        assert np.allclose(encoded[:-1], means, atol=1e-6)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "empty"])
def test_all_libraries_give_the_same_bits(library, kind, gaps):
    values = with_gaps(KINDS[kind]) if gaps else KINDS[kind]
    encoder, _ = fitted(LIBRARIES[0], values)
    other, frame = fitted(library, values)
    assert other.encoded_names == encoder.encoded_names
    assert np.array_equal(encoder.transform(frame), other.transform(frame))
    rows = np.empty((N, 2), dtype=object)
    rows[:, 0], rows[:, 1] = values, range(N)
    from_objects = TableEncoder(datetimes="expand").fit(rows)
    assert np.array_equal(from_objects.transform(rows), encoder.transform(frame))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("now", KINDS)
@pytest.mark.parametrize("then", KINDS)
def test_retyped_columns_are_named(library, then, now):
    encoder, _ = fitted(library, KINDS[then])
    frame = make_frame(library, {"c": KINDS[now], "x": [0.0] * N})
    old, new = encoder.schema["c"].kind, BECAME.get(now, now)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        if old in (new, "empty") or new == "empty" or (old, new) == ("numeric", "boolean"):
            assert np.isfinite(encoder.transform(frame)).all()
        else:
            with pytest.raises(SchemaMismatchError, match=r"Column 'c' was .* in fit and is .* now: convert it"):
                encoder.transform(frame)


@pytest.mark.parametrize("library", LIBRARIES)
def test_infinite_values_become_the_extremes_of_fit(library):
    values = [1.0, 2.0, 3.0, float("inf"), float("-inf"), float("inf")]
    with pytest.warns(TableWarning, match=r"largest or smallest finite value of fit in column 'c' \(3 rows\)"):
        encoder, _ = fitted(library, values)
    assert encoder.schema["c"].n_infinite == 3
    same = TableEncoder().fit(make_frame(library, {"c": [1.0, 2.0, 3.0, 3.0, 1.0, 3.0], "x": range(6)}))
    now = make_frame(library, {"c": [float("inf"), float("-inf"), 1e300], "x": [0.0] * 3})
    with pytest.warns(TableWarning, match=r"column 'c' \(2 rows\)"):
        encoded = encoder.transform(now)
    plain = make_frame(library, {"c": [3.0, 1.0], "x": [0.0] * 2})
    assert np.array_equal(encoded[:2], same.transform(plain))
    assert encoded[2, 0] == np.float32(1e6)


@pytest.mark.parametrize("library", LIBRARIES)
def test_unseen_levels_are_other_if_fit_had_rare_ones(library):
    encoder, _ = fitted(library, ["a"] * 20 + ["b"] * 19 + ["rare"])
    assert encoder.encoded_names == ["c = a", "c = b", "c = other", "x"]
    encoded = encoder.transform(make_frame(library, {"c": ["b", "rare", "new"], "x": [0.0] * 3}))
    assert encoded[:, :3].tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 1]]


@pytest.mark.parametrize("library", LIBRARIES)
def test_unseen_levels_take_the_average_if_fit_had_no_rare_ones(library):
    encoder, _ = fitted(library, ["a"] * 30 + ["b"] * 10)
    now = make_frame(library, {"c": ["new", "b", "new"], "x": [0.0] * 3})
    with pytest.warns(TableWarning, match=r"did not see .* in column 'c' \(2 rows, such as 'new'\)"):
        encoded = encoder.transform(now)
    assert encoded[:, :2].tolist() == [[0.75, 0.25], [0, 1], [0.75, 0.25]]


@pytest.mark.parametrize("library", LIBRARIES)
def test_hundreds_of_levels_have_bounded_width(library):
    values = [f"l{i:03d}" for i in range(300) for _ in range(1 + i % 4)]
    frame = make_frame(library, {"c": values})
    encoder = TableEncoder(max_levels=10, min_level_rows=1).fit(frame)
    column = encoder.schema["c"]
    assert column.levels == tuple(f"l{i:03d}" for i in range(3, 43, 4))  # most frequent, ties by text
    assert (column.n_rare_levels, column.n_rare_rows) == (290, len(values) - 40)
    assert np.array_equal(encoder.transform(frame).sum(axis=1), np.ones(len(values)))


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_are_reordered_and_differences_named(library):
    columns = {"a": [1.0, 2.0], "b": [3.0, 5.0], "ü ñ": [0.0, 1.0]}
    encoder = TableEncoder().fit(make_frame(library, columns))
    whole = encoder.transform(make_frame(library, columns))
    backwards = make_frame(library, dict(reversed(columns.items())))
    assert np.array_equal(encoder.transform(backwards), whole)
    changed = make_frame(library, {"a": [1.0], "new": [2.0], "b": [1.0]})
    message = (
        "The feature names should match those that were passed during fit.\n"
        "Feature names unseen at fit time:\n- new\nFeature names seen at fit time, yet now missing:\n- ü ñ\n"
    )
    with pytest.raises(SchemaMismatchError) as caught:
        encoder.transform(changed)
    assert str(caught.value) == message
    more = make_frame(library, {**columns, "new": ["x", "y"]})
    with pytest.raises(SchemaMismatchError, match="unseen at fit time:\n- new"):
        encoder.transform(more)
    lenient = TableEncoder(extra_columns="ignore").fit(make_frame(library, columns))
    assert np.array_equal(lenient.transform(more), whole)


@pytest.mark.parametrize("library", LIBRARIES)
def test_dates_are_refused_with_the_line_that_fixes_it(library):
    frame = make_frame(library, {"when": moments(5)})
    with pytest.raises(ValueError, match=r"'when' holds dates .*datetimes=\"expand\".*X\.drop\(columns=\['when'\]\)"):
        TableEncoder().fit(frame)


@pytest.mark.parametrize("library", LIBRARIES)
def test_durations_and_lists_are_refused(library):
    hours = [datetime.timedelta(hours=i) for i in range(3)]
    with pytest.raises(ValueError, match=r"'d' holds durations.*\.dt\.total_seconds\(\)"):
        TableEncoder().fit(make_frame(library, {"d": hours}))
    with pytest.raises(TypeError, match=r"Column 'l' .*argument must be .* string.* number"):
        TableEncoder().fit(make_frame(library, {"l": [[1], [2, 3], []]}))


@pytest.mark.parametrize("library", LIBRARIES)
def test_zero_rows_at_prediction(library):
    encoder, frame = fitted(library, KINDS["text"])
    assert encoder.transform(frame[:0]).shape == (0, 4)
