"""A block packed once for many predictions, and a cache that packs again when the weights change."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dnfnet.nn.layout import Layout
from dnfnet.nn.runs import Runs
from dnfnet.ops import fused, library
from dnfnet.ops.dispatch import is_fused, runs_to_use


class Packed:
    """The formulas of a block with the features that both masks leave them, in the order the kernel reads.

    A copy: later changes of the weights do not reach it.
    """

    def __init__(
        self,
        weight: Tensor,
        bias: Tensor,
        layout: Layout,
        gate: Tensor | None,
        keep: Tensor | None,
        runs: Runs | None = None,
    ) -> None:
        weight, bias = weight.contiguous(), bias.contiguous()
        parameters = fused.parameters_of(layout, weight, bias, gate, keep, *runs_to_use(runs))
        address = library.functions().dnfnet_pack(fused.current_kernels(), ctypes.addressof(parameters))
        library.check(address is None)
        self.d_in, self.layout, self.size = weight.shape[-1], layout, weight.numel()
        self.address: int = address
        weakref.finalize(self, library.functions().dnfnet_free, address)

    def __call__(self, x: Tensor) -> Tensor | None:
        """Truth values ``(rows, n_formulas)``, no gradients; ``None`` with runs of inputs that are not finite."""
        rows, computed = x.shape[0], ctypes.c_int()
        out = x.new_empty(rows, self.layout.n_formulas)
        status = library.functions().dnfnet_packed(
            fused.current_kernels(),
            fused.threads_for(rows * self.size),
            self.address,
            rows,
            fused.require("x", x, (rows, self.d_in)),
            out.data_ptr(),
            ctypes.byref(computed),
        )
        library.check(status)
        return out if computed.value else None


class PackCache:
    """Holds one `Packed` for as long as the tensors that it was made from stay what they are.

    Every change that torch itself makes to a tensor counts its version up. What changes ``tensor.data`` or shared
    memory behind torch's back goes unseen until `clear`.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the packed weights."""
        self._entry: tuple[tuple[Tensor, ...], list[tuple[int, int]], Packed] | None = None

    def get(self, tensors: tuple[Tensor, ...], make: Callable[[], Packed]) -> Packed:
        """The packed weights for ``tensors``, made by ``make`` when one of them changed."""
        marks = [(t.data_ptr(), t._version) for t in tensors]
        entry = self._entry
        if entry is None or list(map(id, entry[0][: len(tensors)])) != list(map(id, tensors)) or entry[1] != marks:
            # The entry holds the tensors and, by an alias, their memory: no other can come to have their identity or
            # address.
            held = (*tensors, *(t.detach() for t in tensors))
            entry = self._entry = (held, marks, make())
        return entry[2]

    def __deepcopy__(self, memo: dict[int, Any]) -> PackCache:
        return PackCache()

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return PackCache, ()


def can_pack(x: Tensor, state: tuple[Tensor, ...]) -> bool:
    """Whether ``x`` can be predicted from packed weights now: no gradients wanted, versions counted, not traced.

    ``state`` is everything that the packed weights depend on.
    """
    if torch.compiler.is_compiling() or torch.is_grad_enabled() or any(t.is_inference() for t in state):
        return False
    if any(t.grad is not None for t in state if t.is_leaf):
        # A step is to come, and the fused optimisers do not count a tensor's version up.
        return False
    return is_fused(x, *(t for t in state if t.is_floating_point()))
