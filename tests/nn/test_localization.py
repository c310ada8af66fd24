"""Localization: distances against broadcasting, behaviour at its limits."""

import math

import pytest
import torch

from dnfnet.nn import Localization, UniformLocalization, localization
from dnfnet.nn.localization import squared_distances


def test_squared_distances_equal_broadcasting():
    x, mu, sigma = (torch.randn(n, 6, dtype=torch.float64) for n in (9, 5, 5))
    expected = ((x[:, None] - mu) * sigma).square().sum(-1)
    torch.testing.assert_close(squared_distances(x, mu, sigma), expected, rtol=0, atol=1e-12)


def test_at_a_centre_value_and_gradient_are_finite():
    module = Localization(4, 3).double()
    x = module.mu.detach()[:1].clone().requires_grad_()
    module(x).square().sum().backward()
    assert torch.isfinite(x.grad).all()
    assert all(torch.isfinite(p.grad).all() for p in module.parameters())


def test_two_formulas_by_hand():
    """One at the centre (nearness 1), one at distance 2: weights are a softmax of σ(τ)·(1, e⁻²)."""
    module = Localization(2, 1).double()
    with torch.no_grad():
        module.mu.copy_(torch.tensor([[0.0], [1.0]]))
        module.sigma.copy_(torch.tensor([[1.0], [2.0]]))
        module.tau.fill_(2.0)
    temperature = 1 / (1 + math.exp(-2))
    ratio = math.exp(temperature * (1 - math.exp(-2)))
    weights = module(torch.zeros(1, 1, dtype=torch.float64))[0]
    assert (weights[0] / weights[1]).item() == pytest.approx(ratio, rel=1e-9)


@pytest.mark.parametrize("n_groups", [1, 4])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 5)])
def test_in_parts_as_in_one(monkeypatch, shape, n_groups):
    """Values and gradients do not depend on how many rows are localized at a time."""
    module = Localization(8, 3, n_groups=n_groups).double()
    x, formulas = (torch.randn(*shape, n, dtype=torch.float64, requires_grad=True) for n in (3, 8))

    def run():
        out = module.localize(formulas, x)
        return [out, *torch.autograd.grad(out.square().sum(), [formulas, x, *module.parameters()])]

    whole = run()
    torch.testing.assert_close(whole[0], formulas * module(x), rtol=0, atol=1e-12)
    monkeypatch.setattr(localization, "PART", 3 * 8)
    for part, expected in zip(run(), whole, strict=True):
        torch.testing.assert_close(part, expected, rtol=0, atol=1e-12)


def test_no_formula_outweighs_another_by_more_than_e():
    """What fidelity.md says of the softmax over values in (0, 1]."""
    weights = Localization(64, 2)(torch.randn(500, 2) * 3)
    assert (weights.max(-1).values / weights.min(-1).values).max() < math.e


def test_uniform_is_one_over_n():
    assert UniformLocalization(4)(torch.zeros(3, 2)).tolist() == [[0.25] * 4]


def test_no_tensor_of_rows_times_formulas_times_features():
    """The largest tensor that forward and backward save is rows × formulas or formulas × features."""
    sizes = []
    module, x = Localization(50, 40), torch.randn(60, 40, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.numel()) or t, lambda t: t):
        module(x).sum().backward()
    assert max(sizes) <= 60 * 50
