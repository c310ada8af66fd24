"""What a network learns from, and what it is stopped by.

The groups of formulas of a network are members of an ensemble that learn independently, so each can set other rows
aside. Then every row is learned from by most of the members, and what stops the training is the score of the others.
In a small table that is worth more than the score of all members on few rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dnfnet.estimators.merging import distinct, first_of_each
from dnfnet.estimators.rows import Rows
from dnfnet.estimators.split import split_in_turns, split_kinds, units_of


def hold_out(
    kinds: NDArray[np.intp], fraction: float, n_members: int, random: np.random.RandomState, strata: NDArray | None
) -> NDArray[np.bool_]:
    """Draw the rows that each member of a network sets aside, ``(rows, members)``; few rows of a kind go together."""
    if n_members == 1 or not fraction:
        return split_kinds(kinds, fraction, random, strata)[:, np.newaxis]
    unit, classes = units_of(kinds, fraction, strata)
    return split_in_turns(classes, fraction, n_members, random)[unit]


def parts_of(
    rows: Rows, held_out: Iterable[NDArray[np.bool_]], kinds: NDArray[np.intp] | None, given: Rows | None
) -> Iterator[tuple[Rows, Rows]]:
    """For each network the rows that its members learn from and those to stop by, which may be ``given``.

    Rows of one of the ``kinds`` are merged.
    """
    for held in held_out:
        train = _part(rows, ~held, kinds)
        yield train, _part(rows, held, kinds) if given is None else given


def _part(rows: Rows, counts: NDArray[np.bool_], kinds: NDArray[np.intp] | None) -> Rows:
    """The rows that count for some member."""
    chosen = np.asarray(counts.any(axis=1))
    part, counts = rows.take(chosen), counts[chosen]
    if kinds is not None:
        alike = distinct(np.column_stack([kinds[chosen], counts]))
        part, counts = part.merged(alike), counts[first_of_each(alike)]
    return part if counts.shape[1] == 1 else replace(part, members=counts)
