"""What a network learns from, and what it is stopped by.

The groups of formulas of a network are members of an ensemble that learn independently, so each can set other rows
aside. Then every row is learned from, by most of the members, and the others predict it as if it were new: what stops
the training is their score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dnfnet.estimators.merging import distinct, first_of_each
from dnfnet.estimators.rows import Rows
from dnfnet.estimators.split import split_kinds

# Enough to stop by, of the rows that some members of many set aside: scoring them all would take a quarter of the time.
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
    """Draw the rows that each member of a network sets aside; rows of a kind are as in `split_kinds`."""
    members = range(n_members if fraction > 0 else 1)
    by_member = np.column_stack([split_kinds(kinds, fraction, random, strata) for _ in members])
    scored = np.asarray(by_member.any(axis=1))
    if len(members) > 1 and scored.sum() > SCORED_ROWS:
        chosen = random.choice(np.flatnonzero(scored), SCORED_ROWS, replace=False)
        scored = np.zeros(len(kinds), dtype=bool)
        scored[chosen] = True
    return HeldOut(by_member, scored)


def parts_of(
    rows: Rows, held_out: Iterable[HeldOut], kinds: NDArray[np.intp] | None, given: Rows | None
) -> Iterator[tuple[Rows, Rows]]:
    """For each network the rows that its members learn from and those to stop by, which may be ``given``.

    Where a network has several members, the rows have a weight for each. Rows of one of the ``kinds`` are merged.
    """
    for held in held_out:
        train = _part(rows, ~held.unseen, ~held.by_member, kinds)
        yield train, _part(rows, held.scored, held.by_member, kinds) if given is None else given


def _part(rows: Rows, chosen: NDArray[np.bool_], counts: NDArray[np.bool_], kinds: NDArray[np.intp] | None) -> Rows:
    part, counts = rows.take(chosen), counts[chosen]
    if kinds is not None:
        alike = distinct(np.column_stack([kinds[chosen], counts]))
        part, counts = part.merged(alike), counts[first_of_each(alike)]
    return part if counts.shape[1] == 1 else part.for_members(counts)
