"""Whole numbers that stand for themselves: an identifier, a code or a grade is no measurement.

A whole-numbered column with not too many distinct values gets, after its pieces, an input for each frequent value: 1 in
the rows that have it and 0 in the others, then standardised. A literal over pieces singles out a value at best by the
difference of two of them; over these inputs by one. Rare values, of less than a tenth of the rows, are divided by the
same deviation: by their own, their inputs were so large that a step of training learns such a row by heart. And where
the target is known, a column of more values than its pieces tell apart has such inputs only if the values tell of the
target what the pieces do not: those of a count or an age are measurements after all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dnfnet.table.gain import Target, value_gain
from dnfnet.table.pieces import encode_pieces
from dnfnet.table.scaling import Floats, distinct_values
from dnfnet.table.schema import Scale

MOST_DISTINCT = 512
LEAST_DEVIATION = 0.3
# The share of the target's variance that single values must explain beyond the pieces.
LEAST_GAIN = 0.005
LARGEST = 1e15  # beyond it, nearly every number is whole


def measure_single_values(
    values: Floats, weights: Floats | None, target: Target | None, pieces: Sequence[Scale], *, min_rows: float
) -> list[Scale]:
    """Measure the values that get an input of their own, the frequent ones, in their order.

    A column of measurements (any value that is not whole, or too many distinct ones) has none, nor has one with two
    values, which one piece tells apart already, nor one whose values add nothing to its pieces.
    """
    distinct, mass = distinct_values(values, weights)
    whole = (distinct == np.floor(distinct)).all() and max(abs(distinct[0]), abs(distinct[-1])) <= LARGEST
    if not whole or not 2 < len(distinct) <= MOST_DISTINCT:
        return []
    if target is not None:
        encoded = np.empty((len(distinct), len(pieces)), dtype=np.float32)
        encode_pieces(distinct, pieces, encoded)
        if value_gain(values, weights, target, encoded.astype(np.float64)) < LEAST_GAIN:
            return []
    shares = mass / mass.sum()
    n_rows = float(len(values) if weights is None else weights.sum())
    # The tolerance is for sums of fractional weights.
    kept = shares * n_rows >= min_rows * (1 - 1e-9)
    return [_measure(value, share) for value, share in zip(distinct[kept], shares[kept], strict=True)]


def encode_single_values(values: Floats, scales: Sequence[Scale], out: NDArray[np.float32]) -> None:
    """Write the inputs of the single values; a missing value is at the mean of each."""
    if not scales:
        return
    known = np.array([scale.lower for scale in scales])
    centre, deviation = np.array([scale.centre for scale in scales]), np.array([scale.deviation for scale in scales])
    out[:] = -centre / deviation
    out[np.isnan(values)] = 0.0
    slot = np.minimum(np.searchsorted(known, values), len(known) - 1)
    hit = np.flatnonzero(known[slot] == values)
    out[hit, slot[hit]] = ((1 - centre) / deviation)[slot[hit]]


def single_value_names(name: str, scales: Sequence[Scale]) -> list[str]:
    """Name each input as the level of a category is named."""
    return [f"{name} = {scale.lower:.0f}" for scale in scales]


def are_single_values(scales: Sequence[Scale]) -> bool:
    """Whether these are values in increasing order."""
    values = [scale.lower for scale in scales]
    return all(scale.lower == scale.upper for scale in scales) and values == sorted(set(values))


def _measure(value: float, share: float) -> Scale:
    deviation = max(LEAST_DEVIATION, math.sqrt(share * (1 - share)))
    return Scale(centre=float(share), deviation=deviation, lower=float(value), upper=float(value))
