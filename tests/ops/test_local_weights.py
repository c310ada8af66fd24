"""The fused localization against torch in double precision."""

import pytest
import torch

from dnfnet import ops


def run(squared, scale, grad):
    out = ops.local_weights(squared, scale)
    return [out.detach(), *torch.autograd.grad(out, [squared, scale], grad)]


@pytest.mark.parametrize("rows", [0, 1, 17, 130])
@pytest.mark.parametrize("n", [1, 3, 16, 37])
def test_equals_torch(instructions, rows, n):
    """Also where a squared distance is zero, negative by cancellation, or too large for exp."""
    squared = torch.randn(rows, n).exp().mul(3)
    squared[::5, 0], squared[1::5, 0], squared[2::5, 0] = 0.0, -1e-6, 1e6
    scale, grad = torch.tensor(0.88), torch.randn(rows, n)
    results = run(squared.requires_grad_(), scale.requires_grad_(), grad)
    wide = run(squared.detach().double().requires_grad_(), scale.detach().double().requires_grad_(), grad.double())
    for result, expected in zip(results, wide, strict=True):
        # At a squared distance of 1e-38 the root's derivative is 1e19 in float32; double's bound is another.
        usual = expected.abs() < 1e3
        torch.testing.assert_close(result.double()[usual], expected[usual], rtol=2e-5, atol=2e-6)


def test_gradient_where_the_bound_holds(instructions):
    """Below the bound the distance is constant: no gradient, as from torch's clamp."""
    squared = torch.tensor([[0.0, -1.0, 2.0]], requires_grad=True)
    ops.local_weights(squared, torch.tensor(0.9)).square().sum().backward()
    assert squared.grad[0, :2].tolist() == [0.0, 0.0]
    assert squared.grad[0, 2] != 0


def test_not_a_number_stays(instructions):
    out = ops.local_weights(torch.tensor([[1.0, float("nan")], [1.0, 2.0]]), torch.tensor(0.9))
    assert out[0].isnan().all()
    assert out[1].isfinite().all()


def test_same_bits_for_any_number_of_threads(instructions):
    squared, scale = torch.rand(999, 301, requires_grad=True), torch.tensor(0.7, requires_grad=True)
    grad = torch.randn(999, 301)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = run(squared, scale, grad)
        torch.set_num_threads(3)
        together = run(squared, scale, grad)
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(alone, together, strict=True))
