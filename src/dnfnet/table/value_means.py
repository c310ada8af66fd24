"""The mean target of each value of a column: of identifiers, amounts and names, which are too many for an input each.

Of a column of more values than get inputs, a network sees little: pieces mix up neighbours that may have nothing in
common, as two customers or two places, and rare levels are all "other". What there is to learn of such a value is what
the target was in the other rows that have it. That mean, drawn towards the mean of all rows where these are few,
becomes one more number of the column, cut into pieces like any other.

A row of fit must not see its own target in its inputs. So the rows are dealt into ten parts, and each has the means of
the rows of the other nine; rows that are the same, target and all, are in one part, whatever their order. A column has
such a number only if the means, told so, explain a part of the target beyond the column's pieces, and only where the
target is one number: a real one, or two classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dnfnet.table.gain import Target
from dnfnet.table.pieces import encode_pieces, measure_pieces, piece_names
from dnfnet.table.scaling import Floats
from dnfnet.table.schema import Column, Scale
from dnfnet.table.single_values import MOST_CODES
from dnfnet.table.values import Values, numeric_values
from dnfnet.table.weights import row_weights

Reader = Callable[[], Values]
PARTS = 10
# A mean of so many rows counts as much as the mean of all.
PRIOR_ROWS = 3.0
# Of the target's variance, or what chance gives with four standard errors.
LEAST_GAIN = 0.035
LEAST_SQUARED_ERRORS = 16.0
# Levels without an input of their own must fill this share of a category's rows.
LEAST_RARE = 0.5
# So many rows of a number must share it with others.
LEAST_SHARED = 0.1
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class ValueMeans:
    """The mean target of each value, as the difference from the mean of all rows.

    Attributes
    ----------
    means : ndarray
        One for each value.
    numbers : ndarray
        The values of a numeric column, in increasing order.
    levels : tuple of str
        Those of a category, in the order of their texts.
    """

    means: Floats
    numbers: Floats
    levels: tuple[str, ...] = ()

    def look_up(self, values: Values) -> Floats:
        """The mean of each row's value; 0, the mean of all, where it is missing or new."""
        slots = self.slots(values)
        return np.where(slots < 0, 0.0, self.means[slots])

    def slots(self, values: Values) -> NDArray[np.intp]:
        """The place of each row's value among these; -1 where it is none of them."""
        if self.levels:
            of_level = np.array([*(self._slot_of.get(level, -1) for level in values.levels), -1])  # code -1: missing
            codes = values.data if values.kind == "category" else np.full(len(values.data), -1)
            return of_level[codes]
        places = np.minimum(np.searchsorted(self.numbers, values.data), len(self.numbers) - 1)
        return np.where(self.numbers[places] == values.data, places, -1)

    @cached_property
    def _slot_of(self) -> dict[str, int]:
        return {level: i for i, level in enumerate(self.levels)}

    def is_sound(self) -> bool:
        """Whether the parts agree, as they may not in a file that somebody edited."""
        keys = self.levels or tuple(self.numbers.tolist())
        arrays = (self.means, self.numbers)
        plain = all(array.dtype == np.float64 and array.ndim == 1 and np.isfinite(array).all() for array in arrays)
        texts = all(isinstance(level, str) for level in self.levels) and not (self.levels and len(self.numbers))
        return plain and texts and 0 < len(keys) == len(self.means) and list(keys) == sorted(set(keys))


def add_value_means(
    columns: Sequence[Column],
    scales: Sequence[list[Scale]],
    read: Sequence[Reader],
    weights: Floats | None,
    target: Target | None,
    pieces: int,
) -> tuple[list[Column], list[list[Scale]], dict[int, ValueMeans]]:
    """The fitted columns with the inputs of means, where these tell enough, and the means by number of column."""
    columns, scales = list(columns), list(scales)
    means: dict[int, ValueMeans] = {}
    number = _number(target)
    chosen = [] if number is None else [i for i, c in enumerate(columns) if _may_have_means(c, read[i], weights)]
    if number is None or not chosen:
        return columns, scales, means
    rows = _RowsOfFit.choose(number, weights, read)
    for i in chosen:
        column, values = columns[i], read[i]()
        measured, told = _measure(values, rows), np.zeros(len(number))
        rows.hold_out(measured.slots(values), told)
        known = ~values.missing
        told, mass = told[known], rows.weights[known]
        if _tell(told, rows.target[known], mass, _pieces(values.data[known], scales[i][: sum(column.pieces)])):
            own = measure_pieces(told, mass, pieces)
            inputs = (*column.inputs, *piece_names(f"mean target by {column.name}", own))
            columns[i] = replace(column, inputs=inputs, n_mean_pieces=len(own))
            scales[i], means[i] = [*scales[i], *own], measured
    return columns, scales, means


def encode_value_means(
    columns: Sequence[Column],
    scales: Sequence[Sequence[Scale]],
    means: Mapping[int, ValueMeans],
    read: Sequence[Reader],
    sample_weight: Any,
    target: Target | None,
    out: NDArray[np.float32],
) -> None:
    """Write the pieces of the means into their places of ``out``; with a target, those of rows of fit.

    A row of fit has the means of the rows of other parts, a row of weight 0 those of all.
    """
    starts = np.cumsum([0, *(column.n_inputs for column in columns)])
    # Rows of other classes than fit had must not undo the holding out.
    of_fit = None if target is None else _RowsOfFit.choose(_one_number(target), sample_weight, read)
    for i, own in means.items():
        values, place = read[i](), columns[i].mean_inputs
        told = own.look_up(values)
        if of_fit is not None:
            of_fit.hold_out(own.slots(values), told)
        told[values.missing] = np.nan
        encode_pieces(told, scales[i][place], out[:, starts[i] + place.start : starts[i] + place.stop])


def means_state(means: Mapping[int, ValueMeans]) -> tuple[dict[str, list[str]], dict[str, NDArray[Any]]]:
    """The levels of the means by number of column, for JSON, and arrays."""
    arrays = {f"means.{i}": own.means for i, own in means.items()}
    arrays |= {f"mean_values.{i}": own.numbers for i, own in means.items()}
    return {str(i): list(own.levels) for i, own in means.items()}, arrays


def read_means(
    columns: Sequence[Column], levels: Mapping[str, Sequence[str]], arrays: Mapping[str, NDArray[Any]]
) -> dict[int, ValueMeans]:
    """The means of what `means_state` gave; a ValueError, KeyError or TypeError if they are not sound."""
    means = {}
    for i, column in enumerate(columns):
        if column.n_mean_pieces:
            means[i] = ValueMeans(arrays[f"means.{i}"], arrays[f"mean_values.{i}"], tuple(levels[str(i)]))
            if not means[i].is_sound() or bool(means[i].levels) != (column.kind == "category"):
                raise ValueError(f"means of {column.name!r}")
    return means


def deal(columns: Iterable[Values]) -> NDArray[np.intp]:
    """The part of each row of a table, told by what is in it and by nothing else.

    Examples
    --------
    >>> from dnfnet.table.values import numeric_values
    >>> deal([numeric_values(np.array(column), "") for column in ([1.0, 3.0, 1.0], [2.0, 4.0, 2.0])]).tolist()
    [3, 1, 3]
    """
    mixed = np.zeros(1, dtype=np.uint64)
    for values in columns:
        mixed = (mixed ^ _bits(values)) * _ODD  # whole numbers wrap around
        mixed ^= mixed >> np.uint64(29)
    return ((mixed * _ODD) >> np.uint64(33)).astype(np.intp) % PARTS


def _bits(values: Values) -> NDArray[np.uint64]:
    """64 bits of each cell; the same of equal cells."""
    if values.kind == "category":
        of_level = [*(crc32(level.encode("utf-8", "surrogatepass")) for level in values.levels), 0]
        return np.array(of_level, dtype=np.uint64)[values.data]
    if values.kind == "datetime":
        return values.data.view(np.uint64)
    return np.where(np.isnan(values.data), np.nan, values.data + 0.0).view(np.uint64)  # one NaN, and one 0


@dataclass(frozen=True, eq=False)
class _RowsOfFit:
    """What the means are made of: the target, the weight and the part of each row of fit, and which rows these are."""

    target: Floats
    weights: Floats
    parts: NDArray[np.intp]
    chosen: NDArray[np.bool_] | slice

    @classmethod
    def choose(cls, target: Floats, sample_weight: Any, read: Sequence[Reader]) -> _RowsOfFit:
        """The rows of a table whose weight is not 0."""
        rows, weights = row_weights(sample_weight, len(target))
        chosen = slice(None) if rows is None else rows
        parts = deal(chain([numeric_values(target, "")], (values() for values in read)))
        weights = np.ones(len(target[chosen])) if weights is None else weights
        return cls(target[chosen], weights, parts[chosen], chosen)

    def means(self, slots: NDArray[np.intp], n: int) -> Floats:
        """The means of the rows of each of ``n`` slots; -1 is none of them."""
        return self._means(*self._totals(slots, slots >= 0, n))

    def hold_out(self, slots: NDArray[np.intp], told: Floats) -> None:
        """Replace, in the means of all rows of a table, those of these rows by the means of other parts."""
        slots = slots[self.chosen]
        n, known = int(slots.max(initial=-1)) + 1, slots >= 0
        place = self.parts * n + slots
        sums, mass = (total.reshape(PARTS, n) for total in self._totals(place, known, PARTS * n))
        means = self._means(sums.sum(axis=0) - sums, mass.sum(axis=0) - mass)
        own = np.zeros(len(slots))
        own[known] = means.ravel()[place[known]]
        told[self.chosen] = own

    def _totals(self, place: NDArray[np.intp], known: NDArray[np.bool_], n: int) -> tuple[Floats, Floats]:
        place, weights = place[known], self.weights[known]
        sums, mass = np.bincount(place, weights * self.target[known], n), np.bincount(place, weights, n)
        return sums.astype(np.float64), mass.astype(np.float64)  # of no rows they are whole numbers

    def _means(self, sums: Floats, mass: Floats) -> Floats:
        # The mean of all is taken off sums, not rows: sums of float32 are exact, and thus two rows are one of weight 2.
        return (sums - mass * np.average(self.target, weights=self.weights)) / (mass + PRIOR_ROWS)


def _measure(values: Values, rows: _RowsOfFit) -> ValueMeans:
    """The means of a column's finite values."""
    keys = np.unique(values.data[np.isfinite(values.data) if values.kind == "numeric" else ~values.missing])
    numbers, levels = keys.astype(np.float64), ()
    if values.kind == "category":
        numbers, levels = np.empty(0), tuple(values.levels[i] for i in keys)
    slots = ValueMeans(np.zeros(len(keys)), numbers, levels).slots(values)
    return ValueMeans(rows.means(slots, len(keys)), numbers, levels)


def _pieces(values: Floats, scales: Sequence[Scale]) -> NDArray[np.float32]:
    """The pieces of numbers; of a category there are none."""
    pieces = np.empty((len(values), len(scales)), dtype=np.float32)
    encode_pieces(values, scales, pieces)
    return pieces


def _tell(means: Floats, target: Floats, weights: Floats, others: NDArray[np.float32]) -> bool:
    """Whether the means explain enough of the target that a line over the other inputs does not."""
    plane = np.hstack([np.ones((len(means), 1)), others])
    both = np.column_stack([target, means])
    weighed = plane * weights[:, None]
    fitted = np.linalg.lstsq(weighed.T @ plane, weighed.T @ both, rcond=None)[0]
    rest, beyond = (both - plane @ fitted).T
    total = weights @ (target - np.average(target, weights=weights)) ** 2
    product, size = weights @ (rest * beyond), weights @ beyond**2
    if not (product > 0 and size > 0 and total > 0):
        return False
    return bool(product**2 / size / total >= max(LEAST_GAIN, LEAST_SQUARED_ERRORS / weights.sum()))


def _number(target: Target | None) -> Floats | None:
    """A real target, or 0 and 1 of two classes; ``None`` of any other."""
    if target is None or (target.dtype.kind == "i" and target.max() > 1) or (target.ndim == 2 and target.shape[1] > 1):
        return None
    return _one_number(target)


def _one_number(target: Target) -> Floats:
    return target.reshape(len(target), -1)[:, 0].astype(np.float64)


def _may_have_means(column: Column, read: Reader, weights: Floats | None) -> bool:
    """Whether a fitted column has more values than get inputs."""
    if column.kind == "category":
        values, known = read(), set(column.levels)
        rare = np.array([*(level not in known for level in values.levels), False])  # code -1: missing
        return bool(np.average(rare[values.data], weights=weights) >= LEAST_RARE)
    if column.kind != "numeric" or not column.pieces:
        return False
    data = read().data
    counts = np.unique(data[np.isfinite(data)], return_counts=True)[1]
    # Measurements are mostly alone with their value, and then have no others to tell of.
    return len(counts) > MOST_CODES and counts[counts > 1].sum() >= LEAST_SHARED * counts.sum()
