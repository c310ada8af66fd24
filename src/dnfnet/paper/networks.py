"""The networks that stand beside DNF-Net: the FCN of Table 3, and the masked FCN of the synthetic study."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dnfnet.nn.dnnf import xavier_linear
from dnfnet.nn.selection import FeatureSelection


def block_widths(depth: int, width: int, pattern: str) -> tuple[int, ...]:
    """Return the widths of the FCN's blocks.

    >>> block_widths(4, 512, "constant"), block_widths(4, 512, "halving")
    ((512, 512, 512, 512), (512, 256, 128, 64))
    """
    return tuple(width if pattern == "constant" else width // 2**i for i in range(depth))


class FCN(nn.Module):
    """Dense-ReLU-Dropout blocks with an L2 penalty on their weights, and a linear layer (Appendix D.3.3).

    **Shape**: ``(rows, d_in) -> (rows, d_out)``.

    Parameters
    ----------
    d_in, d_out : int
    widths : sequence of int
        Width of each block.
    dropout : float
        Share of a block's outputs that training sets to 0.
    l2 : float
        Weight of the squared weights of the blocks in :meth:`penalty`.
    generator : torch.Generator, optional
        Source of the initial weights; dropout takes torch's own.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        *,
        widths: Sequence[int],
        dropout: float = 0.0,
        l2: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        sizes = [d_in, *widths]
        self.blocks = nn.ModuleList(xavier_linear(a, b, generator) for a, b in pairwise(sizes))
        self.head = xavier_linear(sizes[-1], d_out, generator)
        self.dropout = nn.Dropout(dropout)
        self.l2 = l2

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        for block in self.blocks:
            x = self.dropout(torch.relu(block(x)))
        return self.head(x)

    def penalty(self) -> Tensor:
        """The L2 term: ``l2`` times the sum of the blocks' squared weights."""
        if not self.l2:
            return self.head.weight.new_zeros(())
        weights = [block.weight for block in self.blocks if isinstance(block, nn.Linear)]
        return self.l2 * torch.stack([weight.square().sum() for weight in weights]).sum()


class MaskedFCN(nn.Module):
    """The FCN [64, 32] of the synthetic study behind a mask on its input (Appendix D.5).

    Parameters
    ----------
    d_in, d_out : int
    mask : {"none", "learned", "oracle"}
        What multiplies the features: nothing, the trainable mask m_t, or the truth.
    beta : float or None
        Strength of the learned mask's selection.
    oracle : bool array of shape (d_in,), optional
        The relevant features.
    generator : torch.Generator, optional
    """

    oracle: Tensor | None
    selection: FeatureSelection | None

    def __init__(
        self,
        d_in: int,
        d_out: int,
        *,
        mask: str,
        beta: float | None = None,
        oracle: NDArray[np.bool_] | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.net = FCN(d_in, d_out, widths=(64, 32), generator=generator)
        self.selection = FeatureSelection(1, d_in, beta=beta, keep_probs=None) if mask == "learned" else None
        truth = torch.tensor(oracle, dtype=torch.float32) if mask == "oracle" else None
        self.register_buffer("oracle", truth)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        mask = self.oracle if self.selection is None else self.selection()
        return self.net(x if mask is None else x * mask)

    def penalty(self) -> Tensor:
        """The learned mask's regulariser."""
        return self.net.penalty() if self.selection is None else self.selection.penalty()
