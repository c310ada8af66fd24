"""Which literal feeds which conjunction, and which conjunction feeds which formula (paper, Appendix D.2)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class Layout:
    """The fixed wiring of a DNNF block.

    Formula ``i`` has ``conjunctions[i mod len(conjunctions)]`` conjunctions, and the ``j``-th conjunction of
    a formula has ``lengths[j mod len(lengths)]`` literals. Literals and conjunctions are numbered in that
    order, formula by formula, so every sum over them is a sum over consecutive runs: a reshape, never a
    product with an indicator matrix. An uneven split (a number of formulas that the cycle does not divide)
    just ends the cycle early.

    Examples
    --------
    >>> layout = Layout(n_formulas=4)
    >>> layout.literals_per_formula
    (24, 36, 48, 60)
    >>> layout.n_conjunctions, layout.n_literals
    (42, 168)
    """

    n_formulas: int
    conjunctions: tuple[int, ...] = (6, 9, 12, 15)
    lengths: tuple[int, ...] = (2, 4, 6)

    def __post_init__(self) -> None:
        object.__setattr__(self, "conjunctions", tuple(self.conjunctions))
        object.__setattr__(self, "lengths", tuple(self.lengths))
        if self.n_formulas < 1:
            raise ValueError(f"n_formulas must be at least 1, however: {self.n_formulas=}")
        for name in ("conjunctions", "lengths"):
            values = getattr(self, name)
            if not values or min(values) < 1:
                raise ValueError(f"{name} must be positive integers, at least one, however: {values=}")

    @cached_property
    def conjunctions_per_formula(self) -> tuple[int, ...]:
        """The number of conjunctions of each formula."""
        return _cycle(self.conjunctions, self.n_formulas)

    @cached_property
    def conjunction_lengths(self) -> tuple[int, ...]:
        """The number of literals of each conjunction, formula after formula."""
        per_formula = (_cycle(self.lengths, k) for k in self.conjunctions_per_formula)
        return tuple(itertools.chain.from_iterable(per_formula))

    @cached_property
    def literals_per_formula(self) -> tuple[int, ...]:
        """The number of literals of each formula."""
        return tuple(sum(_cycle(self.lengths, k)) for k in self.conjunctions_per_formula)

    @property
    def n_conjunctions(self) -> int:
        """The number of conjunctions of the whole block."""
        return sum(self.conjunctions_per_formula)

    @property
    def n_literals(self) -> int:
        """The number of literals of the whole block."""
        return sum(self.literals_per_formula)

    @cached_property
    def length_cycle(self) -> tuple[int, ...]:
        """The shortest cycle that ``conjunction_lengths`` repeats."""
        one_round = [_cycle(self.lengths, k) for k in self.conjunctions]
        return _shortest_cycle(tuple(itertools.chain.from_iterable(one_round)))

    def sum_literals(self, literals: Tensor) -> Tensor:
        """Add up the literals of each conjunction: ``(*, n_literals) -> (*, n_conjunctions)``."""
        return sum_runs(literals, self.length_cycle)

    def sum_conjunctions(self, conjunctions: Tensor) -> Tensor:
        """Add up the conjunctions of each formula: ``(*, n_conjunctions) -> (*, n_formulas)``."""
        return sum_runs(conjunctions, self.conjunctions)

    def per_literal(self, per_formula: Tensor) -> Tensor:
        """Repeat the rows of ``(n_formulas, *)`` once per literal: ``(n_literals, *)``."""
        repeats = torch.tensor(self.literals_per_formula, device=per_formula.device)
        return per_formula.repeat_interleave(repeats, dim=0, output_size=self.n_literals)


def sum_runs(values: Tensor, cycle: Sequence[int]) -> Tensor:
    """Sum consecutive runs of the last dimension, whose lengths repeat ``cycle``, cut where the values end.

    Examples
    --------
    >>> sum_runs(torch.tensor([1, 2, 3, 4, 5, 6]), (2, 1))
    tensor([ 3,  3,  9,  6])
    """
    rounds = values.shape[-1] // sum(cycle)
    whole, rest = values.split([rounds * sum(cycle), values.shape[-1] - rounds * sum(cycle)], dim=-1)
    runs = whole.unflatten(-1, (rounds, sum(cycle))).split(list(cycle), dim=-1)
    sums = torch.stack([run.sum(-1) for run in runs], dim=-1).flatten(-2)
    if rest.shape[-1] == 0:
        return sums
    tail = rest.split(_runs_of(cycle, rest.shape[-1]), dim=-1)
    return torch.cat([sums, torch.stack([run.sum(-1) for run in tail], dim=-1)], dim=-1)


def _cycle(values: Sequence[int], count: int) -> tuple[int, ...]:
    return tuple(itertools.islice(itertools.cycle(values), count))


def _runs_of(cycle: Sequence[int], total: int) -> list[int]:
    runs = list(itertools.takewhile(lambda end: end <= total, itertools.accumulate(itertools.cycle(cycle))))
    if not runs or runs[-1] != total:
        raise ValueError(f"{total} values do not split into whole runs of {tuple(cycle)}")
    return [end - start for start, end in itertools.pairwise([0, *runs])]


def _shortest_cycle(values: tuple[int, ...]) -> tuple[int, ...]:
    for period in range(1, len(values) + 1):
        if len(values) % period == 0 and values == values[:period] * (len(values) // period):
            return values[:period]
    return values
