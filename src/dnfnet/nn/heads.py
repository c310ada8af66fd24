"""Output layers: the paper's single one, and one for each group of formulas, an ensemble inside one network."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

# A product of 2 to 9 columns rounds by a row's place in it. With columns to spare, a row has the same prediction alone
# and among others.
MIN_COLUMNS = 16


class Head(nn.Linear):
    """One output layer for all formulas.

    **Shape**: ``(rows, n_formulas) -> (rows, d_out)``.
    """

    def forward(self, formulas: Tensor) -> Tensor:
        """Logits; outside of training with columns to spare, which are cut off again."""
        spare = _spare_columns(self.out_features, self.training)
        weight, bias = F.pad(self.weight, (0, 0, 0, spare)), F.pad(self.bias, (0, spare))
        return F.linear(formulas, weight, bias)[..., : self.out_features]


class GroupHeads(nn.Module):
    """One output layer for each group of consecutive formulas; a group learns as if the others were not there.

    What a head adds up is divided by the root of the number of its formulas, so that a step of the optimiser changes an
    output as much in a large group as in a small one.

    **Shape**: ``(rows, n_formulas) -> (rows, n_groups, d_out)``; outside of training, of the groups that vote.

    Examples
    --------
    >>> GroupHeads(12, n_groups=3, d_out=2)(torch.randn(5, 12)).shape
    torch.Size([5, 3, 2])
    """

    votes: Tensor

    def __init__(self, n_formulas: int, *, n_groups: int, d_out: int, generator: torch.Generator | None = None) -> None:
        super().__init__()
        if n_groups < 1 or n_formulas % n_groups:
            raise ValueError(f"n_groups must divide n_formulas, however: {n_groups=}, {n_formulas=}")
        size = n_formulas // n_groups
        bound = math.sqrt(6 / (size + d_out))
        self.weight = nn.Parameter(torch.empty(n_groups, size, d_out).uniform_(-bound, bound, generator=generator))
        self.bias = nn.Parameter(torch.zeros(n_groups, 1, d_out))
        self.register_buffer("votes", torch.ones(n_groups, dtype=torch.bool))
        self.voters: list[int] | None = None

    def let_vote(self, votes: Tensor | None = None) -> None:
        """Let these groups have a say outside of training, ``(n_groups,)`` of bool; all without it."""
        self.votes.copy_(torch.ones_like(self.votes) if votes is None else votes)
        self._count_voters()

    def _count_voters(self) -> None:
        # As plain numbers: what torch.compile makes of a prediction must not depend on what is in a tensor.
        self.voters = None if self.votes.all() else self.votes.nonzero().flatten().tolist()

    def _load_from_state_dict(self, *args: Any, **options: Any) -> None:
        super()._load_from_state_dict(*args, **options)
        self._count_voters()

    def forward(self, formulas: Tensor) -> Tensor:
        """The outputs of every group; outside of training, of those that vote."""
        n_groups, size, d_out = self.weight.shape
        spare = (0, _spare_columns(d_out, self.training))
        groups = formulas.unflatten(-1, (n_groups, size)).transpose(0, 1)
        outputs = torch.baddbmm(F.pad(self.bias, spare), groups, F.pad(self.weight, spare), alpha=1 / math.sqrt(size))
        if self.voters is not None and not self.training:
            outputs = outputs[self.voters]
        return outputs[..., :d_out].transpose(0, 1)


def _spare_columns(d_out: int, training: bool) -> int:
    return 0 if training or d_out >= MIN_COLUMNS else MIN_COLUMNS - d_out
