"""The internal validation split, for one learner or for several that take turns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def validation_split(
    n_rows: int, fraction: float, random: np.random.RandomState, labels: NDArray | None = None
) -> NDArray[np.bool_]:
    """Which rows to stop by.

    With ``labels`` every class gives its share, and no class gives its last row: a class with one member stays in
    the training part. In a table too small to spare a row, none is chosen.
    """
    groups = np.zeros(n_rows, dtype=np.intp) if labels is None else np.unique(labels, return_inverse=True)[1]
    groups = groups.reshape(n_rows)
    return _shuffled_ranks(groups, random) < _shares(np.bincount(groups), fraction)[groups]


def split_kinds(
    kinds: NDArray[np.intp], fraction: float, random: np.random.RandomState, labels: NDArray | None = None
) -> NDArray[np.bool_]:
    """Which rows to stop by, where rows of one kind are the same row repeated.

    Kinds of few rows go to one side as a whole, as if they were one row with a weight. A kind of so many rows that its
    share is one row at least gives that share: held out as a whole, it would be unknown to the training part.
    """
    _, first, inverse, counts = np.unique(kinds, return_index=True, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    many = counts * fraction >= 1
    chosen = np.zeros(len(kinds), dtype=bool)
    few = np.flatnonzero(~many)
    whole = np.zeros(len(counts), dtype=bool)
    whole[few] = validation_split(len(few), fraction, random, None if labels is None else labels[first[few]])
    shares = np.where(many, np.round(counts * fraction), np.where(whole, counts, 0))
    chosen[_ranks(inverse) < shares[inverse]] = True
    return chosen


def units_of(
    kinds: NDArray[np.intp], fraction: float, labels: NDArray | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each row the number of its unit, what goes to one side as a whole; and the class of each unit.

    Rows of a kind are a unit. Those of a kind so frequent that its share is one row at least are a unit each, and the
    kind is a class of its own.
    """
    _, inverse, counts = np.unique(kinds, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    alone = (counts * fraction >= 1)[inverse]
    classes = np.zeros(len(kinds), dtype=np.intp)
    if labels is not None:
        classes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    units = np.where(alone, len(counts) + np.arange(len(kinds)), inverse)
    _, first, unit = np.unique(units, return_index=True, return_inverse=True)
    of_unit = np.where(alone, len(kinds) + inverse, classes)[first]
    return unit.reshape(-1), np.unique(of_unit, return_inverse=True)[1].reshape(-1)


def split_in_turns(
    classes: NDArray[np.intp], fraction: float, n_learners: int, random: np.random.RandomState
) -> NDArray[np.bool_]:
    """Which units of these classes each of several learners sets aside, ``(units, learners)``.

    The units of a class stand in random order on a circle, and a learner takes an arc of ``fraction``. The arcs start
    at even distances, so all units are taken equally often, give or take one, and none by all learners if there is a
    way. A learner that would take a whole class takes none of it.
    """
    sizes = np.bincount(classes)
    # Where a class's first unit stands: inside the arc of some learner, so that each class of two has a word in it.
    first = random.uniform(size=len(sizes)) * np.minimum(1, fraction * sizes)
    turn = random.randint(n_learners, size=len(sizes)) / n_learners
    places = (_shuffled_ranks(classes, random) + first[classes]) / sizes[classes] + turn[classes]
    taken = (places[:, np.newaxis] - np.arange(n_learners) / n_learners) % 1 < fraction
    small = np.flatnonzero((sizes * (1 - fraction) < 1)[classes])
    totals = np.zeros((len(sizes), n_learners), dtype=np.intp)
    np.add.at(totals, classes[small], taken[small])
    taken[small] &= (totals < sizes[:, np.newaxis])[classes[small]]
    return taken


def _shuffled_ranks(groups: NDArray[np.intp], random: np.random.RandomState) -> NDArray[np.intp]:
    """The rank of each row inside its group, in a random order."""
    order = random.permutation(len(groups))
    ranks = np.empty(len(groups), dtype=np.intp)
    ranks[order] = _ranks(groups[order])
    return ranks


def _ranks(groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """The rank of each row inside its group, in the order in which they stand."""
    by_group = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    ranks = np.empty(len(groups), dtype=np.intp)
    ranks[by_group] = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return ranks


def _shares(sizes: NDArray[np.intp], fraction: float) -> NDArray[np.intp]:
    """Rows that each class gives: its exact share rounded down, what is missing by largest remainder."""
    exact = sizes * fraction
    shares = np.floor(exact).astype(np.intp)
    missing = round(exact.sum()) - shares.sum()
    for group in np.argsort(shares - exact, kind="stable")[:missing]:
        shares[group] += 1
    if len(sizes) <= shares.sum():
        # Where there is room for it, every class has a word in when to stop.
        shares = np.maximum(shares, 1)
    return np.minimum(shares, np.maximum(sizes - 1, 0))
