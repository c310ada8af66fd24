"""Random blocks, and the comparison of both implementations."""

from dataclasses import dataclass, replace

import torch
from hypothesis import strategies as st
from torch import Tensor

from dnfnet.nn import Layout, Runs
from dnfnet.ops import dnnf, reference

ROWS = (0, 1, 15, 16, 17, 63, 64, 65, 127, 129, 300)


@dataclass
class Block:
    """What a block is computed from, and a gradient for its output."""

    layout: Layout
    x: Tensor
    weight: Tensor
    bias: Tensor
    gate: Tensor | None
    keep: Tensor | None
    grad: Tensor
    runs: Runs | None = None

    @property
    def inputs(self):
        """All that can have a gradient; with runs, x has none."""
        x = () if self.runs is not None else (self.x,)
        return [t for t in (*x, self.weight, self.bias, self.gate) if t is not None]

    def run(self, function=dnnf):
        """The output and the gradients for x, weight, bias and, where there is one, the gate."""
        out = function(
            self.x, self.weight, self.bias, self.layout, gate=self.gate, keep=self.keep, **self.hint(function)
        )
        return [out.detach(), *torch.autograd.grad(out, self.inputs, self.grad)]

    def hint(self, function):
        """The runs, for a function that knows what to do with them."""
        return {} if self.runs is None or function is reference.dnnf else {"runs": self.runs}

    def exact(self):
        """The same by the reference, in double precision; no gradient outside of what is kept."""
        copy = [None if t is None else t.detach().double().requires_grad_() for t in (self.x, self.weight, self.bias)]
        gate = None if self.gate is None else self.gate.detach().double().requires_grad_()
        results = Block(self.layout, *copy, gate, self.keep, self.grad.double(), self.runs).run(reference.dnnf)
        if gate is not None and self.keep is not None:
            results[-1] = results[-1] * self.keep
        return results

    def reach(self):
        """What one rounding of every tanh can come to in each result, if these are independent: roots of squares."""
        x, weight, grad = (t.detach().double() for t in (self.x, self.weight, self.grad))
        a_formula = (self.layout.n_literals / self.layout.n_formulas) ** 0.5
        rows, column = x.square().sum(0).sqrt(), weight.square().sum(0).sqrt()
        slope = largest(grad)
        gate = slope * largest(rows) * largest(weight) * a_formula
        reach = [a_formula, slope * largest(column), slope * largest(rows), slope * len(x) ** 0.5, gate]
        return reach if self.gate is not None else reach[:-1]


def make_block(layout, rows, d_in, *, masks="both", x_scale=1.0, weight_scale=0.5, seed=0):
    """A block with a formula that keeps nothing, where there are masks."""
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, d_in, generator=draw) * x_scale
    weight = torch.randn(layout.n_literals, d_in, generator=draw) * weight_scale
    bias = torch.randn(layout.n_literals, generator=draw) * 0.5
    keep = torch.rand(layout.n_formulas, d_in, generator=draw) < torch.rand(layout.n_formulas, 1, generator=draw)
    keep[seed % layout.n_formulas] = False
    gate = torch.randn(layout.n_formulas, d_in, generator=draw).sign() * keep
    gate[torch.rand(gate.shape, generator=draw) < 0.2] = 0
    gate = None if masks == "none" else gate.requires_grad_()
    grad = torch.randn(rows, layout.n_formulas, generator=draw)
    inputs = x.requires_grad_(), weight.requires_grad_(), bias.requires_grad_()
    return Block(layout, *inputs, gate, keep if masks == "both" else None, grad)


def make_run_block(layout, rows, pieces, values, n_alone, *, masks="both", seed=0):
    """A block whose inputs come in runs of these sizes, some rows without a value and some of no such form."""
    runs, first = [], 0
    for kind, sizes in (("pieces", pieces), ("values", values)):
        for n in sizes:
            runs.append((first, n, kind))
            first += n
    block = make_block(layout, rows, first + n_alone, masks=masks, seed=seed)
    draw = torch.Generator().manual_seed(seed + 1)
    ends = torch.stack([-torch.rand(block.x.shape[1], generator=draw) - 0.1, torch.rand(block.x.shape[1]) * 3 + 0.1])
    x = block.x.detach()
    for at, n, kind in runs:
        place = torch.rand(rows, 1, generator=draw) * n
        place = torch.where(torch.rand(rows, 1, generator=draw) < 0.4, place.floor(), place)  # many at a base
        inputs = (place - torch.arange(n)).clamp(0, 1) if kind == "pieces" else place.long() - 1 == torch.arange(n)
        low, high = ends[:, at : at + n]
        own = torch.where(inputs == 1, high, low + inputs.float() * (high - low))
        own[torch.rand(rows, generator=draw) < 0.1] = 0
        odd = torch.rand(rows, generator=draw) < 0.1
        x[:, at : at + n] = torch.where(odd[:, None], x[:, at : at + n], own)
    return replace(block, x=x, runs=Runs(runs, ends))


def assert_equals(results, expected, *, scale=1.0, rounding=None):
    """Equal up to a share of ``scale`` or the largest value, or to what the results ``rounding`` are off by."""
    for i, (result, wanted) in enumerate(zip(results, expected, strict=True)):
        tolerance = 2e-5 * max(scale, largest(wanted))
        if rounding is not None:
            tolerance += 5 * largest(rounding[i].double() - wanted)
        torch.testing.assert_close(result.double(), wanted, rtol=0, atol=tolerance)


def assert_as_exact_as_float32(block):
    """Off by a few roundings of every tanh, beyond five times what plain float32 is off by."""
    results = zip(block.run(), block.exact(), block.run(reference.dnnf), block.reach(), strict=True)
    for result, wanted, plain, reach in results:
        tolerance = 2e-6 * reach + 5 * largest(plain.double() - wanted)
        torch.testing.assert_close(result.double(), wanted, rtol=0, atol=tolerance)


def assert_same_bits(block, threads):
    """Equal results on one thread and on several."""
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = block.run()
        torch.set_num_threads(threads)
        together = block.run()
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(alone, together, strict=True))


def largest(values):
    return values.abs().max().item() if values.numel() else 0.0


layouts = st.builds(
    Layout,
    st.integers(1, 20),
    st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple),
    st.lists(st.integers(1, 13), min_size=1, max_size=4).map(tuple),
)

sizes = st.lists(st.integers(1, 30), max_size=5)
run_blocks = st.builds(
    make_run_block,
    layouts,
    st.sampled_from(ROWS),
    sizes,
    sizes,
    st.integers(1, 5),
    masks=st.sampled_from(["both", "gate", "none"]),
    seed=st.integers(0, 1000),
)

blocks = st.builds(
    make_block,
    layouts,
    st.sampled_from(ROWS),
    st.integers(1, 40),
    masks=st.sampled_from(["both", "gate", "none"]),
    x_scale=st.sampled_from([1e-40, 1e-3, 1.0, 30.0]),
    weight_scale=st.sampled_from([1e-3, 0.5, 5.0]),
    seed=st.integers(0, 1000),
)
