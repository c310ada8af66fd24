"""Memory for what is as large in every step: the literals kept for the backward pass, and the weights' gradient."""

from __future__ import annotations

import mmap
import weakref
from typing import Literal

import torch
from torch import Tensor

# Literals that fill more than this many bytes are not kept.
MOST_BYTES = 1 << 28

# The last memory of each purpose, and whether a tensor still has it: steps are alike, and to get new memory from the
# system each time takes longer than to fill it. To be told when it is free, a callback would have to run wherever a
# tensor happens to end, and a Ctrl-C that falls into such a callback is lost; so it is looked up instead.
Purpose = Literal["literals", "gradient"]
_last: dict[Purpose, tuple[mmap.mmap, weakref.ref[memoryview]]] = {}


def keeping_pays(n: int) -> bool:
    """Whether ``n`` literals shall be kept for the backward pass, rather than computed again; the bits are the same.

    To read them back is faster for any number of features. But they are the largest array of a step by far, so it is
    their size that decides.
    """
    return n * 4 <= MOST_BYTES


def empty(n: int, purpose: Purpose) -> Tensor:
    """``n`` floats, not initialised; their memory is used again when the last tensor that shares it is gone."""
    if n == 0:
        return torch.empty(0)
    piece = _take(n * 4, purpose)
    view = memoryview(piece)
    _last[purpose] = piece, weakref.ref(view)
    return torch.frombuffer(view, dtype=torch.float32, count=n)


def release() -> None:
    """Return the memory to the system; what a graph still holds follows when the graph is gone.

    A block does this when it leaves training. A loop of your own that never calls ``eval()`` may do it at its end.
    """
    _last.clear()


def _take(size: int, purpose: Purpose) -> mmap.mmap:
    # Out of the dict in one step, so that no two threads get the same.
    last = _last.pop(purpose, None)
    if last is not None:
        piece, user = last
        if user() is None and len(piece) >= size:
            return piece
    piece = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        piece.madvise(mmap.MADV_HUGEPAGE)
    return piece
