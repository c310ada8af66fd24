"""Which encoded inputs depend on one place of one column, and between which two numbers each of them goes.

Of a number's pieces, all before one are at their high ends and all after it at their low ends; of single values, and of
the levels of a category, one at most is at its high end. A network that knows this need not multiply them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dnfnet.table.schema import Column, Scale


class Run(NamedTuple):
    """Consecutive encoded inputs."""

    first: int
    n: int
    kind: Literal["pieces", "values"]


def runs_of(columns: Sequence[Column], scales: Sequence[Sequence[Scale]]) -> tuple[list[Run], NDArray[np.float32]]:
    """The runs of all columns in their order, and the low and the high end of each input: (2, inputs).

    The ends are to the bit what the encoding gives; those of an input outside of runs are 0 and 1.
    """
    ends = np.array([[0.0], [1.0]], dtype=np.float32).repeat(sum(column.n_inputs for column in columns), axis=1)
    runs, start = [], 0
    for column, own in zip(columns, scales, strict=True):
        for first, n, kind in _column_runs(column):
            place = slice(start + first, start + first + n)
            if column.kind != "category" or first >= column.n_own_inputs:
                ends[:, place] = np.array([_ends(scale) for scale in own[first : first + n]]).T
            if n > 1 and (ends[0, place] < ends[1, place]).all():
                runs.append(Run(start + first, n, kind))
        start += column.n_inputs
    return runs, ends


def numbers_of(columns: Sequence[Column]) -> NDArray[np.int64]:
    """Which number each input is a part of, counted over all columns: -1 for what says a value or a level by itself."""
    numbers = np.full(sum(column.n_inputs for column in columns), -1)
    count, start = 0, 0
    for column in columns:
        for place in (*column.number_inputs, column.mean_inputs):
            numbers[start + place.start : start + place.stop] = count
            count += place.stop > place.start
        start += column.n_inputs
    return numbers


def _column_runs(column: Column) -> list[Run]:
    means = [Run(column.n_own_inputs, column.n_mean_pieces, "pieces")] if column.n_mean_pieces else []
    return _own_runs(column) + means


def _own_runs(column: Column) -> list[Run]:
    if column.kind == "category":
        return [Run(0, column.n_own_inputs, "values")]
    if not column.pieces:
        return []
    singles = column.single_value_inputs
    pieces = [Run(own.start, own.stop - own.start, "pieces") for own in column.number_inputs]
    return [*pieces, Run(singles.start, column.n_single_values, "values")] if column.n_single_values else pieces


def _ends(scale: Scale) -> tuple[float, float]:
    return -scale.centre / scale.deviation, (1 - scale.centre) / scale.deviation
