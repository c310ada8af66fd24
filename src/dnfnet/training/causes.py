"""Why a loss is not finite, in words."""

from __future__ import annotations

import torch
from torch import nn

from dnfnet.training.source import Batch


def likely_cause(net: nn.Module, batch: Batch, loss: float) -> str:
    """The likeliest cause of a non-finite loss."""
    if not torch.isfinite(batch.x).all():
        return f"the loss became {loss}: the features of a batch are not all finite"
    if batch.target.is_floating_point() and not torch.isfinite(batch.target).all():
        return f"the loss became {loss}: the targets of a batch are not all finite"
    for name, value in net.named_parameters():
        if not torch.isfinite(value).all():
            return f"the loss became {loss}: the weights '{name}' diverged, so learning_rate is too high"
    return f"the loss became {loss} with finite weights and features: the outputs overflow"
