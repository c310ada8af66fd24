"""Which literal feeds which conjunction, and which conjunction feeds which formula (paper, Appendix D.2)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Integral

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
    conjunctions_per_formula: tuple[int, ...] = field(init=False, repr=False, compare=False)
    literals_per_formula: tuple[int, ...] = field(init=False, repr=False, compare=False)
    conjunction_lengths: tuple[int, ...] = field(init=False, repr=False, compare=False)
    length_cycle: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._set("conjunctions", tuple(self.conjunctions))
        self._set("lengths", tuple(self.lengths))
        self._check()
        per_formula = _cycle(self.conjunctions, self.n_formulas)
        self._set("conjunctions_per_formula", per_formula)
        self._set("literals_per_formula", tuple(sum(_cycle(self.lengths, k)) for k in per_formula))
        self._set("conjunction_lengths", _chain(_cycle(self.lengths, k) for k in per_formula))
        # The shortest cycle that conjunction_lengths repeats: the fewer runs in it, the fewer sums.
        self._set("length_cycle", _shortest_cycle(_chain(_cycle(self.lengths, k) for k in self.conjunctions)))

    def _set(self, name: str, value: tuple[int, ...]) -> None:
        object.__setattr__(self, name, value)

    def _check(self) -> None:
        if self.n_formulas < 1:
            raise ValueError(f"n_formulas must be at least 1, however: {self.n_formulas=}")
        for name in ("conjunctions", "lengths"):
            values = getattr(self, name)
            if not values or not all(isinstance(value, Integral) and int(value) >= 1 for value in values):
                raise ValueError(f"{name} must be positive integers, at least one, however: {name}={values}")

    @property
    def n_conjunctions(self) -> int:
        """The number of conjunctions of the whole block."""
        return sum(self.conjunctions_per_formula)

    @property
    def n_literals(self) -> int:
        """The number of literals of the whole block."""
        return sum(self.literals_per_formula)

    def sum_literals(self, literals: Tensor) -> Tensor:
        """Add up the literals of each conjunction: ``(*, n_literals) -> (*, n_conjunctions)``."""
        return sum_runs(literals, self.length_cycle)

    def sum_conjunctions(self, conjunctions: Tensor) -> Tensor:
        """Add up the conjunctions of each formula: ``(*, n_conjunctions) -> (*, n_formulas)``."""
        return sum_runs(conjunctions, self.conjunctions)

    def lengths_like(self, conjunctions: Tensor) -> Tensor:
        """The length of each conjunction, with the dtype and on the device of ``conjunctions``."""
        return _repeat(self.length_cycle, self.n_conjunctions, conjunctions)

    def counts_like(self, formulas: Tensor) -> Tensor:
        """The number of conjunctions of each formula, with the dtype and on the device of ``formulas``."""
        return _repeat(self.conjunctions, self.n_formulas, formulas)

    def per_literal(self, per_formula: Tensor) -> Tensor:
        """Repeat the rows of ``(n_formulas, *)`` once per literal: ``(n_literals, *)``."""
        one_round = [sum(_cycle(self.lengths, k)) for k in self.conjunctions]
        like = torch.empty(0, dtype=torch.long, device=per_formula.device)
        repeats = _repeat(one_round, self.n_formulas, like)
        return per_formula.repeat_interleave(repeats, dim=0, output_size=self.n_literals)


def count_literals(n_formulas: int, conjunctions: Sequence[int], lengths: Sequence[int]) -> int:
    """The number of literals of a layout, without making it.

    Examples
    --------
    >>> count_literals(10**9, (6, 9, 12, 15), (2, 4, 6))
    42000000000
    """
    per_round = [k // len(lengths) * sum(lengths) + sum(lengths[: k % len(lengths)]) for k in conjunctions]
    return n_formulas // len(per_round) * sum(per_round) + sum(per_round[: n_formulas % len(per_round)])


def sum_runs(values: Tensor, cycle: Sequence[int]) -> Tensor:
    """Sum consecutive runs of the last dimension, whose lengths repeat ``cycle``, cut where the values end.

    Examples
    --------
    >>> sum_runs(torch.tensor([1, 2, 3, 4, 5, 6]), (2, 1))
    tensor([3, 3, 9, 6])
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


def _chain(parts: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(itertools.chain.from_iterable(parts))


def _repeat(cycle: Sequence[int], count: int, like: Tensor) -> Tensor:
    one_round = torch.tensor(cycle, dtype=like.dtype, device=like.device)
    return one_round.repeat(-(-count // len(cycle)))[:count]


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
