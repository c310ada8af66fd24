"""A number as its place in each of several pieces of its range.

The edges between the pieces are quantiles of the training rows, in which a value that fills more than a piece by itself
counts as one piece: of a column that is 0 in most rows, the others are cut as finely as if there were no 0. A piece
is 0 below its lower edge, 1 above its upper edge and linear between them, then standardised; so a step, a bend or a
plateau anywhere in the range is linear in the inputs, and the few largest values of a skewed column do not squeeze all
others into one spot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dnfnet.table.scaling import Floats, distinct_values, measure, standardise
from dnfnet.table.schema import Scale

MOVING_PIECES = 8
ROWS_AT_ONCE = 2**14  # few enough that their temporaries stay in the cache of a processor


def measure_pieces(values: Floats, weights: Floats | None, n_pieces: int) -> list[Scale]:
    """Cut the range of finite values, at least two of them distinct, into at most ``n_pieces`` pieces.

    Only the distinct values and their masses count, so that a row of weight 2 is exactly two rows.
    """
    distinct, mass = distinct_values(values, weights)
    edges = _quantiles(mass, n_pieces)
    smaller = 1 / piece_deviation(len(edges) - 1)
    pieces = [_measure_piece(distinct, mass, first, last) for first, last in pairwise(edges)]
    return [piece._replace(deviation=piece.deviation * smaller) for piece in pieces]


def piece_deviation(n_pieces: int) -> float:
    """How much each piece of a column varies: all of more than 8 together as much as 8.

    The pieces of a column rise and fall together, and a step of training moves the weight of each. Without this a
    column of many pieces would leave those of few inputs, the categories, behind.
    """
    return min(1.0, MOVING_PIECES / n_pieces)


def encode_pieces(values: Floats, scales: Sequence[Scale], out: NDArray[np.float32]) -> None:
    """Write the pieces of each value into its row of ``out``, NaN becoming the fill of each piece."""
    for start in range(0, len(values), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        for i, scale in enumerate(scales):
            out[rows, i] = standardise(_position(values[rows], scale.lower, scale.upper), scale)


def piece_names(name: str, scales: Sequence[Scale]) -> list[str]:
    """Name each piece by its edges, with as many digits as tell all edges apart, and three at least.

    Examples
    --------
    >>> piece_names("age", [Scale(lower=17, upper=28), Scale(lower=28, upper=28.5), Scale(lower=28.5, upper=90)])
    ['age 17 to 28', 'age 28 to 28.5', 'age 28.5 to 90']
    """
    texts = number_texts([scales[0].lower, *(scale.upper for scale in scales)])
    return [f"{name} {lower} to {upper}" for lower, upper in pairwise(texts)]


def number_texts(numbers: Sequence[float]) -> list[str]:
    """Write distinct numbers with as many digits as tell all of them apart, and three at least."""
    texts: list[str] = []
    for digits in range(3, 18):  # 17 digits tell any two numbers apart
        texts = [_rounded(number, digits) for number in numbers]
        if len(set(texts)) == len(texts):
            break
    return texts


def are_pieces(scales: Sequence[Scale]) -> bool:
    """Whether each piece begins where the one before it ends, and none is empty."""
    return all(scale.lower < scale.upper for scale in scales) and all(
        one.upper == two.lower for one, two in pairwise(scales)
    )


def _quantiles(mass: Floats, n_pieces: int) -> list[int]:
    """Positions of the quantiles 0, 1/n, ..., 1: the first with at least that share of the mass up to them."""
    if len(mass) <= n_pieces + 1:
        return list(range(len(mass)))
    reached = np.cumsum(_capped(mass, n_pieces))
    # The tolerance is for sums of fractional weights.
    wanted = np.arange(1, n_pieces) / n_pieces * reached[-1] * (1 - 1e-9)
    inner = np.searchsorted(reached, wanted).tolist()
    return sorted({0, *inner, len(mass) - 1})


def _capped(mass: Floats, n_pieces: int) -> Floats:
    """Lower the masses of the heaviest values until none is more than an n-th of all.

    Examples
    --------
    >>> _capped(np.array([94.0, 1.0, 2.0, 3.0]), n_pieces=3)
    array([3., 1., 2., 3.])
    """
    heavy = np.zeros(len(mass), dtype=bool)
    while True:
        limit = mass[~heavy].sum() / (n_pieces - heavy.sum())
        heavier = heavy | (mass > limit * (1 + 1e-9))
        if heavier.sum() in (heavy.sum(), n_pieces):
            return np.minimum(mass, limit)
        heavy = heavier


def _measure_piece(distinct: Floats, mass: Floats, first: int, last: int) -> Scale:
    """Measure the piece between two of the distinct values; all beyond it is as if at its edges."""
    lower, upper = float(distinct[first]), float(distinct[last])
    inside = mass[first : last + 1].copy()
    inside[0] += mass[:first].sum()
    inside[-1] += mass[last + 1 :].sum()
    place = _position(distinct[first : last + 1], lower, upper)
    return measure(place, inside)._replace(lower=lower, upper=upper)


def _position(values: Floats, lower: float, upper: float) -> Floats:
    """Place of each value between two edges: 0 up to the lower one, 1 from the upper one on."""
    unit = 1.0 if math.isfinite(upper - lower) else 2.0
    place = np.clip(values, lower, upper)
    if unit != 1.0:
        place /= unit
    place -= lower / unit
    with np.errstate(under="ignore"):
        place /= upper / unit - lower / unit
    return place


def _rounded(number: float, digits: int) -> str:
    """Write a number with so many digits, but never fewer than it has before the point."""
    exponent = int(f"{number:e}".partition("e")[2])
    if not -5 < exponent < 16:
        return f"{number:.{digits}g}"
    text = f"{number:.{max(0, digits - 1 - exponent)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
