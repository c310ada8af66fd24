"""Which implementation is chosen: one small piece of state that the dispatcher and the kernels share."""

from __future__ import annotations

from dataclasses import dataclass

from dnfnet.ops import library


@dataclass
class State:
    """``fused``: whether the fused kernel may run; ``instructions``: the instruction set, "" for the best."""

    fused: bool
    instructions: str


state = State(fused=library.load().functions is not None, instructions=library.default_instructions())
