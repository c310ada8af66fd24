"""The network against an independent implementation of the paper's equations."""

import oracle
import pytest
import torch

from dnfnet.nn import DNFNet

LAYOUTS = {
    "paper": {"n_formulas": 20, "conjunctions": (6, 9, 12, 15), "lengths": (2, 4, 6)},
    "uneven": {"n_formulas": 7, "conjunctions": (4, 5, 1), "lengths": (3, 1)},
    "one formula": {"n_formulas": 1, "conjunctions": (2,), "lengths": (5,)},
}


def make_net(layout, d_in=6, d_out=3, **options):
    """A network away from its start: weights of ordinary size, some mask entries on either side of the threshold."""
    generator = torch.Generator().manual_seed(5)
    net = DNFNet(d_in, d_out, beta=0.7, generator=generator, **layout, **options).double()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
        net.block.selection.mask.mul_(1.5)
    return net


def oracle_outputs(net, x, layout):
    """The oracle's embedding and logits for the numbers of ``net``."""
    values = {name: value.detach().numpy() for name, value in net.state_dict().items()}
    gate = oracle.masks(values["block.selection.mask"], values["block.selection.random_mask"])
    formulas = oracle.dnnf(x, values["block.weight"].T, values["block.bias"], gate, **layout)
    weights = oracle.localization(
        x, values["localization.mu"], values["localization.sigma"], values["localization.tau"]
    )
    embedding = formulas * weights
    return embedding, embedding @ values["head.weight"].T + values["head.bias"]


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("n_rows", [0, 1, 2, 33])
def test_forward_equals_oracle_in_double(name, n_rows):
    layout = LAYOUTS[name]
    net = make_net(layout)
    x = torch.randn(n_rows, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(n_rows))
    embedding, logits = oracle_outputs(net, x.numpy(), layout)
    torch.testing.assert_close(net.embed(x).detach().numpy(), embedding, rtol=0, atol=1e-12)
    torch.testing.assert_close(net(x).detach().numpy(), logits, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", LAYOUTS)
def test_forward_equals_oracle_in_single(name):
    layout = LAYOUTS[name]
    net = make_net(layout)
    x = torch.randn(33, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    expected = oracle_outputs(net, x.numpy(), layout)[1]
    logits = net.float()(x.float()).detach().double().numpy()
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", LAYOUTS)
def test_penalty_equals_oracle(name):
    net = make_net(LAYOUTS[name])
    selection = net.block.selection
    expected = oracle.penalty(
        selection.mask.detach().numpy(), selection.random_mask.numpy(), selection.alpha.item(), beta=0.7
    )
    assert net.penalty().item() == pytest.approx(expected, abs=1e-12)


def test_gradients_pass_gradcheck():
    """For x, weights, bias, μ, σ, τ and the head: all that is smooth. The masks have their own definition."""
    layout = {"n_formulas": 3, "conjunctions": (2, 3), "lengths": (2, 1)}
    net = make_net(layout, d_in=4, d_out=2)
    names = [name for name, _ in net.named_parameters() if "selection" not in name]
    assert len(names) == 7
    values = [dict(net.named_parameters())[name].detach().clone().requires_grad_() for name in names]
    x = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)

    def logits(x, *values):
        return torch.func.functional_call(net, dict(zip(names, values, strict=True)), (x,))

    assert torch.autograd.gradcheck(logits, (x, *values))


def test_gradient_of_the_mask_is_the_straight_through_one():
    """The gradient for m_t is d loss / d gate · m_s · tanh'(|m_t| − ε) · sign(m_t) / 2."""
    net = make_net(LAYOUTS["paper"])
    x = torch.randn(9, 6, dtype=torch.float64)
    block, selection = net.block, net.block.selection
    gate = block.gate().detach().requires_grad_()

    weight = block.weight.detach() * block.layout.per_literal(gate)
    literals = torch.tanh(x @ weight.T + block.bias.detach())
    lengths = torch.tensor(block.layout.conjunction_lengths)
    counts = torch.tensor(block.layout.conjunctions_per_formula)
    ands = torch.tanh(block.layout.sum_literals(literals) - lengths + 1.5)
    torch.tanh(block.layout.sum_conjunctions(ands) + counts - 1.5).square().sum().backward()

    m_t = selection.mask.detach()
    proxy = (1 - torch.tanh(m_t.abs() - 1) ** 2) * torch.sign(m_t) / 2
    block(x).square().sum().backward()
    torch.testing.assert_close(selection.mask.grad, gate.grad * selection.random_mask * proxy)
    assert selection.mask.grad.abs().max() > 0
