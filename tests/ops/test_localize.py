"""The fused localization against torch in double precision."""

import pytest
import torch

from dnfnet import ops


def run(formulas, squared, scale, grad):
    out = ops.localize(formulas, squared, scale)
    return [out.detach(), *torch.autograd.grad(out, [formulas, squared, scale], grad)]


@pytest.mark.parametrize("rows", [0, 1, 17, 130])
@pytest.mark.parametrize("n", [1, 3, 16, 37])
def test_equals_torch(instructions, rows, n):
    """Also where a squared distance is zero, negative by cancellation, or too large for exp."""
    squared = torch.randn(rows, n).exp().mul(3)
    squared[::5, 0], squared[1::5, 0], squared[2::5, 0] = 0.0, -1e-6, 1e6
    inputs, grad = [torch.randn(rows, n), squared, torch.tensor(0.88)], torch.randn(rows, n)
    results = run(*(t.requires_grad_() for t in inputs), grad)
    wide = run(*(t.detach().double().requires_grad_() for t in inputs), grad.double())
    for result, expected in zip(results, wide, strict=True):
        # At a squared distance of 1e-38 the root's derivative is 1e19 in float32; double's bound is another.
        usual = expected.abs() < 1e3
        torch.testing.assert_close(result.double()[usual], expected[usual], rtol=2e-5, atol=2e-6)


def test_gradient_where_the_bound_holds(instructions):
    """Below the bound the distance is constant: no gradient, as from torch's clamp."""
    squared = torch.tensor([[0.0, -1.0, 2.0]], requires_grad=True)
    ops.localize(torch.ones(1, 3), squared, torch.tensor(0.9)).square().sum().backward()
    assert squared.grad[0, :2].tolist() == [0.0, 0.0]
    assert squared.grad[0, 2] != 0


def test_not_a_number_stays(instructions):
    squared = torch.tensor([[1.0, float("nan")], [1.0, 2.0]])
    out = ops.localize(torch.ones(2, 2), squared, torch.tensor(0.9))
    assert out[0].isnan().all()
    assert out[1].isfinite().all()


def test_same_bits_for_any_number_of_threads(instructions):
    shapes = [(999, 301), (999, 301), ()]
    inputs, grad = [torch.rand(shape, requires_grad=True) for shape in shapes], torch.randn(999, 301)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = run(*inputs, grad)
        torch.set_num_threads(3)
        together = run(*inputs, grad)
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(alone, together, strict=True))
