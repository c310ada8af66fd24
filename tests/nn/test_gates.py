"""The gates on every input that a person can check by hand."""

import itertools
import math

import pytest
import torch

from dnfnet.nn import exact_and, exact_or, projected_and, soft_and, soft_or


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_exact_gates_are_logic_on_all_binary_inputs(count):
    """Appendix A: with sign and bias 1 the gates are AND and OR on {-1, 1}."""
    x = torch.tensor(list(itertools.product([-1.0, 1.0], repeat=count)))
    all_true, any_true = (x == 1).all(-1), (x == 1).any(-1)
    assert torch.equal(exact_and(x.sum(-1), count), all_true * 2.0 - 1)
    assert torch.equal(exact_or(x.sum(-1), count), any_true * 2.0 - 1)


@pytest.mark.parametrize("count", [1, 2, 6])
def test_soft_gates_have_the_sign_of_the_exact_ones(count):
    x = torch.tensor(list(itertools.product([-1.0, 1.0], repeat=count)))
    total = x.sum(-1)
    assert torch.equal(soft_and(total, count).sign(), exact_and(total, count))
    assert torch.equal(soft_or(total, count).sign(), exact_or(total, count))


def test_soft_gates_at_the_corners():
    """All true gives tanh(1.5) for AND; one false in it gives tanh(-0.5); OR mirrors that."""
    assert soft_and(torch.tensor(4.0), 4).item() == pytest.approx(math.tanh(1.5))
    assert soft_and(torch.tensor(2.0), 4).item() == pytest.approx(math.tanh(-0.5))
    assert soft_or(torch.tensor(-4.0), 4).item() == pytest.approx(math.tanh(-1.5))
    assert soft_or(torch.tensor(-2.0), 4).item() == pytest.approx(math.tanh(0.5))


def test_projected_and_sees_only_its_subset():
    x = torch.tensor([1.0, -1.0, 1.0])
    assert projected_and(x, torch.tensor([1.0, 0.0, 1.0])).item() == pytest.approx(math.tanh(1.5))
    assert projected_and(x, torch.tensor([1.0, 1.0, 0.0])).item() == pytest.approx(math.tanh(-0.5))
