"""The internal validation split."""

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
    order = random.permutation(n_rows)
    groups = np.zeros(n_rows, dtype=np.intp) if labels is None else np.unique(labels, return_inverse=True)[1]
    groups = groups.reshape(n_rows)[order]
    # Rank of each shuffled row inside its class, so that a class's first rows are a random choice.
    by_class = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    rank = np.empty(n_rows, dtype=np.intp)
    rank[by_class] = np.arange(n_rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = np.empty(n_rows, dtype=bool)
    chosen[order] = rank < _shares(sizes, fraction)[groups]
    return chosen


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
    by_kind = np.argsort(inverse, kind="stable")
    rank = np.empty(len(kinds), dtype=np.intp)
    rank[by_kind] = np.arange(len(kinds)) - np.repeat(np.cumsum(counts) - counts, counts)
    shares = np.where(many, np.round(counts * fraction), np.where(whole, counts, 0))
    chosen[rank < shares[inverse]] = True
    return chosen


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
