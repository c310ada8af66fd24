"""The fused block against the reference in double precision."""

import pytest
import torch
from blocks import ROWS, assert_as_exact_as_float32, assert_equals, assert_same_bits, blocks, make_block
from hypothesis import HealthCheck, example, given, settings

from dnfnet import ops
from dnfnet.nn import Layout

slow = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@slow
@given(block=blocks)
@example(block=make_block(Layout(15, (7,), (1,)), 63, 4, x_scale=1e-40, weight_scale=5.0))
def test_any_block_equals_the_reference(fused, block):
    """Outputs and all gradients, over layouts, masks, sizes and scales: as good as float32 is in torch."""
    assert_as_exact_as_float32(block)


@pytest.mark.parametrize("rows", ROWS)
def test_every_instruction_set_equals_the_reference(instructions, rows):
    block = make_block(Layout(8), rows, 11)
    assert_equals(block.run(), block.exact())


@pytest.mark.parametrize("masks", ["both", "gate", "none"])
def test_many_features(instructions, masks):
    block = make_block(Layout(5), 70, 150, masks=masks, weight_scale=0.1)
    assert_equals(block.run(), block.exact())


def test_tanh_is_accurate_to_a_few_roundings(instructions):
    """One formula of one literal: tanh(tanh(tanh(x) + 0.5) − 0.5), at every scale of x."""
    x = torch.cat([torch.linspace(-12, 12, 200_001), torch.logspace(-38, 0, 1000), -torch.logspace(-38, 0, 1000)])
    out = ops.dnnf(x[:, None], torch.ones(1, 1), torch.zeros(1), Layout(1, (1,), (1,)))[:, 0]
    wide = x.double().tanh().add(0.5).tanh().sub(0.5).tanh()
    assert (out.double() - wide).abs().max() < 6e-7


@pytest.mark.parametrize("scale", [1e4, 1e30])
def test_saturated_literals_have_no_gradient(instructions, scale):
    """Where float32 tanh is 1 exactly, so is the kernel's: no residue times a huge input."""
    block = make_block(Layout(4), 20, 3, masks="none", x_scale=scale, weight_scale=1e3)
    expected = block.exact()
    assert_equals(block.run()[:1], expected[:1])
    assert block.run()[2].abs().max() == expected[2].abs().max() == 0


def test_subnormal_weights(instructions):
    block = make_block(Layout(4), 20, 3, weight_scale=1e-41)
    assert_equals(block.run(), block.exact())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("masks", ["both", "none"])
def test_non_finite_input_gives_what_torch_gives(instructions, value, masks):
    """Also where the feature is one that the formula leaves out: zero times it is not zero."""
    block = make_block(Layout(8), 40, 6, masks=masks)
    with torch.no_grad():
        block.x[3, 2] = value
        block.x[37, 0] = value
    expected = block.exact()[0]
    torch.testing.assert_close(block.run()[0].double(), expected, rtol=0, atol=2e-5, equal_nan=True)


def test_non_finite_weights_show(instructions):
    block = make_block(Layout(4), 5, 3, masks="none")
    with torch.no_grad():
        block.bias[0] = float("nan")
    out, _, grad_weight, *_ = block.run()
    assert out[:, 0].isnan().all()
    assert out[:, 1:].isfinite().all()
    assert grad_weight[0].isnan().all()


def test_without_gradients_the_same_bits(fused):
    """Leaving out what the gate shuts changes the work, not the result."""
    block = make_block(Layout(8), 100, 11)
    with torch.no_grad():
        out = ops.dnnf(block.x, block.weight, block.bias, block.layout, gate=block.gate, keep=block.keep)
    assert torch.equal(out, block.run()[0])


def test_only_what_is_asked_for_gets_a_gradient(fused):
    block = make_block(Layout(4), 9, 5)
    for leaf in (block.x, block.gate, block.bias):
        leaf.requires_grad_(False)
    ops.dnnf(block.x, block.weight, block.bias, block.layout, gate=block.gate, keep=block.keep).sum().backward()
    assert block.weight.grad.abs().max() > 0
    assert block.x.grad is block.gate.grad is block.bias.grad is None


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_same_bits_for_any_number_of_threads(instructions, threads):
    block = make_block(Layout(64), 700, 13)
    assert_same_bits(block, threads)
