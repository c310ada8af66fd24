"""Targets as users have them (lists, Series, frames, Arrow), as plain arrays, or an error that says what is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dnfnet.exceptions import InvalidTargetError
from dnfnet.table.values import is_missing

_NUMBERS = (int, float, np.number, Decimal)
_KINDS = {"U": "text", "M": "dates", "m": "durations"}
_AS_TEXT = "make them text by  y = [str(label) for label in y]"


def target_array(y: Any) -> NDArray:
    """Any target as an array; numbers that came as objects are numbers, and texts among numbers stay apart."""
    if y is None:
        raise InvalidTargetError("This estimator requires y to be passed, but the target y is None.")
    try:
        array = _read(y)
    except ValueError as error:
        raise InvalidTargetError(f"y cannot be read as an array: {error}") from error
    if array.ndim == 0:
        shown = f"the text {y!r}" if isinstance(y, str) else f"of type {type(y).__name__}"
        raise InvalidTargetError(f"y must be a list, array or column with a value for each row of X, but is {shown}.")
    if array.dtype.kind == "c":
        raise InvalidTargetError("Complex data not supported: y must hold real numbers or labels.")
    return _plain_objects(array) if array.dtype.kind == "O" else array


def _read(y: Any) -> NDArray:
    """An array of a type that model files know, or of objects."""
    if sparse.issparse(y):
        y = y.toarray()
    if isinstance(y, np.ma.MaskedArray):
        y, mask = y.data.astype(object), np.ma.getmaskarray(y)
        y[mask] = None
    if type(y).__module__.startswith("torch") and hasattr(y, "detach"):
        y = y.detach().cpu()  # numpy refuses tensors that require gradients or are elsewhere
    array = np.asarray(y)
    if array.dtype.kind == "U" and isinstance(y, list | tuple):
        # numpy writes 1, None and NaN among texts as texts, too, which would be labels nobody gave.
        return np.asarray(y, dtype=object)
    if array.dtype.kind in "ST":
        return array.astype(object)
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        return array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    return array


def _plain_objects(array: NDArray) -> NDArray:
    """Objects that are all numbers or all truth values as such; the others stay."""
    present = [value for value in array.ravel().tolist() if not is_missing(value)]
    kinds = {bool if isinstance(value, bool | np.bool_) else type(value) for value in present}
    numbers = bool(kinds) and all(issubclass(kind, _NUMBERS) and kind is not bool for kind in kinds)
    exact = kinds == {bool} or (numbers and not any(issubclass(kind, Decimal) for kind in kinds))
    if len(present) == array.size and exact:
        return np.array(array.tolist())
    if numbers or kinds == {bool}:
        return np.array([np.nan if is_missing(v) else float(v) for v in array.ravel()]).reshape(array.shape)
    return array


def refuse_missing(array: NDArray, used: NDArray[np.bool_] | None = None) -> None:
    """An error that names the first row without a value, among those that are ``used``."""
    missing = _missing_cells(array)
    rows = np.asarray(missing.reshape(len(array), -1).any(axis=1))
    _refuse_rows("NaN (or None)", rows if used is None else rows & used)


def _refuse_rows(what: str, wrong: NDArray[np.bool_]) -> None:
    if wrong.any():
        raise InvalidTargetError(
            f"Input y contains {what} in {int(wrong.sum())} of {len(wrong)} rows, first in row {int(wrong.argmax())} "
            "(counted from 0): drop those rows first."
        )


def _missing_cells(array: NDArray) -> NDArray[np.bool_]:
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind in "mM":
        return np.isnat(array)
    if array.dtype.kind != "O":
        return np.zeros(array.shape, dtype=bool)
    return np.fromiter(map(is_missing, array.ravel().tolist()), bool, array.size).reshape(array.shape)


def label_array(y: Any) -> NDArray:
    """One label per row, none of them missing: numbers, truth values, texts, or other hashables of one type."""
    labels = target_array(y)
    if labels.ndim > 2 or (labels.ndim == 2 and labels.shape[1] != 1):
        raise InvalidTargetError(f"y should be a 1d array with a label per row, however: y.shape={labels.shape}")
    labels = labels.reshape(-1)
    refuse_missing(labels)
    if labels.dtype.kind == "O":
        _refuse_odd_labels(labels.tolist())
    elif labels.dtype.kind == "f":
        _refuse_rows("infinity", np.isinf(labels))
        if (labels != np.round(labels)).any():
            row = int((labels != np.round(labels)).argmax())
            raise InvalidTargetError(
                f"Unknown label type: continuous. y has {labels[row]:g} in row {row}: for a quantity use "
                f"DNFNetRegressor; if these numbers are classes, {_AS_TEXT}"
            )
    return labels


def _refuse_odd_labels(labels: list[Any]) -> None:
    """An error for labels of several kinds, of which 1 and "1" may be meant to be the same, or that have no hash."""
    first: dict[str, int] = {}
    for row, label in enumerate(labels):
        first.setdefault(_label_kind(label), row)
    if len(first) > 1:
        (kind, row), (other, other_row) = list(first.items())[:2]
        raise InvalidTargetError(
            f"Labels must be of one kind, but y has a {kind} in row {row} and a {other} in row {other_row}: {_AS_TEXT}"
        )
    try:
        dict.fromkeys(labels)
    except TypeError as error:
        raise InvalidTargetError(f"Labels must be hashable, but y has a {next(iter(first))}: {_AS_TEXT}") from error


def _label_kind(label: Any) -> str:
    for kind, types in (("text", str), ("truth value", bool | np.bool_), ("number", int | float | np.number | Decimal)):
        if isinstance(label, types):
            return kind
    return type(label).__name__


def distinct_labels(labels: NDArray) -> tuple[NDArray, NDArray[np.intp]]:
    """The labels in order, each once, and for each row the position of its own."""
    if labels.dtype.kind != "O":
        classes, numbers = np.unique(labels, return_inverse=True)
        return classes, numbers.reshape(-1)
    found = list(dict.fromkeys(labels.tolist()))
    try:
        found = sorted(found)
    except TypeError:  # such as members of an Enum
        found = sorted(found, key=str)
    position = {label: i for i, label in enumerate(found)}
    return object_array(found), np.fromiter(map(position.__getitem__, labels.tolist()), np.intp, len(labels))


def object_array(values: Iterable[Any]) -> NDArray:
    """A flat array of objects, also of tuples, of which numpy would make a second dimension."""
    values = list(values)
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def indicator_array(y: Any) -> NDArray:
    """A matrix of zeros and ones with a column per label."""
    matrix = target_array(y)
    refuse_missing(matrix)
    if matrix.dtype.kind not in "biuf" or not np.isin(matrix, (0, 1)).all():
        raise InvalidTargetError(
            "y with several columns must hold only 0 and 1, a column per label; for columns with more classes, "
            "fit one model per column."
        )
    return matrix


def real_array(y: Any) -> NDArray[np.float64]:
    """Real targets, all of them finite; a single column is flat."""
    values = target_array(y)
    if _type_names(values) == "number":  # whole numbers beyond 64 bits
        values = values.astype(np.float64)
    if values.dtype.kind not in "biuf":
        raise InvalidTargetError(
            f"y must hold numbers for a regressor, but holds {_type_names(values)}: for labels use DNFNetClassifier."
        )
    values = values.astype(np.float64)
    if values.ndim not in (1, 2) or 0 in values.shape[1:]:
        raise InvalidTargetError(f"y must have one or two dimensions, however: y.shape={values.shape}")
    refuse_missing(values)
    _refuse_rows("infinity", np.isinf(values).reshape(len(values), -1).any(axis=1))
    return values.reshape(-1) if values.ndim == 2 and values.shape[1] == 1 else values


def _type_names(values: NDArray) -> str:
    if values.dtype.kind != "O":
        return _KINDS.get(values.dtype.kind, str(values.dtype))
    return ", ".join(sorted({_label_kind(value) for value in values.ravel().tolist() if not is_missing(value)})[:5])
