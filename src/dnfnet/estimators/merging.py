"""Rows that occur more than once, as one row with a weight.

A table that fits into one batch has a loss that does not depend on the order of its rows, nor on whether a row stands
there twice or has weight two. Rounding does depend on it, and hundreds of epochs make a different model of that. So
such a table is brought into one canonical form first: distinct rows in a fixed order, with the sum of their weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dnfnet.table import Source
from dnfnet.table.values import Values


def distinct_rows(table: Source, target: NDArray) -> NDArray[np.intp]:
    """For each row the number of its kind; the numbering depends on what the rows hold, not on their order."""
    names = table.names or [f"x{i}" for i in range(table.shape[1])]
    columns = [_ranks(table.values(i, name)) for i, name in enumerate(names)]
    targets = [_inverse(column) for column in target.reshape(len(target), -1).T]
    return np.unique(np.column_stack([*columns, *targets]), axis=0, return_inverse=True)[1].reshape(-1)


def _ranks(values: Values) -> NDArray[np.intp]:
    """Whole numbers in the order of a column's values, the missing ones together."""
    if values.kind != "category":
        return _inverse(values.data)
    ranks = np.empty(len(values.levels) + 1, dtype=np.intp)
    ranks[np.argsort(np.array(values.levels, dtype=object))] = np.arange(len(values.levels))
    ranks[-1] = -1  # the code of a missing value is -1
    return ranks[values.data]


def _inverse(column: NDArray) -> NDArray[np.intp]:
    return np.unique(column, return_inverse=True)[1].reshape(-1)


def first_of_each(kinds: NDArray[np.intp]) -> NDArray[np.intp]:
    """One row of each kind, in the order of the kinds."""
    return np.unique(kinds, return_index=True)[1]


def total_weights(kinds: NDArray[np.intp], weight: NDArray | None) -> NDArray[np.float64]:
    """The weight of all rows of each kind, in the order of the kinds."""
    return np.bincount(_inverse(kinds), weights=weight).astype(np.float64)
