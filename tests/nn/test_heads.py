"""Groups of formulas with output layers of their own, and several networks as one."""

import math

import pytest
import torch

from dnfnet.nn import DNFNet, Ensemble, GroupHeads, Localization, nets_of


def groups_net(**options):
    generator = torch.Generator().manual_seed(0)
    return DNFNet(5, 3, n_formulas=12, beta=None, n_groups=4, generator=generator, **options)


def test_a_head_sees_its_own_group_only_divided_by_the_root_of_its_size():
    heads = GroupHeads(6, n_groups=2, d_out=1)
    heads.weight.data = torch.tensor([[[1.0], [2.0], [3.0]], [[10.0], [20.0], [30.0]]])
    heads.bias.data = torch.tensor([[[0.5]], [[-0.5]]])
    formulas = torch.tensor([[1.0, 1.0, 1.0, 1.0, 0.0, -1.0]])
    expected = torch.tensor([[[6 / math.sqrt(3) + 0.5], [-20 / math.sqrt(3) - 0.5]]])
    for training in (True, False):
        torch.testing.assert_close(heads.train(training)(formulas), expected)


def test_groups_learn_independently():
    """The loss of one group has no gradient for the formulas of another."""
    net = groups_net()
    net(torch.randn(7, 5))[:, 1].square().sum().backward()
    of_formula = [part.abs().sum() > 0 for part in net.block.weight.grad.split(net.block.layout.literals_per_formula)]
    assert of_formula == [False] * 3 + [True] * 3 + [False] * 6


def test_localization_is_one_among_the_formulas_of_a_group():
    x = torch.randn(6, 5)
    localization = Localization(12, 5, n_groups=4)
    weights = localization(x)
    torch.testing.assert_close(weights.unflatten(-1, (4, 3)).sum(-1), torch.ones(6, 4))
    formulas = torch.rand(6, 12)
    torch.testing.assert_close(localization.localize(formulas, x), formulas * weights)
    uniform = groups_net(localization="uniform")
    torch.testing.assert_close(uniform.embed(x), uniform.block(x) / 3)


@pytest.mark.parametrize("n_groups", [0, 5, 13])
def test_groups_must_divide_the_formulas(n_groups):
    with pytest.raises(ValueError, match="n_groups must divide n_formulas"):
        GroupHeads(12, n_groups=n_groups, d_out=1)


def test_an_ensemble_has_a_member_for_each_group_of_each_network():
    x = torch.randn(6, 5)
    nets = [groups_net(), DNFNet(5, 3, n_formulas=4, beta=0.7)]
    ensemble = Ensemble(nets)
    outputs = ensemble(x)
    torch.testing.assert_close(outputs[:, :4], nets[0](x))
    torch.testing.assert_close(outputs[:, 4], nets[1](x))
    torch.testing.assert_close(ensemble.penalty(), (nets[0].penalty() + nets[1].penalty()) / 2)
    assert nets_of(ensemble) == nets
    assert nets_of(nets[0]) == [nets[0]]


@pytest.mark.parametrize("d_out", [1, 2, 3, 9, 16, 20])
@pytest.mark.parametrize("n_groups", [None, 4])
def test_a_row_has_the_same_outputs_alone_and_among_others(d_out, n_groups):
    net = DNFNet(5, d_out, n_formulas=64, beta=None, n_groups=n_groups).eval()
    x = torch.randn(256, 5)
    with torch.no_grad():
        whole = net(x)
        shuffled = net(x.flip(0)).flip(0)
    assert torch.equal(whole, shuffled)


def test_only_those_that_vote_are_heard_outside_of_training():
    net = groups_net().eval()
    x = torch.randn(6, 5)
    everyone = net(x)
    net.let_vote(torch.tensor([True, False, True, False]))
    torch.testing.assert_close(net(x), everyone[:, [0, 2]])
    assert net.train()(x).shape == (6, 4, 3)
    net.let_vote()
    torch.testing.assert_close(net.eval()(x), everyone)
    DNFNet(5, 3, n_formulas=4, beta=0.7).let_vote()  # a network without groups has nobody to ask
