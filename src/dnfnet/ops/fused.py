"""The fused kernel as torch operators: checked arguments in, gradients and shapes for torch.compile included."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import torch
from torch import Tensor

from dnfnet.nn.layout import Layout
from dnfnet.ops import library, memory
from dnfnet.ops.state import state

# The kernel computes rows in blocks of this many: kRows of csrc/block.h.
_ROWS = 64
# Below this many multiply-adds a second thread would not have started before the work is done.
_SMALL = 1 << 21


def threads_for(work: int) -> int:
    """As many threads as torch uses; the result is the same for any number."""
    return 1 if work < _SMALL else torch.get_num_threads()


def current_kernels() -> int:
    """The address of the kernels to run."""
    address = library.kernels(state.instructions)
    if address is None:
        raise RuntimeError(f"this processor does not run the instruction set {state.instructions!r}")
    return address


@functools.lru_cache(maxsize=64)
def layout_of(conjunctions: tuple[int, ...], lengths: tuple[int, ...], n_formulas: int) -> Layout:
    """One layout object per wiring."""
    return Layout(n_formulas, conjunctions, lengths)


@functools.lru_cache(maxsize=64)
def encoded(layout: Layout) -> tuple[Any, Any]:
    """The layout as the kernel reads it: conjunctions per formula, literals per conjunction."""
    per_formula, lengths = layout.conjunctions_per_formula, layout.conjunction_lengths
    return (ctypes.c_int32 * len(per_formula))(*per_formula), (ctypes.c_int32 * len(lengths))(*lengths)


@functools.lru_cache(maxsize=64)
def kept_literals(layout: Layout) -> int:
    """How many literals a row has when they are kept: some more than the layout's, for whole vectors of them."""
    per_formula, lengths = encoded(layout)
    wiring = library.Parameters(
        0, layout.n_formulas, ctypes.addressof(per_formula), ctypes.addressof(lengths), None, None, None, None, None, 0
    )
    count = library.functions().dnfnet_kept_literals(ctypes.addressof(wiring))
    library.check(count < 0)
    return count


def kept_size(rows: int, layout: Layout) -> int:
    """How many floats the kept literals of a batch are."""
    return -(-rows // _ROWS) * _ROWS * kept_literals(layout)


def require(name: str, tensor: Tensor, shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> int:
    """The address of a tensor that is what the kernel takes it for; a ValueError otherwise."""
    if tensor.dtype != dtype or tensor.device.type != "cpu" or tuple(tensor.shape) != shape:
        raise ValueError(
            f"{name} must be a {dtype} tensor of shape {shape} on the CPU, however: {tensor.dtype}, "
            f"{tuple(tensor.shape)}, {tensor.device}"
        )
    if not tensor.is_contiguous():
        raise ValueError(f"{name} must be contiguous, however: {tensor.stride()=}")
    return tensor.data_ptr()


def parameters_of(
    layout: Layout,
    weight: Tensor,
    bias: Tensor,
    gate: Tensor | None,
    keep: Tensor | None,
    runs: Tensor | None,
    ends: Tensor | None,
    *,
    sums: bool = False,
) -> library.Parameters:
    """Check a block's parameters and point at them; ``runs`` and ``ends`` are those of `dnfnet.nn.Runs`."""
    d_in, n_formulas = weight.shape[-1], layout.n_formulas
    per_formula, lengths = encoded(layout)
    return library.Parameters(
        d_in,
        n_formulas,
        ctypes.addressof(per_formula),
        ctypes.addressof(lengths),
        require("weight", weight, (layout.n_literals, d_in)),
        require("bias", bias, (layout.n_literals,)),
        None if gate is None else require("gate", gate, (n_formulas, d_in)),
        None if keep is None else require("keep", keep, (n_formulas, d_in), torch.bool),
        None if runs is None or ends is None else ctypes.pointer(_runs(runs, ends, d_in)),
        sums,
    )


def _runs(runs: Tensor, ends: Tensor, d_in: int) -> library.Runs:
    low = require("ends", ends, (2, d_in))
    table = require("runs", runs, (runs.shape[0], 3), torch.int32)
    return library.Runs(runs.shape[0], table, low, low + 4 * d_in)


@torch.library.custom_op("dnfnet::block", mutates_args=())
def block(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    gate: Tensor | None,
    keep: Tensor | None,
    runs: Tensor | None,
    ends: Tensor | None,
    conjunctions: list[int],
    lengths: list[int],
    n_formulas: int,
    keeps: bool,
    sums: bool,
) -> tuple[Tensor, Tensor]:
    """Truth values of the formulas, and with ``keeps`` the literals for the backward pass (empty otherwise).

    With ``sums``, the truth values are those before the formulas' own tanh, which need not be kept for the backward
    pass.
    """
    layout = layout_of(tuple(conjunctions), tuple(lengths), n_formulas)
    parameters = parameters_of(layout, weight, bias, gate, keep, runs, ends, sums=sums)
    rows = x.shape[0]
    out, literals = x.new_empty(rows, n_formulas), memory.empty(kept_size(rows, layout) if keeps else 0, "literals")
    status = library.functions().dnfnet_forward(
        current_kernels(),
        threads_for(rows * weight.numel()),
        ctypes.addressof(parameters),
        rows,
        require("x", x, (rows, weight.shape[-1])),
        literals.data_ptr() if keeps else None,
        out.data_ptr(),
    )
    library.check(status)
    return out, literals


@block.register_fake
def _(
    x: Tensor,
    weight: Tensor,  # noqa: ARG001
    bias: Tensor,  # noqa: ARG001
    gate: Tensor | None,  # noqa: ARG001
    keep: Tensor | None,  # noqa: ARG001
    runs: Tensor | None,  # noqa: ARG001
    ends: Tensor | None,  # noqa: ARG001
    conjunctions: list[int],
    lengths: list[int],
    n_formulas: int,
    keeps: bool,
    sums: bool,  # noqa: ARG001
) -> tuple[Tensor, Tensor]:
    rows, layout = x.shape[0], layout_of(tuple(conjunctions), tuple(lengths), n_formulas)
    return x.new_empty(rows, n_formulas), x.new_empty(kept_size(rows, layout) if keeps else 0)


@torch.library.custom_op("dnfnet::block_backward", mutates_args=())
def block_backward(
    grad: Tensor,
    out: Tensor,
    literals: Tensor,
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    gate: Tensor | None,
    keep: Tensor | None,
    runs: Tensor | None,
    ends: Tensor | None,
    conjunctions: list[int],
    lengths: list[int],
    n_formulas: int,
    needs_x: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients for x (empty unless ``needs_x``), weight, bias and gate (empty without one).

    ``out`` is empty if the forward pass gave sums.
    """
    layout = layout_of(tuple(conjunctions), tuple(lengths), n_formulas)
    parameters = parameters_of(layout, weight, bias, gate, keep, runs, ends)
    rows, d_in = x.shape
    grad_x = x.new_empty(x.shape if needs_x else (0,))
    keeps = literals.numel() > 0
    # Where memory may be kept, the weights' gradient has its own from step to step.
    grad_weight = memory.empty(weight.numel(), "gradient").view_as(weight) if keeps else torch.empty_like(weight)
    grad_bias = torch.empty_like(bias)
    grad_gate = x.new_empty((0,) if gate is None else gate.shape)
    gradients = library.Gradients(
        grad_x.data_ptr() if needs_x else None,
        grad_weight.data_ptr(),
        grad_bias.data_ptr(),
        None if gate is None else grad_gate.data_ptr(),
    )
    status = library.functions().dnfnet_backward(
        current_kernels(),
        threads_for(rows * weight.numel()),
        ctypes.addressof(parameters),
        rows,
        require("x", x, (rows, d_in)),
        require("literals", literals, (kept_size(rows, layout),)) if keeps else None,
        require("out", out, (rows, n_formulas)) if out.numel() else None,
        require("grad", grad, (rows, n_formulas)),
        ctypes.addressof(gradients),
    )
    library.check(status)
    return grad_x, grad_weight, grad_bias, grad_gate


@block_backward.register_fake
def _(
    grad: Tensor,  # noqa: ARG001
    out: Tensor,  # noqa: ARG001
    literals: Tensor,  # noqa: ARG001
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    gate: Tensor | None,
    keep: Tensor | None,  # noqa: ARG001
    runs: Tensor | None,  # noqa: ARG001
    ends: Tensor | None,  # noqa: ARG001
    conjunctions: list[int],  # noqa: ARG001
    lengths: list[int],  # noqa: ARG001
    n_formulas: int,  # noqa: ARG001
    needs_x: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    grad_x = x.new_empty(x.shape if needs_x else (0,))
    grad_gate = x.new_empty((0,) if gate is None else gate.shape)
    return grad_x, torch.empty_like(weight), torch.empty_like(bias), grad_gate


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    x, weight, bias, gate, keep, runs, ends, *ctx.wiring, _, sums = inputs
    out, literals = output
    # The literals have no gradient, and none is to be made up of zeros for them.
    ctx.mark_non_differentiable(literals)
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(out.new_empty(0) if sums else out, literals, x, weight, bias, gate, keep, runs, ends)


def _gradients(ctx: Any, grad: Tensor, _: None) -> tuple[Tensor | None, ...]:
    out, literals, *inputs = ctx.saved_tensors
    needs_x, needs_gate = ctx.needs_input_grad[0], ctx.needs_input_grad[3]
    grad_x, grad_weight, grad_bias, grad_gate = block_backward(
        grad.contiguous(), out, literals, *inputs, *ctx.wiring, needs_x
    )
    nothing = (None,) * 8
    return grad_x if needs_x else None, grad_weight, grad_bias, grad_gate if needs_gate else None, *nothing


block.register_autograd(_gradients, setup_context=_save)
