"""Random blocks, and the comparison of both implementations."""

from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor

from dnfnet.nn import Layout
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

    @property
    def inputs(self):
        """All that can have a gradient."""
        return [t for t in (self.x, self.weight, self.bias, self.gate) if t is not None]

    def run(self, function=dnnf):
        """The output and the gradients for x, weight, bias and, where there is one, the gate."""
        out = function(self.x, self.weight, self.bias, self.layout, gate=self.gate, keep=self.keep)
        return [out.detach(), *torch.autograd.grad(out, self.inputs, self.grad)]

    def exact(self):
        """The same by the reference, in double precision; no gradient outside of what is kept."""
        copy = [None if t is None else t.detach().double().requires_grad_() for t in (self.x, self.weight, self.bias)]
        gate = None if self.gate is None else self.gate.detach().double().requires_grad_()
        results = Block(self.layout, *copy, gate, self.keep, self.grad.double()).run(reference.dnnf)
        if gate is not None and self.keep is not None:
            results[4] = results[4] * self.keep
        return results


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


def assert_equals(results, expected, *, scale=1.0, rounding=None):
    """Equal up to a share of ``scale`` or the largest value, or to what the results ``rounding`` are off by."""
    for i, (result, wanted) in enumerate(zip(results, expected, strict=True)):
        tolerance = 2e-5 * max(scale, largest(wanted))
        if rounding is not None:
            tolerance += 5 * largest(rounding[i].double() - wanted)
        torch.testing.assert_close(result.double(), wanted, rtol=0, atol=tolerance)


def largest(values):
    return values.abs().max().item() if values.numel() else 0.0


layouts = st.builds(
    Layout,
    st.integers(1, 20),
    st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple),
    st.lists(st.integers(1, 13), min_size=1, max_size=4).map(tuple),
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
