"""Memory for the literals that a forward pass keeps for its backward pass."""

from __future__ import annotations

import mmap
import weakref

import torch
from torch import Tensor

# Literals that fill more than this many bytes are not kept.
MOST_BYTES = 1 << 28

# The memory of the last literals that are not needed any more: steps are alike, and to get new memory from the system
# each time would cost more than is saved. At most one piece.
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
    weakref.finalize(view, _give_back, memory, _spare).atexit = False
    return torch.frombuffer(view, dtype=torch.float32, count=n)


def release() -> None:
    """Return the spare memory to the system; what a graph still holds follows when the graph is gone.

    A block does this when it leaves training. A loop of your own that never calls ``eval()`` may do it at its end.
    """
    global _spare
    # A new list: memory that is out now comes back to the old one, which nobody looks at any more.
    _spare = []


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


def _give_back(memory: mmap.mmap, spare: list[mmap.mmap]) -> None:
    # Of two, the newer one: its size is what the steps need now.
    spare[:] = [memory]
