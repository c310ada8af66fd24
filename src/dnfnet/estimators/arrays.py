"""Targets as users have them (lists, Series, frames, Arrow), as plain arrays, or an error that says what is wrong."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from dnfnet.exceptions import InvalidTargetError

_NUMBERS = (int, float, np.number, Decimal)
_FIX = "drop those rows first"


def target_array(y: Any) -> NDArray:
    """Any target as an array; numbers that came as objects are numbers, and texts among numbers stay apart."""
    if y is None:
        raise InvalidTargetError("This estimator requires y to be passed, but the target y is None.")
    if sparse.issparse(y):
        y = y.toarray()
    try:
        array = np.asarray(y)
        if array.dtype.kind in "US" and isinstance(y, list | tuple):
            # numpy writes 1, None and NaN among texts as texts, too, which would be labels nobody gave.
            array = np.asarray(y, dtype=object)
    except ValueError as error:
        raise InvalidTargetError(f"y cannot be read as an array: {error}") from error
    return _plain_objects(array) if array.dtype.kind == "O" else array


def _plain_objects(array: NDArray) -> NDArray:
    """Objects that are all numbers or all truth values as such; the others stay."""
    present = [value for value in array.ravel().tolist() if not _is_missing(value)]
    kinds = {bool if isinstance(value, bool | np.bool_) else type(value) for value in present}
    numbers = bool(kinds) and all(issubclass(kind, _NUMBERS) and kind is not bool for kind in kinds)
    exact = kinds == {bool} or (numbers and not any(issubclass(kind, Decimal) for kind in kinds))
    if len(present) == array.size and exact:
        return np.array(array.tolist())
    if numbers:
        return np.array([np.nan if _is_missing(v) else float(v) for v in array.ravel()]).reshape(array.shape)
    return array


def _is_missing(value: Any) -> bool:
    """None, NaN, and what pandas calls NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def label_array(y: Any) -> NDArray:
    """One label per row: texts, numbers or truth values, none of them missing."""
    labels = target_array(y)
    if labels.ndim > 2 or (labels.ndim == 2 and labels.shape[1] != 1):
        raise InvalidTargetError(f"y should be a 1d array with a label per row, however: y.shape={labels.shape}")
    labels = column_or_1d(labels, warn=True)
    missing = _count_missing(labels)
    if missing:
        raise InvalidTargetError(f"y has {missing} missing labels: {_FIX}, or give them a class of their own.")
    if labels.dtype.kind == "O":
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        if kinds and not all(isinstance(label, str) for label in labels.tolist()):
            raise InvalidTargetError(f"Labels must be all text or all numbers, but y has {kinds}: use y.astype(str).")
    if labels.dtype.kind not in "biufUOT" or labels.dtype == np.float16:
        raise InvalidTargetError(f"Labels of type {labels.dtype} are not supported: use y.astype(str).")
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise InvalidTargetError(str(error)) from error
    return labels


def indicator_array(y: Any) -> NDArray:
    """A matrix of zeros and ones with a column per label."""
    matrix = target_array(y)
    if matrix.dtype.kind not in "biuf" or not np.isin(matrix, (0, 1)).all():
        raise InvalidTargetError(
            "y with several columns must hold only 0 and 1, a column per label; for columns with more classes, "
            "fit one model per column."
        )
    return matrix


def real_array(y: Any) -> NDArray[np.float64]:
    """Real targets, all of them finite; a single column is flat."""
    values = target_array(y)
    if values.dtype.kind == "c":
        raise InvalidTargetError("Complex data not supported: y must hold real numbers.")
    if values.dtype.kind not in "biuf":
        raise InvalidTargetError(
            f"y must hold numbers for a regressor, but holds {_type_names(values)}: for labels use DNFNetClassifier."
        )
    values = values.astype(np.float64)
    if values.ndim not in (1, 2) or 0 in values.shape[1:]:
        raise InvalidTargetError(f"y must have one or two dimensions, however: y.shape={values.shape}")
    for what, wrong in (("NaN", np.isnan(values)), ("infinity", np.isinf(values))):
        if wrong.any():
            n_rows = int(wrong.reshape(len(values), -1).any(axis=1).sum())
            raise InvalidTargetError(f"Input y contains {what} in {n_rows} of {len(values)} rows: {_FIX}.")
    return column_or_1d(values, warn=True) if values.ndim == 2 and values.shape[1] == 1 else values


def _count_missing(labels: NDArray) -> int:
    if labels.dtype.kind == "f":
        return int(np.isnan(labels).sum())
    if labels.dtype.kind == "M":
        return int(np.isnat(labels).sum())
    return sum(map(_is_missing, labels.tolist())) if labels.dtype.kind == "O" else 0


def _type_names(values: NDArray) -> str:
    if values.dtype.kind != "O":
        return str(values.dtype)
    return ", ".join(sorted({type(value).__name__ for value in values.ravel().tolist()})[:5])
