"""What the kernel's benchmarks have in common: inputs, a training step, and a measurement in a process apart.

``python benchmarks/measure.py fused 2048 512 32`` prints processor seconds and peak megabytes of a training step.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from dnfnet import ops
from dnfnet.nn import DNFNet, FeatureSelection, Layout
from dnfnet.training.optim import TensorFlowAdam

BATCH = 2048


def block_inputs(n_formulas: int, d_in: int) -> tuple[Layout, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Layout, x, weight, bias, gate, random mask and a gradient for the output, as training has them."""
    generator = torch.Generator().manual_seed(1)
    layout = Layout(n_formulas)
    selection = FeatureSelection(n_formulas, d_in, beta=1.0, generator=generator)
    keep, gate = selection.random_mask, selection()
    assert keep is not None
    assert gate is not None
    x = torch.randn(BATCH, d_in, generator=generator)
    weight = torch.randn(layout.n_literals, d_in, generator=generator) * 0.3
    bias = torch.randn(layout.n_literals, generator=generator) * 0.1
    grad = torch.randn(BATCH, n_formulas, generator=generator)
    return layout, x, weight.requires_grad_(), bias.requires_grad_(), gate.detach().requires_grad_(), keep, grad


def training_step(
    backend: str, n_formulas: int, d_in: int, *, rows: int = BATCH, only_block: bool = False
) -> Callable[[], object]:
    """A whole step of the paper's preset; or the forward and backward pass of its block alone."""
    net = DNFNet(d_in, 5, n_formulas=n_formulas, beta=1.0, generator=torch.Generator().manual_seed(1))
    x, target = torch.randn(rows, d_in), torch.randint(0, 5, (rows,))
    optimizer = TensorFlowAdam(net.parameters(), lr=0.05, fused=backend == "fused")

    def block() -> None:
        formulas = net.block(x)
        formulas.backward(formulas.detach())

    def whole() -> None:
        optimizer.zero_grad()
        (torch.nn.functional.cross_entropy(net(x), target) + net.penalty()).backward()
        optimizer.step()

    def step() -> None:
        with ops.use(backend):
            block() if only_block else whole()

    return step


def measure_apart(
    backend: str, rows: int, n_formulas: int, d_in: int, *, returning: bool = True
) -> tuple[float, float]:
    """Processor seconds (one thread) and peak megabytes, above what was there before, of steps in a new process.

    With ``returning``, freed memory goes back to the system at once, which costs time: the peak is then what the
    steps need, not what the C library keeps for later.
    """
    command = [sys.executable, __file__, backend, str(rows), str(n_formulas), str(d_in)]
    env = {**os.environ, "MALLOC_MMAP_THRESHOLD_": str(2**20)} if returning else None
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    seconds, peak = json.loads(done.stdout)
    return seconds, peak


def resident(field: str) -> float:
    """Megabytes of this process: ``VmRSS`` now, ``VmHWM`` at most so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def main() -> None:
    backend, (rows, n_formulas, d_in) = sys.argv[1], map(int, sys.argv[2:])
    torch.set_num_threads(1)
    # First a step that is large enough to load all code of torch and its libraries that the steps need.
    training_step(backend, 64, 32, rows=256)()
    # Begin with a new maximum: the one so far is partly that of the parent process.
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    step = training_step(backend, n_formulas, d_in, rows=rows)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        step()
        seconds.append(time.process_time() - start)
    print(json.dumps([min(seconds), resident("VmHWM") - before]))


if __name__ == "__main__":
    main()
