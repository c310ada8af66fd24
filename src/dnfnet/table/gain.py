"""How much the single values of a column tell of the target beyond what its other inputs tell."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dnfnet.table.scaling import Floats

# Numbers of classes, one for each row, or real numbers: (rows,) or (rows, outputs).
Target = NDArray[np.int64] | Floats


def value_gain(values: NDArray, weights: Floats | None, target: Target, others: NDArray[np.floating]) -> float:
    """The share of the target's variance that lies between values, not in other inputs, and is not to be had by chance.

    Chance is what a target that knows nothing of the values would give, and two standard errors of that. Weights count
    as copies of rows if they are whole numbers, else not at all: a weight of 1.7 is no more evidence than one of 1.

    Parameters
    ----------
    values, weights, target
        A column, the weights of its rows and what is to be predicted.
    others : ndarray of shape (distinct values, inputs)
        The other inputs of each distinct value, in order: its pieces.

    Examples
    --------
    >>> values = np.repeat(np.arange(9.0), 30)
    >>> odd, line = values % 2, np.arange(9.0)[:, None]
    >>> round(value_gain(values, None, odd, line), 2), round(value_gain(values, None, values, line), 2)
    (1.0, 0.0)
    """
    slot = np.unique(values, return_inverse=True)[1].ravel()
    if weights is None or (weights != np.round(weights)).any():
        weights = np.ones(len(values))
    mass = np.bincount(slot, weights).astype(np.float64)
    means, products = _means(slot, weights, target, mass)
    centred = means - np.average(means, axis=0, weights=mass)
    total = np.trace(products) - (mass.sum() * np.average(means, axis=0, weights=mass) ** 2).sum()
    root = np.sqrt(mass)[:, None]
    plane = np.hstack([np.ones((len(mass), 1)), others])
    fitted, _, rank, _ = np.linalg.lstsq(root * plane, root * centred, rcond=None)
    spare, free = len(mass) - rank, mass.sum() - len(mass)
    if free <= 0 or not total > 0:
        return 0.0
    beyond = (mass[:, None] * (centred - plane @ fitted) ** 2).sum()
    noise = (products - means.T @ (mass[:, None] * means)) / free
    # The noise within values is known only so well itself.
    error = math.sqrt(2 * spare * (1 + spare / free)) * np.linalg.norm(noise)
    return float((beyond - spare * np.trace(noise) - 2 * error) / total)


def _means(slot: NDArray[np.intp], weights: Floats, target: Target, mass: Floats) -> tuple[Floats, Floats]:
    """The mean target of each value, classes as 0 or 1 each, and the weighted sums of products of outputs."""
    n = len(mass)
    if target.dtype.kind == "i":
        classes = int(target.max()) + 1
        sums = np.bincount(slot * classes + target, weights, minlength=n * classes).reshape(n, classes)
        return sums / mass[:, None], np.diag(sums.sum(axis=0))
    outputs = target.reshape(len(target), -1).astype(np.float64)
    sums = np.stack([np.bincount(slot, weights * output) for output in outputs.T], axis=1)
    return sums / mass[:, None], outputs.T @ (weights[:, None] * outputs)
