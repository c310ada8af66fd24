"""Rows that occur more than once, as one row with a weight.

A table that fits into one batch has a loss that does not depend on the order of its rows, nor on whether a row stands
there twice or has weight two. Rounding does depend on it, and hundreds of epochs make a different model of that. So
such a table is brought into one canonical form first: distinct rows in a fixed order, with the sum of their weights.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from dnfnet.exceptions import TableWarning
from dnfnet.table import Source, TableEncoder


def distinct_rows(table: Source, target: NDArray, weight: NDArray | None) -> NDArray[np.intp]:
    """For each row the number of its kind; the numbering depends on what the rows hold, not on their order."""
    # Every level counts here, also one that is too rare to learn from.
    encoder = TableEncoder(datetimes="expand", max_levels=table.shape[0], min_level_rows=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        matrix = encoder.fit(table, weight).transform(table)
    columns = np.column_stack([matrix, target.reshape(len(target), -1)])
    return np.unique(columns, axis=0, return_inverse=True)[1].reshape(-1)


def first_of_each(kinds: NDArray[np.intp]) -> NDArray[np.intp]:
    """One row of each kind, in the order of the kinds."""
    return np.unique(kinds, return_index=True)[1]


def total_weights(kinds: NDArray[np.intp], weight: NDArray | None) -> NDArray[np.float64]:
    """The weight of all rows of each kind."""
    return np.bincount(kinds, weights=weight).astype(np.float64)
