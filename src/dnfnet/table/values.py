"""The values of one column, whatever library they come from, in one of a few plain numpy forms."""

from __future__ import annotations

import datetime
import decimal
import numbers
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dnfnet.exceptions import InvalidTableError, UnsupportedTypeError
from dnfnet.table.schema import Kind


@dataclass(frozen=True)
class Values:
    """One column's values.

    Attributes
    ----------
    kind : str
        See :class:`dnfnet.table.schema.Column`; ``empty`` when no row has a value.
    data : ndarray
        float64 with NaN for missing (numeric, boolean, empty), codes into ``levels`` with -1 for missing
        (category), or datetime64[us] with NaT for missing (datetime).
    dtype : str
        What the column's own library calls the type, for messages.
    levels : tuple of str
        The distinct texts of a category.
    mixed : bool
        Whether a category came from objects of which some are no texts.
    """

    kind: Kind
    data: NDArray[Any]
    dtype: str
    levels: tuple[str, ...] = ()
    mixed: bool = False

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        if self.kind == "category":
            return self.data < 0
        return np.isnat(self.data) if self.kind == "datetime" else np.isnan(self.data)


def numeric_values(array: NDArray[Any], dtype: str, kind: Kind = "numeric") -> Values:
    """Numbers or truth values as float64; without a single value the kind is ``empty``."""
    # Beyond float64 (a longdouble) is infinite, and infinite values have their own rule.
    with np.errstate(over="ignore"):
        data = array.astype(np.float64, copy=False)
    return Values("empty" if np.isnan(data).all() else kind, data, dtype)


def datetime_values(array: NDArray[Any], dtype: str) -> Values:
    """Moments in microseconds, as the clock on the wall shows them."""
    data = array.astype("datetime64[us]")
    if np.isnat(data).all():
        return Values("empty", np.full(len(data), np.nan), dtype)
    return Values("datetime", data, dtype)


def category_values(values: list[Any], dtype: str) -> Values:
    """Factorise by text: equal texts are one level, so that the frame's library makes no difference."""
    # A dict over the distinct objects keeps the loop over rows in C.
    position = {value: i for i, value in enumerate(dict.fromkeys(values))}
    codes = np.fromiter(map(position.__getitem__, values), np.int64, len(values))
    texts = [None if is_missing(value) else level_text(value) for value in position]
    levels = tuple(sorted({text for text in texts if text is not None}))
    code_of: dict[str | None, int] = {text: i for i, text in enumerate(levels)}
    remap = np.array([code_of.get(text, -1) for text in texts], dtype=np.int64)
    if not levels:
        return Values("empty", np.full(len(values), np.nan), dtype)
    return Values("category", remap[codes] if len(values) else codes, dtype, levels)


def array_values(name: str, array: NDArray[Any], as_text: bool = False) -> Values:
    """Read a one-dimensional numpy array of any dtype.

    Parameters
    ----------
    name : str
        The column's name, for messages.
    array : ndarray
        The values.
    as_text : bool
        Read numbers among objects as levels, because the column was mixed in fit: a chunk of it that happens
        to hold only numbers would look retyped otherwise.
    """
    dtype = str(array.dtype)
    code = array.dtype.kind
    if code in "iuf":
        return numeric_values(array, dtype)
    if code == "b":
        return numeric_values(array, dtype, "boolean")
    if code == "M":
        return datetime_values(array, dtype)
    if code in "USTO":
        return object_values(name, array.tolist(), dtype, as_text)
    raise unusable(name, "complex" if code == "c" else "duration" if code == "m" else dtype)


def object_values(name: str, values: list[Any], dtype: str, as_text: bool = False) -> Values:
    """Read Python objects: their types decide, since the column has none."""
    sort_of = {kind: _sort(kind) for kind in set(map(type, values))}
    _refuse_containers(name, values, sort_of)
    sorts = _sorts_present(values, sort_of)
    if "text" in sorts and "datetime" in sorts:
        raise InvalidTableError(f"Column {name!r} mixes dates with other values: give it one type.")
    if sorts == {"text"} and decimal.Decimal not in sort_of:  # which has a NaN that cannot be hashed
        return category_values(values, dtype)
    if "text" in sorts or (as_text and sorts):
        # By text before they meet in a dict, in which 1, 1.0 and True are equal.
        return replace(category_values([_as_text(v) for v in values], dtype), mixed=sorts != {"text"})
    if sorts <= {"boolean", "numeric"}:
        kind: Kind = "boolean" if sorts == {"boolean"} else "numeric"
        return numeric_values(_object_numbers(values, sort_of), dtype, kind)
    if sorts == {"datetime"}:
        return datetime_values(_object_moments(values), dtype)
    raise unusable(name, next(iter(sorts - {"numeric", "boolean"})))


def unusable(name: str, dtype: str) -> InvalidTableError:
    """Give the error for a type that no table for learning has, with the line that helps."""
    if dtype == "complex":
        return InvalidTableError(f"Complex data not supported: column {name!r} holds complex numbers.")
    if dtype == "duration":
        fix = f'X["{name}"] = X["{name}"].dt.total_seconds()'
        return InvalidTableError(f"Column {name!r} holds durations: turn them into numbers, {fix}")
    return UnsupportedTypeError(
        f"Column {name!r} has type {dtype}: the argument must be a table of string or number cells "
        "(or truth values, categories, dates); convert the column or drop it."
    )


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for no value: None, NaN, NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    # Only NaN differs from itself; Decimal's signalling NaN refuses even that comparison.
    return isinstance(value, numbers.Number | np.number) and str(value).lower().endswith("nan")


def level_text(value: Any) -> str:
    """Give the text of a level; 2.0 is "2", since integers with a gap become floats in pandas."""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _as_text(value: Any) -> str | None:
    return None if is_missing(value) else level_text(value)


def _sort(kind: type) -> str:
    """Classify a Python type."""
    if kind.__name__ in ("NoneType", "NAType", "NaTType"):
        return "missing"
    if kind.__name__ == "Period":
        return "period"
    families: tuple[tuple[str, tuple[type, ...]], ...] = (
        ("boolean", (bool, np.bool_)),
        ("text", (str, bytes)),
        ("duration", (datetime.timedelta, np.timedelta64)),
        ("time", (datetime.time,)),
        ("datetime", (datetime.date, np.datetime64)),
        ("numeric", (numbers.Real, np.integer, np.floating)),
        ("complex", (numbers.Complex,)),
        ("numeric", (numbers.Number,)),
        ("container", (Mapping, Sequence, Set, np.ndarray)),
    )
    for sort, types in families:
        if issubclass(kind, types):
            return sort
    # str() of an object without a text of its own is its address, which is no level.
    addressed = kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__
    return "container" if addressed or kind.__hash__ is None else "text"


def _refuse_containers(name: str, values: list[Any], sort_of: dict[type, str]) -> None:
    if "container" not in sort_of.values():
        return
    rows = [i for i, value in enumerate(values) if sort_of[type(value)] == "container"]
    kind = type(values[rows[0]]).__name__
    raise UnsupportedTypeError(
        f"Column {name!r} holds a {kind} in {len(rows)} of {len(values)} rows (first in row {rows[0]}): "
        "each cell argument must be a string or a number (or a truth value, a date, or missing)."
    )


def _sorts_present(values: list[Any], sort_of: dict[type, str]) -> set[str]:
    """Classify what the values are, leaving out missing ones (a NaN among texts makes no number of them)."""
    sorts = set(sort_of.values()) - {"missing"}
    for sort in ("numeric", "datetime") if len(sorts) > 1 else ():
        if sort in sorts and all(is_missing(v) for v in values if sort_of[type(v)] == sort):
            sorts.discard(sort)
    return sorts


def _object_numbers(values: list[Any], sort_of: dict[type, str]) -> NDArray[np.float64]:
    if not {"numeric", "boolean"}.issuperset(sort_of.values()):  # what is left besides is missing
        values = [v if sort_of[type(v)] in ("numeric", "boolean") else np.nan for v in values]
    try:
        return np.array(values, dtype=np.float64)
    except (OverflowError, ValueError):  # an integer beyond float64, or Decimal's signalling NaN
        return np.array([_clamped(value) for value in values], dtype=np.float64)


def _clamped(value: Any) -> float:
    try:
        return float("nan") if is_missing(value) else float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _object_moments(values: list[Any]) -> NDArray[np.datetime64]:
    return np.array([_moment(value) for value in values], dtype="datetime64[us]")


def _moment(value: Any) -> np.datetime64:
    if is_missing(value):
        return np.datetime64("NaT", "us")
    if isinstance(value, datetime.datetime):
        # numpy would shift an aware moment to UTC; the clock on the wall is what people mean by "hour"
        value = datetime.datetime(*value.timetuple()[:6], value.microsecond)
    return np.datetime64(value, "us")
