"""Memory for what is as large in every step: the literals kept for the backward pass, and the weights' gradient."""

from __future__ import annotations

import mmap
import weakref
from typing import Literal

import torch
from torch import Tensor

# Literals that fill more than this many bytes are not kept.
MOST_BYTES = 1 << 28

# The last memory of each purpose that is not needed any more: steps are alike, and to get new memory from the system
# each time takes longer than to fill it.
Purpose = Literal["literals", "gradient"]
_spare: dict[Purpose, mmap.mmap] = {}


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
    weakref.finalize(view, _give_back, piece, _spare, purpose).atexit = False
    return torch.frombuffer(view, dtype=torch.float32, count=n)


def release() -> None:
    """Return the spare memory to the system; what a graph still holds follows when the graph is gone.

    A block does this when it leaves training. A loop of your own that never calls ``eval()`` may do it at its end.
    """
    global _spare
    _spare.clear()
    # A new dict: memory that is out now comes back to the old one, which nobody looks at any more.
    _spare = {}


def _take(size: int, purpose: Purpose) -> mmap.mmap:
    piece = _spare.pop(purpose, None)
    if piece is None or len(piece) < size:
        piece = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            piece.madvise(mmap.MADV_HUGEPAGE)
    return piece


def _give_back(piece: mmap.mmap, spare: dict[Purpose, mmap.mmap], purpose: Purpose) -> None:
    # Of two, the newer one: its size is what the steps need now.
    spare[purpose] = piece
