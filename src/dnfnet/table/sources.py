"""Tables as users have them (arrays, lists, data frames), seen as named columns of plain values."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dnfnet.exceptions import InvalidTableError, UnsupportedTypeError
from dnfnet.table.values import (
    Values,
    array_values,
    category_values,
    datetime_values,
    numeric_values,
    object_values,
    unusable,
)


class Source(ABC):
    """A table whose columns can be read one by one.

    Attributes
    ----------
    names : list of str or None
        The names of the columns, as text; None for an array.
    all_strings : bool
        Whether the names were strings before, too.
    shape : tuple of int
        Rows and columns.
    """

    names: list[str] | None = None
    all_strings: bool = False
    shape: tuple[int, int]

    @abstractmethod
    def values(self, index: int, name: str, as_text: bool = False) -> Values:
        """Read one column by position; ``name`` is for messages, ``as_text`` as in ``array_values``."""

    @abstractmethod
    def filter(self, rows: NDArray[np.bool_]) -> Source:
        """Keep the rows where the mask is true."""

    @abstractmethod
    def slice(self, start: int, stop: int) -> Source:
        """Keep the rows from ``start`` up to ``stop``."""


def open_table(X: Any) -> Source:
    """Look at any table through one interface, without copying it; a table that is open already stays as it is."""
    if isinstance(X, Source):
        return X
    if sparse.issparse(X):
        raise UnsupportedTypeError(
            "Sparse data was passed, but a dense table is needed: use X.toarray(), or fewer columns."
        )
    X = _record_batch_as_table(X)
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except Exception as error:  # narwhals raises its own kinds, among them one for duplicates
        refuse_duplicates([str(name) for name in getattr(X, "column_names", getattr(X, "columns", []))])
        raise InvalidTableError(f"The table cannot be read: {error}") from error
    if isinstance(frame, nw.DataFrame):
        return FrameSource(frame)
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise InvalidTableError("A lazy frame was passed, but a table in memory is needed: use X.collect().")
    _refuse_named_values(X)
    return ArraySource(_as_matrix(X))


def refuse_empty(source: Source) -> None:
    """An error if there is nothing to learn from."""
    for count, what in zip(source.shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise InvalidTableError(
                f"Found array with 0 {what}(s) (shape={source.shape}) while a minimum of 1 is required."
            )


class ArraySource(Source):
    """A two-dimensional numpy array; its columns have positions and no names."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.shape = (array.shape[0], array.shape[1])

    def values(self, index: int, name: str, as_text: bool = False) -> Values:
        """Read one column."""
        return array_values(name, self.array[:, index], as_text)

    def filter(self, rows: NDArray[np.bool_]) -> ArraySource:
        """Keep some rows."""
        return ArraySource(self.array[rows])

    def slice(self, start: int, stop: int) -> ArraySource:
        """Keep the rows from ``start`` up to ``stop``."""
        return ArraySource(self.array[start:stop])


class FrameSource(Source):
    """A pandas, polars or Arrow table behind narwhals."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        own_names = list(frame.columns)
        self.frame = frame
        names = [str(name) for name in own_names]
        refuse_duplicates(names)
        self.names = names
        self.all_strings = all(isinstance(name, str) for name in own_names)
        self.shape = frame.shape
        self._columns = [frame[:, i] for i in range(len(own_names))]

    def values(self, index: int, name: str, as_text: bool = False) -> Values:
        """Read one column."""
        return series_values(name, self._columns[index], as_text)

    def filter(self, rows: NDArray[np.bool_]) -> FrameSource:
        """Keep some rows."""
        return FrameSource(self.frame.filter(rows.tolist()))

    def slice(self, start: int, stop: int) -> FrameSource:
        """Keep the rows from ``start`` up to ``stop``."""
        return FrameSource(self.frame[start:stop])


def series_values(name: str, series: nw.Series[Any], as_text: bool = False) -> Values:
    """Read a column of a data frame by its type."""
    dtype = series.dtype
    label = _label(dtype)
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        # Not to_numpy: narwhals 2.28 fills the gaps of an Arrow dictionary with the last level.
        return category_values(series.to_list(), label)
    if dtype.is_numeric():
        return _numeric_series(series, label)
    if isinstance(dtype, nw.Datetime | nw.Date):
        return _datetime_series(name, series, label)
    if isinstance(dtype, nw.Duration):
        raise unusable(name, "duration")
    if isinstance(dtype, nw.List | nw.Array | nw.Struct) or label in ("Binary", "Time"):
        raise unusable(name, label)
    array = series.to_numpy()
    if array.dtype.kind == "O":  # with gaps, truth values come as objects, too
        return object_values(name, array.tolist(), label, as_text and not isinstance(dtype, nw.Boolean))
    return array_values(name, array)


def _numeric_series(series: nw.Series[Any], label: str) -> Values:
    try:
        array = series.to_numpy()
    except Exception:  # polars has no numpy form of 128-bit integers, and says so by an error of its own
        array = series.cast(nw.Float64).to_numpy()
    if array.dtype.kind == "O":
        return object_values(series.name, array.tolist(), label)
    return numeric_values(array, label)


def _datetime_series(name: str, series: nw.Series[Any], label: str) -> Values:
    if getattr(series.dtype, "time_zone", None) is not None:
        series = series.dt.replace_time_zone(None)
    array = series.to_numpy()
    if array.dtype.kind == "M":
        return datetime_values(array, label)
    return object_values(name, array.tolist(), label)


def _label(dtype: Any) -> str:
    """Name a type without its parameters (an Enum would list all its levels)."""
    return type(dtype).__name__


def _refuse_named_values(X: Any) -> None:
    """Raise for a single column or row with names, which reshaping would lose."""
    if isinstance(X, Mapping):
        raise InvalidTableError(
            "A dict was passed, but a table is needed: use pandas.DataFrame([X]) if it is a row, "
            "pandas.DataFrame(X) if it holds columns."
        )
    if hasattr(X, "to_frame") and isinstance(nw.from_native(X, series_only=True, pass_through=True), nw.Series):
        raise InvalidTableError(
            "A series was passed, but a table is needed: use X.to_frame() if it is a column, pandas.DataFrame([X]) "
            "if it is a row."
        )


def _as_matrix(X: Any) -> NDArray[Any]:
    """Turn anything that is no frame into a two-dimensional array, mixed lists into objects."""
    if isinstance(X, np.ma.MaskedArray):
        X, mask = np.array(X.data, dtype=object), np.ma.getmaskarray(X)
        X[mask] = None
    if type(X).__module__.startswith("torch") and hasattr(X, "detach"):
        X = X.detach().cpu()  # numpy refuses tensors that require gradients or are elsewhere
    # A list of [1, "a"] as plain array would become texts.
    array = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else np.asarray(X)
    if array.dtype.names is not None:
        raise InvalidTableError("A structured array was passed: use pandas.DataFrame(X).")
    if array.ndim == 1 and len(array) and isinstance(array[0], list | tuple | np.ndarray):
        raise InvalidTableError(f"The rows of the table have different lengths: {len(array[0])} in the first.")
    if array.ndim == 0:
        raise InvalidTableError(
            f"X must be a table (a data frame, an array, or a list of rows), but is of type {type(X).__name__}."
        )
    if array.ndim == 1 and len(array) and isinstance(array[0], Mapping):
        raise InvalidTableError("A list of dicts was passed, but a table is needed: use pandas.DataFrame(X).")
    if array.ndim != 2:
        raise InvalidTableError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: X.reshape(-1, 1) if it "
            "has a single feature, X.reshape(1, -1) if it is a single row."
        )
    return array


def _record_batch_as_table(X: Any) -> Any:
    """Turn an Arrow record batch, which narwhals does not know, into a table; Arrow is loaded if X is one."""
    if type(X).__module__.startswith("pyarrow") and type(X).__name__ == "RecordBatch":
        return sys.modules["pyarrow"].Table.from_batches([X])
    return X


def refuse_duplicates(names: list[str]) -> None:
    """An error if two columns have the same name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InvalidTableError(f"Column names must be unique, but these occur more than once: {twice[:5]}.")
