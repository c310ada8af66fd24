"""Numbers that stand for themselves: an identifier, a code or a price with its cents is no mere measurement.

A column of whole numbers with not too many distinct values gets, after its pieces, an input for each frequent value:
1 in the rows that have it and 0 in the others, then standardised. A literal over pieces singles out a value at best by
the difference of two of them; over these inputs by one. Rare values, of less than a tenth of the rows, are divided by
the same deviation: by their own, their inputs were so large that a step of training learns such a row by heart.

Where the target is known, a column of more values than its pieces tell apart has such inputs only if the values tell of
the target what finer pieces would not: those of a count or an age are measurements after all. A column of other numbers
must show eight times as much, and its frequent values must fill half of the rows: an amount that tells by its cents how
it was paid does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dnfnet.table.gain import Target, value_gain
from dnfnet.table.pieces import encode_pieces, measure_pieces, number_texts
from dnfnet.table.scaling import Floats, distinct_values
from dnfnet.table.schema import Scale

MOST_CODES = 512
LEAST_DEVIATION = 0.3
# The share of the target's variance that single values must explain beyond pieces as fine as these.
LEAST_GAIN = 0.006
LEAST_GAIN_OF_AMOUNTS = 0.05
FINE_PIECES = 32
LARGEST = 1e15  # beyond it, nearly every number is whole


def measure_single_values(
    values: Floats, weights: Floats | None, target: Target | None, pieces: Sequence[Scale], *, min_rows: float
) -> list[Scale]:
    """Measure the values that get an input of their own, the frequent ones, in their order.

    A column with two values has none, because one piece tells them apart already, nor has one whose values add nothing
    to its pieces.
    """
    distinct, mass = distinct_values(values, weights)
    shares = mass / mass.sum()
    n_rows = float(len(values) if weights is None else weights.sum())
    # The tolerance is for sums of fractional weights.
    frequent = shares * n_rows >= min_rows * (1 - 1e-9)

    def gain(rows: NDArray[np.bool_] | slice, known: Floats) -> float:
        assert target is not None
        own = None if weights is None else weights[rows]
        # At least as fine as the column's own pieces, but too few to tell all values apart.
        finer = measure_pieces(values[rows], own, min(max(len(pieces), FINE_PIECES), len(known) // 2))
        encoded = np.empty((len(known), len(finer)), dtype=np.float32)
        encode_pieces(known, finer, encoded)
        return value_gain(values[rows], own, target[rows], encoded)

    if len(distinct) <= 2:
        return []
    if _are_codes(distinct):
        told_apart = len(distinct) <= len(pieces) + 1
        wanted = target is None or told_apart or gain(slice(None), distinct) >= LEAST_GAIN
    else:
        known = distinct[frequent]
        wanted = target is not None and len(known) > 2 and shares[frequent].sum() >= 0.5
        wanted = wanted and gain(np.isin(values, known), known) >= LEAST_GAIN_OF_AMOUNTS
    if not wanted:
        return []
    return [_measure(value, share) for value, share in zip(distinct[frequent], shares[frequent], strict=True)]


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
    return [f"{name} = {text}" for text in number_texts([scale.lower for scale in scales])]


def are_single_values(scales: Sequence[Scale]) -> bool:
    """Whether these are values in increasing order."""
    values = [scale.lower for scale in scales]
    return all(scale.lower == scale.upper for scale in scales) and values == sorted(set(values))


def _are_codes(distinct: Floats) -> bool:
    whole = (distinct == np.floor(distinct)).all() and max(abs(distinct[0]), abs(distinct[-1])) <= LARGEST
    return bool(whole) and len(distinct) <= MOST_CODES


def _measure(value: float, share: float) -> Scale:
    deviation = max(LEAST_DEVIATION, math.sqrt(share * (1 - share)))
    return Scale(centre=float(share), deviation=deviation, lower=float(value), upper=float(value))
