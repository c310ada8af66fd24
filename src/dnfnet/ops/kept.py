"""Memory for the literals that a forward pass keeps for its backward pass."""

from __future__ import annotations

import mmap
import weakref

import torch
from torch import Tensor

# Literals that fill more than this many bytes are not kept.
MOST_BYTES = 1 << 28

# The memory of the last literals that are not needed any more: steps are alike, and to get new memory from the system
# each time would cost more than is saved.
_spare: list[mmap.mmap] = []


def pays(n: int) -> bool:
    """Whether ``n`` literals shall be kept for the backward pass, rather than computed again; the bits are the same.

    To read them back is faster for any number of features. But they are the largest array of a step by far, so it is
    their size that decides.
    """
    return n * 4 <= MOST_BYTES


def empty(n: int) -> Tensor:
    """``n`` floats, not initialised; their memory is used again when the last tensor that shares it is gone."""
    if n == 0:
        return torch.empty(0)
    memory = _take(n * 4)
    view = memoryview(memory)
    weakref.finalize(view, _give_back, memory).atexit = False
    return torch.frombuffer(view, dtype=torch.float32, count=n)


def _take(size: int) -> mmap.mmap:
    try:
        memory = _spare.pop()
    except IndexError:
        memory = None
    if memory is None or len(memory) < size:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def _give_back(memory: mmap.mmap) -> None:
    # Of two, the newer one: its size is what the steps need now.
    _spare[:] = [memory]
