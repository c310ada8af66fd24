"""Which columns of a wide table tell of the target at all.

Most of hundreds of columns are often useless, and each of them is one more input by which every literal can learn the
training rows by heart. So of more than 128 columns only those stay that, by themselves, tell of the target what chance
would not give; and if these are fewer, the 128 that tell most. What a column tells is how much of the target's variance
lies between the ranges of its numbers, or between its levels; missing values are a range of their own.

A column that tells nothing but together with another one may be lost by that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dnfnet.table.gain import Target, value_gain
from dnfnet.table.pieces import measure_pieces
from dnfnet.table.scaling import Floats
from dnfnet.table.sources import Source
from dnfnet.table.values import Values
from dnfnet.table.weights import row_weights

MANY_COLUMNS = 128
RANGES = 16


def telling_columns(table: Source, sample_weight: Floats | None, target: Target) -> NDArray[np.intp]:
    """Positions of the columns that stay, in their order: of up to 128 all.

    Parameters
    ----------
    table : Source
        The training rows.
    sample_weight : ndarray of shape (rows,) or None
        As of `TableEncoder.fit`.
    target : ndarray of shape (rows,) or (rows, outputs)
    """
    n_columns = table.shape[1]
    if n_columns <= MANY_COLUMNS:
        return np.arange(n_columns)
    rows, weights = row_weights(sample_weight, table.shape[0])
    if rows is not None:
        table, target = table.filter(rows), target[rows]
    names = table.names or [f"x{i}" for i in range(n_columns)]
    gains = np.array([_gain(table.values(i, name), weights, target) for i, name in enumerate(names)])
    n_kept = max(MANY_COLUMNS, int((gains > 0).sum()))
    return np.sort(np.argsort(-gains, kind="stable")[:n_kept])  # of equal ones those that come first stay


def _gain(values: Values, weights: Floats | None, target: Target) -> float:
    """What a column tells of the target; a date, which has several parts, is taken to tell."""
    if values.kind == "datetime":
        return np.inf
    groups = values.data if values.kind == "category" else _ranges(values.data, weights)
    n_groups = len(np.unique(groups))
    gain = value_gain(groups, weights, target, np.empty((n_groups, 0))) if n_groups > 1 else 0.0
    return gain or -np.inf  # exactly 0 if there was nothing to compare: one group, or a group for each row


def _ranges(numbers: Floats, weights: Floats | None) -> NDArray[np.intp]:
    """The range of each number between quantiles; infinite ones are in the outermost, missing ones in their own."""
    finite = np.isfinite(numbers)
    known = numbers[finite]
    if not len(known) or known.min() == known.max():
        return finite.astype(np.intp)
    pieces = measure_pieces(known, None if weights is None else weights[finite], RANGES)
    edges = np.array([pieces[0].lower, *(piece.upper for piece in pieces)])
    return np.searchsorted(edges, np.clip(numbers, edges[0], edges[-1]))
