"""What validation rows say of a change to a trained network: a mean, and how sure it is."""

from __future__ import annotations

import math

from torch import Tensor

LEAST_ROWS = 50
STANDARD_ERRORS = 1.0


def gain(before: Tensor, after: Tensor, weight: Tensor | None) -> float:
    """How much lower the mean loss is after a change; 0 unless by more than a standard error.

    Parameters
    ----------
    before, after : Tensor of shape (rows,)
        Losses of the same rows; of fewer than 50 there is never a gain.
    weight : Tensor of shape (rows,), optional
    """
    if len(before) < LEAST_ROWS:
        return 0.0
    mean, error = _mean(before - after, weight)
    return mean if mean > STANDARD_ERRORS * error else 0.0


def weighted_mean(values: Tensor, weight: Tensor | None) -> float:
    """The mean of rows that have weights, or none."""
    return _mean(values, weight)[0]


def _mean(values: Tensor, weight: Tensor | None) -> tuple[float, float]:
    """Weighted mean and its standard error."""
    share = values.new_ones(len(values)) if weight is None else weight.to(values)
    share = share / share.sum()
    mean = (share * values).sum()
    return mean.item(), math.sqrt((share * (values - mean).square()).sum().item() / len(values))
