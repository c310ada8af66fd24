"""The localization's weights from squared distances: torch's version and the fused one."""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch import Tensor

from dnfnet.ops import fused, library
from dnfnet.ops.dispatch import is_fused


def local_weights(squared: Tensor, scale: Tensor) -> Tensor:
    """Softmax over the last dimension of scale·exp(−√squared).

    Parameters
    ----------
    squared : Tensor of shape (rows, n_formulas)
        Squared distances; below the smallest normal number they count as that number.
    scale : Tensor of shape ()
        At most 1.

    Returns
    -------
    Tensor of shape (rows, n_formulas)
    """
    if squared.dim() == 2 and is_fused(squared, scale):
        return _weights(squared.contiguous(), scale)
    # Cancellation can leave a tiny negative number where x meets μ, and the root has no gradient at 0.
    distance = squared.clamp(min=torch.finfo(squared.dtype).tiny).sqrt()
    return torch.softmax(scale * torch.exp(-distance), dim=-1)


@torch.library.custom_op("dnfnet::local_weights", mutates_args=())
def _weights(squared: Tensor, scale: Tensor) -> Tensor:
    out = torch.empty_like(squared)
    rows, n = squared.shape
    status = library.functions().dnfnet_local_forward(
        fused.current_kernels(),
        fused.threads_for(squared.numel() * 8),
        rows,
        n,
        fused.require("squared", squared, (rows, n)),
        scale.item(),
        out.data_ptr(),
    )
    library.check(status)
    return out


@_weights.register_fake
def _(squared: Tensor, scale: Tensor) -> Tensor:  # noqa: ARG001
    return torch.empty_like(squared)


@torch.library.custom_op("dnfnet::local_weights_backward", mutates_args=())
def _weights_backward(grad: Tensor, out: Tensor, squared: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    grad_squared, grad_scale = torch.empty_like(squared), ctypes.c_float()
    rows, n = squared.shape
    status = library.functions().dnfnet_local_backward(
        fused.current_kernels(),
        fused.threads_for(squared.numel() * 8),
        rows,
        n,
        fused.require("squared", squared, (rows, n)),
        scale.item(),
        fused.require("out", out, (rows, n)),
        fused.require("grad", grad, (rows, n)),
        grad_squared.data_ptr(),
        ctypes.addressof(grad_scale),
    )
    library.check(status)
    return grad_squared, scale.new_tensor(grad_scale.value)


@_weights_backward.register_fake
def _(grad: Tensor, out: Tensor, squared: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ARG001
    return torch.empty_like(squared), torch.empty_like(scale)


def _save(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(output, *inputs)


def _gradients(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    return _weights_backward(grad.contiguous(), *ctx.saved_tensors)


_weights.register_autograd(_gradients, setup_context=_save)
