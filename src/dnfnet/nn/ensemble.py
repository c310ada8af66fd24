"""Several networks as one."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dnfnet.nn.network import DNFNet


class Ensemble(nn.Module):
    """Networks side by side; objectives average the predictions of all their groups.

    Where each network is as sure as it should be by itself, ``calibrated`` says so: then the networks' predictions are
    pooled instead, by :meth:`dnfnet.training.Objective.pooled`.

    **Shape**: ``(rows, d_in) -> (rows, members, d_out)``: a member for each group of each network.

    Examples
    --------
    >>> nets = [DNFNet(5, 3, n_formulas=8, beta=None, n_groups=2) for _ in range(4)]
    >>> Ensemble(nets)(torch.randn(6, 5)).shape
    torch.Size([6, 8, 3])
    """

    calibrated: Tensor

    def __init__(self, nets: Sequence[DNFNet]) -> None:
        super().__init__()
        self.nets = nn.ModuleList(nets)
        self.register_buffer("calibrated", torch.tensor(False))

    def forward(self, x: Tensor) -> Tensor:
        """The outputs of all groups of all networks."""
        return torch.cat([net.members(x) for net in nets_of(self)], dim=1)

    def shrinking(self) -> list[nn.Parameter]:
        """What weight decay is for: the weights of all literals."""
        return [weight for net in nets_of(self) for weight in net.shrinking()]

    def seen_inputs(self) -> list[Tensor]:
        """How many inputs each literal sees, of each of ``shrinking()``."""
        return [seen for net in nets_of(self) for seen in net.seen_inputs()]

    def literal_kinds(self, n_kinds: int) -> list[Tensor]:
        """The kind of each literal, of each of ``shrinking()``."""
        return [kinds for net in nets_of(self) for kinds in net.literal_kinds(n_kinds)]

    def penalty(self) -> Tensor:
        """The mean of the networks' regularisers."""
        return torch.stack([net.penalty() for net in nets_of(self)]).mean()


def nets_of(network: DNFNet | Ensemble) -> list[DNFNet]:
    """The networks that a network consists of."""
    return list(network.nets) if isinstance(network, Ensemble) else [network]  # type: ignore[arg-type]
