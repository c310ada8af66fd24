"""Tables made by hypothesis: whatever goes in, a finite matrix or a clear error comes out."""

from __future__ import annotations

import datetime
import decimal
import json
import warnings

import numpy as np
import pytest
from frames import LIBRARIES, make_frame
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dnfnet.exceptions import InvalidTableError, SchemaMismatchError, TableWarning
from dnfnet.table import TableEncoder

CELLS = {
    "float": st.floats(),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "boolean": st.booleans(),
    "text": st.text(st.characters(codec="utf-8"), max_size=3) | st.sampled_from(["a", "b", "nan", "1"]),
    "datetime": st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)),
}
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
ANYTHING = st.one_of(
    st.none(),
    *CELLS.values(),
    st.integers(),
    st.decimals(),
    st.dates(),
    st.binary(max_size=3),
    st.fractions(),
    st.just(decimal.Decimal("sNaN")),
)
PATIENT = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def tables(draw):
    """Columns of one kind each, with gaps, as a dict of lists."""
    n_rows = draw(st.integers(1, 12))
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    columns = {}
    for name in names:
        cell = CELLS[draw(st.sampled_from(sorted(CELLS)))]
        cell = st.none() | cell if draw(st.booleans()) else cell
        columns[name] = draw(st.lists(cell, min_size=n_rows, max_size=n_rows))
    return columns


def quiet_fit(X, **options):
    """Fit without warnings; None if the table has nothing to learn from."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        try:
            return TableEncoder(datetimes="expand", min_level_rows=1, **options).fit(X)
        except InvalidTableError as error:
            if "anything to learn" not in str(error):
                raise
            return None


def quiet_transform(encoder, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        return encoder.transform(X)


@pytest.mark.parametrize("library", LIBRARIES)
@PATIENT
@given(columns=tables(), data=st.data())
def test_any_table_is_encoded_row_by_row(library, columns, data):
    frame = make_frame(library, columns)
    encoder = quiet_fit(frame)
    if encoder is None:
        return
    whole = quiet_transform(encoder, frame)
    n_rows = len(next(iter(columns.values())))
    assert whole.shape == (n_rows, len(encoder.encoded_names))
    assert np.isfinite(whole).all()
    assert np.abs(whole).max() <= 1e6
    i = data.draw(st.integers(0, n_rows - 1))
    row = frame[i : i + 1] if library != "pyarrow" else frame.slice(i, 1)
    assert np.array_equal(quiet_transform(encoder, row)[0], whole[i])
    entry, arrays = encoder.state()
    back = TableEncoder.from_state(json.loads(json.dumps(entry, allow_nan=False)), arrays)
    assert np.array_equal(quiet_transform(back, frame), whole)
    assert back.schema == encoder.schema


@PATIENT
@given(columns=tables(), other=tables())
def test_libraries_agree_and_another_table_gives_numbers_or_a_named_error(columns, other):
    frames = [make_frame(library, columns) for library in LIBRARIES]
    encoders = [quiet_fit(frame) for frame in frames]
    if encoders[0] is None:
        assert encoders == [None] * len(encoders)
        return
    reference = quiet_transform(encoders[0], frames[0])
    for encoder, frame in zip(encoders, frames, strict=True):
        assert encoder.encoded_names == encoders[0].encoded_names
        assert np.array_equal(quiet_transform(encoder, frame), reference)
    now = dict(zip(columns, other.values(), strict=False)) | dict(list(columns.items())[len(other) :])
    lengths = {len(values) for values in now.values()}
    frame = make_frame(LIBRARIES[0], {name: values[: min(lengths)] for name, values in now.items()})
    try:
        assert np.isfinite(quiet_transform(encoders[0], frame)).all()
    except SchemaMismatchError as error:
        if "in fit and is" not in str(error):
            raise


@PATIENT
@given(rows=st.lists(st.tuples(ANYTHING, ANYTHING), min_size=1, max_size=8))
def test_objects_of_any_kind_give_a_finite_matrix_or_a_clear_error(rows):
    X = np.empty((len(rows), 2), dtype=object)
    for i, row in enumerate(rows):
        X[i, 0], X[i, 1] = row
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        try:
            encoder = TableEncoder(datetimes="expand", min_level_rows=1).fit(X)
        except InvalidTableError as error:
            if not any(reason in str(error) for reason in ("mixes dates", "anything to learn", "has type")):
                raise
            return
        assert np.isfinite(encoder.transform(X)).all()


@PATIENT
@given(
    rows=st.lists(
        st.tuples(st.none() | st.floats(-1e3, 1e3), st.sampled_from(["a", "b", "c", None]), st.integers(0, 3)),
        min_size=1,
        max_size=15,
    )
)
def test_whole_weights_are_repeated_rows(rows):
    X = np.array([row[:2] for row in rows], dtype=object)
    weights = np.array([row[2] for row in rows])
    repeated = np.repeat(X, weights, axis=0)
    positive = set(weights[weights > 0])
    if not positive or len(positive) == 1:  # equal weights are none, and then they count no rows
        return
    one = two = None
    try:
        two = TableEncoder(min_level_rows=2).fit(repeated)
        one = TableEncoder(min_level_rows=2).fit(X, weights)
    except InvalidTableError:
        assert (one, two) == (None, None)
        return
    assert one.encoded_names == two.encoded_names
    kept = X[weights > 0]
    assert np.allclose(one.transform(kept), two.transform(kept), rtol=0, atol=1e-5)
