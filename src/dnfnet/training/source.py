"""Where batches come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import torch
from torch import Tensor


class Batch(NamedTuple):
    """Rows of features, their targets and, optionally, their weights."""

    x: Tensor
    target: Tensor
    weight: Tensor | None

    def to(self, device: torch.device) -> Batch:
        """The same rows on another device."""
        weight = None if self.weight is None else self.weight.to(device)
        return Batch(self.x.to(device), self.target.to(device), weight)


class BatchSource(Protocol):
    """Anything that gives all its rows, in batches, once per call."""

    n_rows: int

    def batches(self, generator: torch.Generator | None = None) -> Iterator[Batch]:
        """One epoch: shuffled by ``generator``, or in order without one."""
        ...


class TensorSource:
    """Rows that are in memory. Every row comes once per epoch; the last batch may be smaller.

    Parameters
    ----------
    x : Tensor of shape (rows, d_in)
    target : Tensor of shape (rows, ...)
    weight : Tensor of shape (rows,), optional
    batch_size : int
    chosen : Tensor of shape (rows,), optional
        Which rows of ``x`` these are, where it has others too: a part of a matrix need not be copied.
    """

    def __init__(
        self,
        x: Tensor,
        target: Tensor,
        weight: Tensor | None = None,
        *,
        batch_size: int = 2048,
        chosen: Tensor | None = None,
    ) -> None:
        lengths = {len(part) for part in (x if chosen is None else chosen, target, weight) if part is not None}
        if len(lengths) != 1:
            raise ValueError(f"x, target and weight must have the same number of rows, however: {sorted(lengths)}")
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, however: {batch_size=}")
        self.x, self.target, self.weight, self.chosen = x, target, weight, chosen
        self.batch_size, self.n_rows = batch_size, len(target)

    def batches(self, generator: torch.Generator | None = None) -> Iterator[Batch]:
        """One epoch: shuffled by ``generator``, or in order without one."""
        order = torch.arange(self.n_rows)
        if generator is not None:
            order = torch.randperm(self.n_rows, generator=generator)
        for rows in order.split(self.batch_size) if self.n_rows else ():
            weight = None if self.weight is None else self.weight[rows]
            yield Batch(self.x[rows if self.chosen is None else self.chosen[rows]], self.target[rows], weight)
