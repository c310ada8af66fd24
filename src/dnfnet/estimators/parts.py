"""What a network learns from, and what it is stopped by.

The groups of formulas of a network are members of an ensemble that learn independently, so each can set other rows
aside. Then every row is learned from by most of the members, and what stops the training is the score of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dnfnet.estimators.merging import distinct, first_of_each
from dnfnet.estimators.rows import Rows
from dnfnet.estimators.split import evenly_chosen, split_in_turns, split_kinds, units_of

# Of the rows that some of many members set aside, this many or ``fraction`` are enough to stop by: to score them all
# would take a quarter of the time.
SCORED_ROWS = 4096


@dataclass(frozen=True)
class HeldOut:
    """Which rows each member sets aside, ``(rows, members)``, and the rows among them that score an epoch."""

    by_member: NDArray[np.bool_]
    scored: NDArray[np.bool_]

    @property
    def unseen(self) -> NDArray[np.bool_]:
        """The rows that no member learns from."""
        return np.asarray(self.by_member.all(axis=1))


def hold_out(
    kinds: NDArray[np.intp], fraction: float, n_members: int, random: np.random.RandomState, strata: NDArray | None
) -> HeldOut:
    """Draw the rows that each member of a network sets aside; few rows of a kind go together."""
    if n_members == 1 or not fraction:
        alone = split_kinds(kinds, fraction, random, strata)
        return HeldOut(alone[:, np.newaxis], alone)
    unit, classes = units_of(kinds, fraction, strata)
    by_member = split_in_turns(classes, fraction, n_members, random)
    scored = by_member.any(axis=1) & evenly_chosen(classes, max(fraction, SCORED_ROWS / len(classes)), random)
    return HeldOut(by_member[unit], scored[unit])


def parts_of(
    rows: Rows, held_out: Iterable[HeldOut], kinds: NDArray[np.intp] | None, given: Rows | None
) -> Iterator[tuple[Rows, Rows]]:
    """For each network the rows that its members learn from and those to stop by, which may be ``given``.

    Rows of one of the ``kinds`` are merged.
    """
    for held in held_out:
        train = _part(rows, ~held.unseen, ~held.by_member, kinds)
        yield train, _part(rows, held.scored, held.by_member, kinds) if given is None else given


def _part(rows: Rows, chosen: NDArray[np.bool_], counts: NDArray[np.bool_], kinds: NDArray[np.intp] | None) -> Rows:
    part, counts = rows.take(chosen), counts[chosen]
    if kinds is not None:
        alike = distinct(np.column_stack([kinds[chosen], counts]))
        part, counts = part.merged(alike), counts[first_of_each(alike)]
    return part if counts.shape[1] == 1 else replace(part, members=counts)
