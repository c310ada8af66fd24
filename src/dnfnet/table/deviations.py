"""How much each encoded input varies in the rows of fit, told by its scale alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dnfnet.table.pieces import piece_deviation
from dnfnet.table.schema import Column, Scale

# An input that is nearly always the same counts as if it varied as much as this.
LEAST = 0.01


def deviations_of(columns: Sequence[Column], scales: Sequence[Sequence[Scale]]) -> NDArray[np.float64]:
    """The deviation of each input, in the order of the inputs.

    Numbers have deviation 1, and their pieces less where there are many. An input that says whether a row has a level,
    a value or nothing at all varies by the share of such rows; of single values, divided by what the encoding divided
    by.
    """
    return np.array(
        [_deviation(column, own, i) for column, own in zip(columns, scales, strict=True) for i in range(len(own))]
    )


def _deviation(column: Column, scales: Sequence[Scale], i: int) -> float:
    scale, singles = scales[i], column.single_value_inputs
    if singles.start <= i < singles.stop:
        share, divided_by = scale.centre, scale.deviation
    elif i >= column.n_own_inputs:
        return piece_deviation(column.n_mean_pieces)
    elif column.kind in ("boolean", "category") or (column.has_indicator and i == column.n_own_inputs - 1):
        share, divided_by = scale.fill, 1.0
    else:
        return next(
            (piece_deviation(len(scales[own])) for own in column.number_inputs if own.start <= i < own.stop), 1.0
        )
    # A share of 0 is that of an indicator in a file of before it was kept.
    return max(LEAST, math.sqrt(share * (1 - share))) / divided_by if 0 < share < 1 else 1.0
