"""Prediction from packed weights: the same numbers, packed anew when anything changed."""

import copy
import pickle

import pytest
import torch

from dnfnet import ops
from dnfnet.nn import DNNF, DNFNet, FeatureSelection, Layout


@pytest.fixture
def block(fused):
    block = DNNF(6, Layout(8), selection=FeatureSelection(8, 6, beta=0.7))
    with torch.no_grad():
        block.bias.normal_()
        block.selection.mask[torch.rand(8, 6) < 0.5] = 0.5
        block.selection.mask[3] = 0.5  # no feature at all
    return block.eval()


def predict(block, x):
    with torch.no_grad():
        return block(x)


@pytest.mark.parametrize("rows", [0, 1, 15, 64, 1000])
def test_packed_gives_the_bits_of_the_operator(block, rows):
    x = torch.randn(rows, 6)
    assert torch.equal(predict(block, x), block(x).detach())


def test_weights_are_packed_once(block, monkeypatch):
    made = []
    monkeypatch.setattr(
        DNNF,
        "pack",
        lambda self: made.append(1) or ops.Packed(self.weight, self.bias, self.layout, self.gate(), self.keep()),
    )
    for _ in range(3):
        predict(block, torch.randn(4, 6))
    assert len(made) == 1
    block.train().eval()
    predict(block, torch.randn(4, 6))
    assert len(made) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda block: block.weight.mul_(2),
        lambda block: block.bias.add_(1),
        lambda block: block.selection.mask.fill_(1.5),
        lambda block: block.selection.random_mask.fill_(True),
        lambda block: block.load_state_dict({**block.state_dict(), "weight": block.weight * 2}),
        lambda block: setattr(block, "weight", torch.nn.Parameter(block.weight * 3)),
    ],
)
def test_every_change_of_the_weights_is_seen(block, change):
    x = torch.randn(9, 6)
    before = predict(block, x)
    with torch.no_grad():
        change(block)
    after = predict(block, x)
    assert not torch.equal(before, after)
    assert torch.equal(after, block(x).detach())


def test_an_optimiser_step_in_eval_mode_is_seen(block):
    x = torch.randn(9, 6)
    before = predict(block, x)
    block(x).sum().backward()
    torch.optim.Adam(block.parameters(), lr=0.1, fused=True).step()
    assert not torch.equal(before, predict(block, x))


def test_a_look_between_gradients_and_a_fused_step_does_not_hide_the_step(block):
    """Fused optimisers do not count a tensor's version up, so nothing may be packed while a step is to come."""
    x = torch.randn(9, 6)
    block(x).sum().backward()
    before = predict(block, x)
    torch.optim.Adam(block.parameters(), lr=0.1, fused=True).step()
    assert not torch.equal(before, predict(block, x))


def test_weights_that_move_to_the_same_address_are_seen(block):
    x = torch.randn(9, 6)
    shift = torch.nn.utils.parameters_to_vector(block.parameters()).detach()
    for factor in range(2, 12):
        predict(block, x)
        for _ in range(2):
            torch.nn.utils.vector_to_parameters(shift * factor, block.parameters())
        assert torch.equal(predict(block, x), predict(copy.deepcopy(block), x))


def test_copies_and_pickles_pack_for_themselves(block):
    x = torch.randn(9, 6)
    expected = predict(block, x)
    twin, loaded = copy.deepcopy(block), pickle.loads(pickle.dumps(block))
    with torch.no_grad():
        block.weight.zero_()
    assert torch.equal(predict(twin, x), expected)
    assert torch.equal(predict(loaded, x), expected)


def test_inference_mode_and_double_precision_do_without(block):
    x = torch.randn(9, 6)
    expected = predict(block, x)
    with torch.inference_mode():
        assert torch.equal(block(x), expected)
    assert predict(block.double(), x.double()).dtype == torch.float64


def test_not_a_number_in_a_feature_that_no_formula_uses(fused):
    net = DNFNet(3, 2, n_formulas=4, beta=1.0, localization=None).eval()
    x = torch.zeros(2, 3)
    x[0, 1] = float("nan")
    with torch.no_grad():
        net.block.selection.mask[:, 1] = 0.5
        out = net(x)
    assert out[0].isnan().all()
    assert out[1].isfinite().all()
