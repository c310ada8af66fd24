"""VC dimensions of trees and DNF formulas (paper, Section 3 and Appendix B).

The bound on DNF formulas comes from Lemma 3.2.3 of Blumer, Ehrenfeucht, Haussler and Warmuth (1989): a union
of k sets of a class of VC dimension d has VC dimension below 2 d k log2(3k). The paper writes ``log`` without
a base; the lemma's proof needs the logarithm to base 2, so that is what stands here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, log2

from dnfnet.exceptions import InvalidParameterError


def vc_dim_trees(n: int, rank: int) -> int:
    """VC dimension of decision trees of rank at most ``rank`` on ``n`` Boolean variables (Theorem 1, Simon)."""
    _at_least(n=(n, 0), rank=(rank, 0))
    return sum(comb(n, i) for i in range(rank + 1))


def vc_bound_dnf(n: int, k: int) -> float:
    """Upper bound on the VC dimension of DNF formulas of ``k`` conjunctions on ``n`` variables (Theorem 2)."""
    _at_least(n=(n, 0), k=(k, 1))
    return 2.0 * (n + 1) * k * log2(3 * k)


def crossover(k: int, rank: int, n_max: int = 10**9) -> int | None:
    """Return the smallest ``n`` from which trees of ``rank`` have the larger VC dimension, or None.

    The ratio of the two grows with ``n`` once the trees' dimension grows faster than linearly, so the first
    ``n`` past the rank where the trees win is found by bisection. Rank 1 grows as slowly as the bound: None.
    """
    _at_least(k=(k, 1), rank=(rank, 0))

    def trees_win(n: int) -> bool:
        return vc_dim_trees(n, rank) > vc_bound_dnf(n, k)

    if rank < 2 or not trees_win(n_max):
        return None
    low, high = 0, n_max
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if trees_win(middle) else (middle, high)
    return high


def rank_of(children_left: Sequence[int], children_right: Sequence[int], root: int = 0) -> int:
    """Rank of a binary tree given as two child arrays, -1 marking a leaf as in scikit-learn.

    A leaf has rank 0; a node has the larger rank of its subtrees, or one more when the two are equal.
    """
    ranks: dict[int, int] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        left, right = children_left[node], children_right[node]
        if left == -1:
            ranks[stack.pop()] = 0
        elif left in ranks and right in ranks:
            a, b = ranks[left], ranks[right]
            ranks[stack.pop()] = a + 1 if a == b else max(a, b)
        else:
            stack += [child for child in (left, right) if child not in ranks]
    return ranks[root]


def _at_least(**values: tuple[int, int]) -> None:
    for name, (value, least) in values.items():
        if value < least:
            raise InvalidParameterError(f"{name} must be at least {least}, however: {name}={value}")
