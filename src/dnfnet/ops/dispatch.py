"""Which implementation computes a block, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from dnfnet.nn.layout import Layout
from dnfnet.nn.runs import Runs
from dnfnet.ops import fused, library, memory, reference
from dnfnet.ops.state import state
from dnfnet.ops.tanh import tanh


@dataclass(frozen=True)
class Backend:
    """The implementation that serves float32 tensors on the CPU, and the reason."""

    name: Literal["fused", "torch"]
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def backend() -> Backend:
    """Tell which implementation runs for float32 on the CPU, and why; everything else is computed by torch.

    Examples
    --------
    >>> from dnfnet import ops
    >>> with ops.use("torch"):
    ...     ops.backend().name
    'torch'
    """
    if library.load().functions is None:
        return Backend("torch", library.load().reason)
    if not state.fused:
        return Backend("torch", "chosen by dnfnet.ops.use")
    name = library.functions().dnfnet_name(fused.current_kernels()).decode()
    return Backend("fused", f"built with the package, runs with {name} instructions")


@contextmanager
def use(name: Literal["fused", "torch"], *, instructions: str | None = None) -> Iterator[Backend]:
    """Choose the implementation inside a ``with`` block, for the whole process.

    Parameters
    ----------
    name : {"fused", "torch"}
    instructions : {"avx512", "avx2", "baseline"}, optional
        The instruction set of the fused kernel, for comparisons; left out, it stays what it is.
    """
    if name not in ("fused", "torch"):
        raise ValueError(f"name must be 'fused' or 'torch', however: {name=}")
    if name == "fused":
        library.functions()
    before = state.fused, state.instructions
    state.fused = name == "fused"
    state.instructions = state.instructions if instructions is None else instructions
    try:
        yield backend()
    finally:
        state.fused, state.instructions = before


def is_fused(*tensors: Tensor | None) -> bool:
    """Whether the fused kernel computes with these tensors."""
    if not state.fused:
        return False
    present = [t for t in tensors if t is not None]
    return all(t.dtype == torch.float32 and t.device.type == "cpu" and t.layout == torch.strided for t in present)


def dnnf(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    layout: Layout,
    *,
    gate: Tensor | None = None,
    keep: Tensor | None = None,
    runs: Runs | None = None,
) -> Tensor:
    """Truth values of the formulas of a block, by the fused kernel where it can: see `reference.dnnf`.

    ``runs`` tells the kernel which inputs it may look up; x then should not need a gradient, or it is of no use.
    """
    check_shapes(x, weight, bias, layout, gate, keep)
    if x.dim() != 2 or not is_fused(x, weight, bias, gate):
        return reference.dnnf(x, weight, bias, layout, gate=gate, keep=keep)
    inputs = (x, weight, bias, gate)
    learns = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in inputs)
    dense = [None if t is None else t.contiguous() for t in (*inputs, None if gate is None else keep)]
    hint = runs_to_use(None if x.requires_grad else runs)
    keeps = learns and memory.keeping_pays(x.shape[0] * layout.n_literals)
    # Where memory is short, the last tanh is apart: then no formula is alive when the weights get their gradients.
    sums = learns and not keeps
    wiring = layout.conjunctions, layout.lengths, layout.n_formulas
    out, _ = fused.block(*dense, *hint, *wiring, keeps, sums)
    return tanh(out) if sums else out


def runs_to_use(runs: Runs | None) -> tuple[Tensor | None, Tensor | None]:
    """What the kernel takes of runs: nothing where multiplying is faster."""
    return (None, None) if runs is None or not runs.pays else (runs.table, runs.ends)


def check_shapes(
    x: Tensor, weight: Tensor, bias: Tensor, layout: Layout, gate: Tensor | None, keep: Tensor | None
) -> None:
    """Refuse tensors that do not fit the layout or each other."""
    d_in = x.shape[-1]
    masks = (layout.n_formulas, d_in)
    expected = {
        "weight": (weight, (layout.n_literals, d_in)),
        "bias": (bias, (layout.n_literals,)),
        "gate": (gate, masks),
        "keep": (keep, masks),
    }
    for name, (tensor, shape) in expected.items():
        if tensor is not None and tensor.shape != shape:
            raise ValueError(f"{name} must have shape {shape} for this x and layout, however: {tuple(tensor.shape)}")
    if keep is not None and keep.dtype != torch.bool:
        raise ValueError(f"keep must be a bool tensor, however: {keep.dtype=}")
