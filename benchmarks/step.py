"""The fused kernel beside torch eager, torch.compile and the published formulation, as ratios of one run.

    python benchmarks/step.py [--data gesture.parquet] [--rounds 5] [--skip-compile] [--cpu-time]

Every contender takes its turn in every round, and the best round counts: what else runs on the machine then
harms all of them alike. With --cpu-time, one thread and its processor time are measured instead: for a machine
that others keep busy.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from dnfnet import ops
from dnfnet.nn import DNFNet, Layout
from dnfnet.ops import memory
from measure import BATCH, block_inputs, measure_apart, training_step

Contender = Callable[[], object]
# Multiplications and multiply-adds of the rational tanh: csrc/vec.inl.
TANH_OPERATIONS = 9


clock = time.perf_counter


def best_of(rounds: int, contenders: dict[str, Contender]) -> dict[str, float]:
    """Seconds of the best round of each contender, taken in turns."""
    for contender in contenders.values():
        contender()
    best = dict.fromkeys(contenders, math.inf)
    for _ in range(rounds):
        for name, contender in contenders.items():
            # The fast ones get more tries, so that each sees as much of the machine as the slow ones.
            for _ in range(1 if best[name] > 0.3 else 5):
                start = clock()
                contender()
                best[name] = min(best[name], clock() - start)
    return best


def report(title: str, best: dict[str, float], ours: str = "fused") -> None:
    print(f"\n{title}")
    for name, seconds in best.items():
        ratio = "" if name == ours else f"{seconds / best[ours]:8.1f}x"
        print(f"  {name:<28} {seconds * 1e3:10.2f} ms {ratio}")


def with_backend(name: str, function: Callable[[], Tensor], inputs: list[Tensor], grad: Tensor) -> Contender:
    """Forward and backward of ``function`` under one implementation."""

    def run() -> object:
        with ops.use(name):
            return torch.autograd.grad(function(), inputs, grad)

    return run


def published(layout: Layout, x: Tensor, weight: Tensor, bias: Tensor, gate: Tensor) -> Callable[[], Tensor]:
    """The block as the authors wrote it: 0/1 indicator matrices, multiplied as sparse matrices."""

    def indicator(runs: tuple[int, ...]) -> Tensor:
        owner = torch.arange(len(runs)).repeat_interleave(torch.tensor(runs))
        places = torch.stack([owner, torch.arange(len(owner))])
        shape = (len(runs), len(owner))
        return torch.sparse_coo_tensor(places, torch.ones(len(owner)), shape, check_invariants=False).coalesce()

    ands, ors = indicator(layout.conjunction_lengths), indicator(layout.conjunctions_per_formula)
    lengths = torch.tensor(layout.conjunction_lengths, dtype=torch.float32)
    counts = torch.tensor(layout.conjunctions_per_formula, dtype=torch.float32)

    def run() -> Tensor:
        literals = torch.tanh(torch.nn.functional.linear(x, weight * layout.per_literal(gate), bias))
        conjunctions = torch.tanh(torch.sparse.mm(ands, literals.T).T - lengths + 1.5)
        return torch.tanh(torch.sparse.mm(ors, conjunctions.T).T + counts - 1.5)

    return run


def peak_operations() -> float | None:
    """Multiply-adds a second that the machine reaches at best; ``None`` without a compiler."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "peak"
        source = Path(__file__).with_name("peak.cpp")
        build = ["c++", "-std=c++17", "-O3", "-march=native", "-ffp-contract=fast", "-pthread", source, "-o", program]
        try:
            subprocess.run(build, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        command = [program, str(torch.get_num_threads())]
        return max(float(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(8))


def block_operations(layout: Layout, keep: Tensor) -> int:
    """Multiply-adds of forward and backward: literals once or, where they are not kept, twice; weight gradients."""
    rounds = 1 if memory.keeping_pays(BATCH * layout.n_literals) else 2
    per_row = int((keep.sum(-1) * torch.tensor(layout.literals_per_formula)).sum())
    tanhs = rounds * layout.n_literals + 2 * layout.n_conjunctions + layout.n_formulas
    return BATCH * ((rounds + 1) * per_row + TANH_OPERATIONS * tanhs)


def compare_blocks(d_in: int, rounds: int, *, everything: bool, compiled: bool) -> None:
    layout, x, weight, bias, gate, keep, grad = block_inputs(512, d_in)
    inputs = [weight, bias, gate]

    def block() -> Tensor:
        return ops.dnnf(x, weight, bias, layout, gate=gate, keep=keep)

    contenders = {name: with_backend(name, block, inputs, grad) for name in ("fused", "torch")}
    if compiled:
        contenders["torch.compile"] = with_backend("torch", torch.compile(block), inputs, grad)
    if everything:
        wide = published(layout, x, weight, bias, gate)
        contenders["published (sparse products)"] = with_backend("torch", wide, inputs, grad)
    best = best_of(rounds, contenders)
    report(f"block, forward + backward, 512 formulas, {d_in} features, batch {BATCH}", best)
    peak = peak_operations()
    if peak is not None:
        rate = block_operations(layout, keep) / best["fused"]
        print(f"  {rate / 1e9:.1f} of {peak / 1e9:.1f} G multiply-adds a second: {rate / peak:.0%} of the peak")


def compare_steps(n_formulas: int, d_in: int, rounds: int) -> None:
    best = best_of(rounds, {name: training_step(name, n_formulas, d_in) for name in ("fused", "torch")})
    report(f"training step of the paper's preset, {n_formulas} formulas, {d_in} features", best)
    block = training_step("fused", n_formulas, d_in, only_block=True)
    share = best_of(rounds, {"block": block})["block"] / best["fused"]
    print(f"  the block is {share:.0%} of the fused step, the rest {1 / share - 1:.0%} of the block")


def compare_memory(n_formulas: int, d_in: int) -> None:
    print(f"\npeak memory of a training step, {n_formulas} formulas, {d_in} features, batch {BATCH}")
    peaks = {name: measure_apart(name, BATCH, n_formulas, d_in)[1] for name in ("fused", "torch")}
    for name, peak in peaks.items():
        print(f"  {name:<28} {peak:10.0f} MB   {peak / peaks['torch']:.3f} of torch")


def trained_on_gesture(path: Path) -> tuple[DNFNet, Tensor]:
    """The network of a few epochs on gesture, in eval mode, and all rows."""
    import pandas as pd

    from dnfnet.training.optim import TensorFlowAdam

    table = pd.read_parquet(path)
    x = torch.tensor(table.drop(columns="Phase").to_numpy(), dtype=torch.float32)
    x = (x - x.mean(0)) / x.std(0)
    target = torch.tensor(table["Phase"].astype("category").cat.codes.to_numpy(), dtype=torch.long)
    net = DNFNet(x.shape[1], 5, n_formulas=512, beta=1.0, generator=torch.Generator().manual_seed(1))
    optimizer = TensorFlowAdam(net.parameters(), lr=0.05)
    for _ in range(30):
        for rows in torch.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            (torch.nn.functional.cross_entropy(net(x[rows]), target[rows]) + net.penalty()).backward()
            optimizer.step()
    return net.eval(), x


def compare_prediction(path: Path, rounds: int) -> None:
    net, x = trained_on_gesture(path)
    gate = net.block.gate()
    assert gate is not None

    def predict(name: str) -> Contender:
        def run() -> object:
            with ops.use(name), torch.no_grad():
                return [net(rows) for rows in x.split(BATCH)]

        return run

    best = best_of(rounds, {name: predict(name) for name in ("fused", "torch")})
    report(f"prediction of {len(x)} rows of gesture, 512 formulas, 32 features", best)
    print(f"  {len(x) / best['fused']:,.0f} rows a second; formulas use {gate.mean():.0%} of the features")


def use_processor_time() -> None:
    global clock
    clock = time.process_time
    torch.set_num_threads(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="gesture.parquet, for the prediction figure")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--skip-compile", action="store_true")
    parser.add_argument("--cpu-time", action="store_true")
    options = parser.parse_args()
    if options.cpu_time:
        use_processor_time()
    print(ops.backend(), f"{torch.get_num_threads()} threads", f"torch {torch.__version__}", sep="; ")
    compare_blocks(32, options.rounds, everything=True, compiled=not options.skip_compile)
    compare_blocks(200, options.rounds, everything=False, compiled=False)
    compare_steps(512, 32, options.rounds)
    compare_steps(2048, 128, 2)
    compare_memory(2048, 128)
    if options.data is not None:
        compare_prediction(options.data, options.rounds)


if __name__ == "__main__":
    main()
