"""tanh on the kernel's own threads: after the formulas' sums, it lets their memory go before weights get gradients."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dnfnet.ops import fused, library


def _threads(x: Tensor) -> int:
    # The polynomials are worth some multiply-adds.
    return fused.threads_for(x.numel() * 16)


@torch.library.custom_op("dnfnet::tanh", mutates_args=())
def tanh(x: Tensor) -> Tensor:
    """To the bit what the block computes by itself."""
    out = torch.empty_like(x)
    address = fused.require("x", x, tuple(x.shape))
    library.check(
        library.functions().dnfnet_tanh_forward(
            fused.current_kernels(), _threads(x), x.numel(), address, out.data_ptr()
        )
    )
    return out


@tanh.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("dnfnet::tanh_backward", mutates_args=())
def _tanh_backward(grad: Tensor, y: Tensor) -> Tensor:
    out, shape = torch.empty_like(y), tuple(y.shape)
    addresses = fused.require("y", y, shape), fused.require("grad", grad, shape), out.data_ptr()
    library.check(library.functions().dnfnet_tanh_backward(_threads(y), y.numel(), *addresses))
    return out


@_tanh_backward.register_fake
def _(grad: Tensor, y: Tensor) -> Tensor:  # noqa: ARG001
    return torch.empty_like(y)


def _save(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:  # noqa: ARG001
    ctx.save_for_backward(output)


def _gradient(ctx: Any, grad: Tensor) -> Tensor:
    return _tanh_backward(grad.contiguous(), *ctx.saved_tensors)


tanh.register_autograd(_gradient, setup_context=_save)
