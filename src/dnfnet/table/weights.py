"""Sample weights: equal ones are none, zero is a row left out, two is the row twice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dnfnet.exceptions import InvalidTableError


def row_weights(sample_weight: Any, n_rows: int) -> tuple[NDArray[np.bool_] | None, NDArray[np.float64] | None]:
    """Split weights into the rows that count and how much each of them counts.

    Whole numbers are kept as counts of rows. Others are scaled to a mean of 1, because weights that sum to 1
    are as common as any, and the threshold for rare levels is in rows.

    Returns
    -------
    rows : ndarray of bool, or None for all rows
    weights : ndarray of the kept rows' weights, or None if they are equal
    """
    if sample_weight is None:
        return None, None
    weights = check_weights(sample_weight, n_rows)
    rows = weights > 0
    weights = weights[rows]
    kept = None if rows.all() else rows
    if (weights == weights[0]).all():
        return kept, None
    if (weights == np.floor(weights)).all() and weights.max() < 2**53:
        return kept, weights
    weights = weights / weights.max()  # first, so that huge ones do not overflow in the sum
    return kept, weights / weights.mean()


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Weights as an array; an error says what is wrong with them."""
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidTableError(f"sample_weight must hold numbers, a value per row, however: {error}") from error
    if weights.shape != (n_rows,):
        raise InvalidTableError(f"sample_weight must have shape ({n_rows},), however: {weights.shape}")
    bad = int((~np.isfinite(weights) | (weights < 0)).sum())
    if bad:
        raise InvalidTableError(f"sample_weight must be finite and not negative, which {bad} of {n_rows} are not.")
    if not weights.any():
        raise InvalidTableError("sample_weight is zero for every row: at least one must be positive.")
    return weights
