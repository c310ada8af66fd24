"""Numbers to mean 0 and deviation 1, at any magnitude."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dnfnet.table.schema import Scale

# With n rows of equal weight no standardised value of fit exceeds sqrt(n - 1), so this bound leaves training
# data alone. It keeps a wild value at prediction time finite in float32, also after the network squares it.
LIMIT = 1e6

Floats = NDArray[np.float64]


def measure(values: Floats, weights: Floats | None) -> Scale:
    """Weighted mean, population deviation and extremes of finite values."""
    lower, upper = float(values.min()), float(values.max())
    if lower == upper:  # not "deviation is 0": the mean of equal numbers may be off by a rounding
        return Scale(1.0, lower, 1.0, lower, upper)
    unit = math.ldexp(1.0, math.frexp(max(abs(lower), abs(upper)))[1] - 1)
    scaled = values / unit
    centre = float(np.average(scaled, weights=weights))
    deviation = math.sqrt(np.average((scaled - centre) ** 2, weights=weights))
    return Scale(unit, centre, deviation or 1.0, lower, upper)


def standardise(values: Floats, scale: Scale) -> Floats:
    """Standardise numbers, NaN becoming ``scale.fill``, which is the mean.

    What was constant in fit stays 0: the network never learned what another value means.
    """
    if scale.lower == scale.upper:
        return np.zeros(len(values))
    with np.errstate(over="ignore"):
        encoded = (values / scale.unit - scale.centre) / scale.deviation
    np.clip(encoded, -LIMIT, LIMIT, out=encoded)
    encoded[np.isnan(encoded)] = scale.fill
    return encoded


def distinct_values(values: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """Distinct values in order, and how much of the rows each of them is."""
    if weights is None:
        distinct, mass = np.unique(values, return_counts=True)
    else:
        distinct, inverse = np.unique(values, return_inverse=True)
        mass = np.bincount(inverse, weights)
    distinct = distinct + 0.0  # -0.0 and 0.0 are one value, whichever came first
    return distinct, _reduced(mass.astype(np.float64))


def _reduced(mass: Floats) -> Floats:
    """Divide counts by what they have in common, so that every row twice is every row once to the last bit."""
    if mass.max() >= 2**53 or not (mass == np.floor(mass)).all():
        return mass
    return mass / max(1, int(np.gcd.reduce(mass.astype(np.int64))))
