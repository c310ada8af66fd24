"""What a block costs when its columns are cut into pieces: looked up, and multiplied input by input.

    python benchmarks/pieces.py [--columns 32] [--zeros 0.8] [--rounds 5] [--cpu-time]

256 formulas of the default layout with random masks, 512 rows, forward and backward, as a default fit has them. With
--zeros, so large a share of the numbers is the least of its column, as in a table of counts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from torch import Tensor

import step
from dnfnet.nn import DNNF, FeatureSelection, Layout, Runs

ROWS, FORMULAS = 512, 256
PIECES = (1, 4, 8, 16, 32, 64)


def encoded(columns: int, pieces: int, zeros: float, draw: torch.Generator) -> tuple[Tensor, Runs]:
    """Rows of columns in pieces, standardised like those of a table, and the runs that they are."""
    place = torch.rand(ROWS, columns, 1, generator=draw) * pieces
    place *= torch.rand(ROWS, columns, 1, generator=draw) >= zeros
    inputs = (place - torch.arange(pieces)).clamp(0, 1)
    centre, deviation = inputs.mean(0), inputs.std(0).clamp(min=0.01)
    ends = torch.stack([(-centre / deviation).flatten(), ((1 - centre) / deviation).flatten()])
    runs = Runs([(i * pieces, pieces, "pieces") for i in range(columns)], ends)
    x = ((inputs - centre) / deviation).reshape(ROWS, -1)
    on, off = (inputs == 1).reshape(ROWS, -1), (inputs == 0).reshape(ROWS, -1)
    return torch.where(on, ends[1], torch.where(off, ends[0], x)), runs


def contender(block: DNNF, runs: Runs | None, x: Tensor, grad: Tensor) -> Callable[[], object]:
    """Forward and backward of a block, with runs or without."""

    def run() -> object:
        block.runs = runs
        return torch.autograd.grad(block(x), [block.weight, block.bias], grad)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument("--zeros", type=float, default=0.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cpu-time", action="store_true")
    options = parser.parse_args()
    if options.cpu_time:
        step.use_processor_time()
    draw = torch.Generator().manual_seed(0)
    print("pieces  inputs   looked up   multiplied   saved")
    for pieces in PIECES:
        if pieces == 1:
            x = torch.randn(ROWS, options.columns, generator=draw)
            runs = Runs([], torch.tensor([[0.0], [1.0]]).repeat(1, options.columns))
        else:
            x, runs = encoded(options.columns, pieces, options.zeros, draw)
        selection = FeatureSelection(FORMULAS, x.shape[1], beta=None, generator=draw)
        block = DNNF(x.shape[1], Layout(FORMULAS), selection=selection, generator=draw)
        grad = torch.randn(ROWS, FORMULAS, generator=draw)
        contenders = {name: contender(block, hint, x, grad) for name, hint in (("up", runs), ("multiplied", None))}
        best = step.best_of(options.rounds, contenders)
        up, multiplied = best["up"] * 1e3, best["multiplied"] * 1e3
        print(f"{pieces:6} {x.shape[1]:7} {up:8.1f} ms {multiplied:9.1f} ms {multiplied / up:6.2f}x")


if __name__ == "__main__":
    main()
