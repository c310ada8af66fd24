"""Formulas times the localization's weights, from squared distances: torch's version and the fused one."""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch import Tensor

from dnfnet.ops import fused, library
from dnfnet.ops.dispatch import is_fused


def local_weights(squared: Tensor, scale: Tensor) -> Tensor:
    """Softmax over the last dimension of scale·exp(−√squared): ``(rows, n_formulas)``, each row adds up to 1."""
    # Cancellation can leave a tiny negative number where x meets μ, and the root has no gradient at 0.
    distance = squared.clamp(min=torch.finfo(squared.dtype).tiny).sqrt()
    return torch.softmax(scale * torch.exp(-distance), dim=-1)


def localize(formulas: Tensor, squared: Tensor, scale: Tensor) -> Tensor:
    """Formulas times their `local_weights`, by the fused kernel where it can.

    Parameters
    ----------
    formulas, squared : Tensor of shape (rows, n_formulas)
        Truth values and squared distances.
    scale : Tensor of shape ()
        At most 1.

    Returns
    -------
    Tensor of shape (rows, n_formulas)
    """
    if formulas.dim() == 2 and formulas.shape == squared.shape and is_fused(formulas, squared, scale):
        return _localize(formulas.contiguous(), squared.contiguous(), scale)
    return formulas * local_weights(squared, scale)


def _point_at(formulas: Tensor, squared: Tensor, scale: Tensor) -> library.Localized:
    rows, n = formulas.shape
    addresses = fused.require("formulas", formulas, (rows, n)), fused.require("squared", squared, (rows, n))
    return library.Localized(rows, n, *addresses, scale.item())


def _threads(squared: Tensor) -> int:
    # Two exponentials and a root are worth some tens of multiply-adds.
    return fused.threads_for(squared.numel() * 32)


@torch.library.custom_op("dnfnet::localize", mutates_args=())
def _localize(formulas: Tensor, squared: Tensor, scale: Tensor) -> Tensor:
    out = torch.empty_like(formulas)
    batch = _point_at(formulas, squared, scale)
    status = library.functions().dnfnet_local_forward(
        fused.current_kernels(), _threads(squared), ctypes.addressof(batch), out.data_ptr()
    )
    library.check(status)
    return out


@_localize.register_fake
def _(formulas: Tensor, squared: Tensor, scale: Tensor) -> Tensor:  # noqa: ARG001
    return torch.empty_like(formulas)


@torch.library.custom_op("dnfnet::localize_backward", mutates_args=())
def _localize_backward(grad: Tensor, formulas: Tensor, squared: Tensor, scale: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    grad_formulas, grad_squared, grad_scale = torch.empty_like(grad), torch.empty_like(grad), ctypes.c_float()
    batch = _point_at(formulas, squared, scale)
    status = library.functions().dnfnet_local_backward(
        fused.current_kernels(),
        _threads(squared),
        ctypes.addressof(batch),
        fused.require("grad", grad, tuple(formulas.shape)),
        grad_formulas.data_ptr(),
        grad_squared.data_ptr(),
        ctypes.addressof(grad_scale),
    )
    library.check(status)
    return grad_formulas, grad_squared, scale.new_tensor(grad_scale.value)


@_localize_backward.register_fake
def _(grad: Tensor, formulas: Tensor, squared: Tensor, scale: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # noqa: ARG001
    return torch.empty_like(formulas), torch.empty_like(squared), torch.empty_like(scale)


def _save(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:  # noqa: ARG001
    ctx.save_for_backward(*inputs)


def _gradients(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:
    return _localize_backward(grad.contiguous(), *ctx.saved_tensors)


_localize.register_autograd(_gradients, setup_context=_save)
