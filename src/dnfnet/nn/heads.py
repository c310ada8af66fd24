"""Output layers of groups of formulas: an ensemble inside one network."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class GroupHeads(nn.Module):
    """One output layer for each group of consecutive formulas; a group learns as if the others were not there.

    What a head adds up is divided by the root of the number of its formulas, so that a step of the optimiser changes an
    output as much in a large group as in a small one.

    **Shape**: ``(rows, n_formulas) -> (rows, n_groups, d_out)``.

    Examples
    --------
    >>> GroupHeads(12, n_groups=3, d_out=2)(torch.randn(5, 12)).shape
    torch.Size([5, 3, 2])
    """

    def __init__(self, n_formulas: int, *, n_groups: int, d_out: int, generator: torch.Generator | None = None) -> None:
        super().__init__()
        if n_groups < 1 or n_formulas % n_groups:
            raise ValueError(f"n_groups must divide n_formulas, however: {n_groups=}, {n_formulas=}")
        size = n_formulas // n_groups
        bound = math.sqrt(6 / (size + d_out))
        self.weight = nn.Parameter(torch.empty(n_groups, size, d_out).uniform_(-bound, bound, generator=generator))
        self.bias = nn.Parameter(torch.zeros(n_groups, 1, d_out))

    def forward(self, formulas: Tensor) -> Tensor:
        """The outputs of every group."""
        n_groups, size, _ = self.weight.shape
        groups = formulas.unflatten(-1, (n_groups, size)).transpose(0, 1)
        return torch.baddbmm(self.bias, groups, self.weight, alpha=1 / math.sqrt(size)).transpose(0, 1)
