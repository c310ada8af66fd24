"""Steps whose scale the weights of a literal share."""

import copy

import pytest
import torch

from dnfnet.nn import DNFNet, Ensemble
from dnfnet.training import BinaryClassification, TensorSource, Trainer, optim
from dnfnet.training.optim import LiteralAdamW, make_optimizer

GENERATOR = torch.Generator().manual_seed(0)
GRADIENTS = torch.randn(6, 700, 5, generator=GENERATOR)


def matrix():
    return torch.nn.Parameter(torch.ones(700, 5))


def walk(optimizer, weight):
    for gradient in GRADIENTS:
        weight.grad = gradient.clone()
        optimizer.step()
    return weight.detach()


def test_other_parameters_take_the_steps_of_adamw():
    own, torchs = matrix(), matrix()
    group = {"params": [own], "weight_decay": 0.3}
    walk(LiteralAdamW([group], lr=0.02, deviations=torch.ones(5)), own)
    walk(torch.optim.AdamW([torchs], lr=0.02, weight_decay=0.3), torchs)
    torch.testing.assert_close(own.detach(), torchs.detach(), rtol=1e-5, atol=1e-6)


def test_the_first_step_by_hand():
    """Gradients 3 and 4 of inputs with deviations 1 and 2: the literal's square is (9/1 + 16/4) / 2 = 6.5."""
    weight = torch.nn.Parameter(torch.tensor([[1.0, 1.0], [1.0, 1.0]]))
    groups = [{"params": [weight], "weight_decay": 0.5, "seen": torch.tensor([2.0, 1.0])}]
    optimizer = LiteralAdamW(groups, lr=0.1, deviations=torch.tensor([1.0, 2.0]))
    weight.grad = torch.tensor([[3.0, 4.0], [3.0, 0.0]])
    optimizer.step()
    size = 6.5**0.5
    expected = [[0.95 - 0.1 * 3 / size, 0.95 - 0.1 * 4 / (2 * size)], [0.95 - 0.1, 0.95]]
    torch.testing.assert_close(weight.detach(), torch.tensor(expected))


def test_blocks_change_nothing(monkeypatch):
    """All literals at once, and in blocks of three."""
    deviations = torch.rand(5, generator=GENERATOR) + 0.1
    seen = torch.randint(1, 6, (700,), generator=GENERATOR).float()
    whole, cut = matrix(), matrix()
    walk(LiteralAdamW([{"params": [whole], "seen": seen}], lr=0.02, deviations=deviations), whole)
    monkeypatch.setattr(optim, "BLOCK", 15)
    walk(LiteralAdamW([{"params": [cut], "seen": seen}], lr=0.02, deviations=deviations), cut)
    torch.testing.assert_close(cut.detach(), whole.detach(), rtol=1e-6, atol=1e-7)


def test_rows_of_one_matrix_are_trained_each_in_its_way():
    """Rows with decay and a shared scale, rows without either: as if they were matrices of their own."""
    deviations, seen = torch.rand(5, generator=GENERATOR) + 0.1, torch.full((700,), 5.0)
    mixed, shared, own = matrix(), matrix(), matrix()
    groups = [
        {"params": [mixed], "rows": slice(0, 300), "weight_decay": 0.5, "seen": seen},
        {"params": [mixed], "rows": slice(300, 700), "weight_decay": 0.1},
    ]
    walk(LiteralAdamW(groups, lr=0.02, deviations=deviations), mixed)
    walk(
        LiteralAdamW([{"params": [shared], "weight_decay": 0.5, "seen": seen}], lr=0.02, deviations=deviations), shared
    )
    walk(torch.optim.AdamW([own], lr=0.02, weight_decay=0.1), own)
    torch.testing.assert_close(mixed[:300].detach(), shared[:300].detach())
    torch.testing.assert_close(mixed[300:].detach(), own[300:].detach(), rtol=1e-5, atol=1e-6)
    assert not torch.allclose(mixed[300:].detach(), shared[300:].detach(), atol=1e-3)


@pytest.mark.parametrize("set_to_none", [True, False])
def test_gradients_of_the_whole_matrix_are_forgotten(set_to_none):
    weight = matrix()
    optimizer = LiteralAdamW([{"params": [weight], "rows": slice(0, 3)}], lr=0.02)
    weight.grad = torch.ones(700, 5)
    optimizer.zero_grad(set_to_none)
    assert weight.grad is None if set_to_none else not weight.grad.any()


def test_groups_of_every_beta_take_the_kinds_in_turn():
    net = DNFNet(7, 1, n_formulas=16, beta=(None, 0.7), n_groups=8)
    assert net.group_kinds(2).tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    assert DNFNet(7, 1, n_formulas=6, beta=None, n_groups=3).group_kinds(2).tolist() == [0, 1, 0]
    per_formula = [
        part.unique().tolist() for part in net.literal_kinds(2)[0].split(net.block.layout.literals_per_formula)
    ]
    assert per_formula == [[kind] for kind in [0, 0, 0, 0, 1, 1, 1, 1] * 2]
    assert [len(kinds) for kinds in Ensemble([net, net]).literal_kinds(2)] == [net.block.layout.n_literals] * 2


def test_decays_in_turn_shrink_the_literals_of_their_groups():
    net = DNFNet(7, 1, n_formulas=16, beta=(None, 0.7), n_groups=8)
    before = net.block.weight.detach().clone()
    optimizer = make_optimizer(
        net, learning_rate=0.1, weight_decay=(0.5, 0.0), deviations=torch.ones(7), shared_steps=(True, False)
    )
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    factor = torch.where(net.literal_kinds(2)[0] == 0, 0.95, 1.0).unsqueeze(-1)
    torch.testing.assert_close(net.block.weight.detach(), before * factor)


def test_a_literal_sees_what_its_random_mask_lets_through():
    net = DNFNet(7, 1, n_formulas=8, beta=(None, 0.7), n_groups=4, generator=GENERATOR)
    (seen,) = net.seen_inputs()
    assert torch.equal(seen, net.block.layout.per_literal(net.block.selection.random_mask).sum(-1).float())
    bare = DNFNet(7, 1, n_formulas=8, beta=None, keep_probs=None)
    assert torch.equal(bare.seen_inputs()[0], torch.full((bare.block.layout.n_literals,), 7.0))
    only_chosen = DNFNet(7, 1, n_formulas=8, beta=0.7, keep_probs=None)
    assert torch.equal(only_chosen.seen_inputs()[0], bare.seen_inputs()[0])
    both = Ensemble([net, bare]).seen_inputs()
    assert [len(seen) for seen in both] == [net.block.layout.n_literals, bare.block.layout.n_literals]


def test_decay_is_of_literals_alone():
    net = DNFNet(7, 1, n_formulas=8, beta=(None, 0.7), n_groups=4)
    before = copy.deepcopy(net.state_dict())
    optimizer = make_optimizer(net, learning_rate=0.1, weight_decay=0.5, deviations=torch.ones(7))
    assert isinstance(optimizer, LiteralAdamW)
    for parameter in net.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    after = net.state_dict()
    assert {name for name in before if not torch.equal(before[name], after[name])} == {"block.weight"}
    torch.testing.assert_close(after["block.weight"], before["block.weight"] * 0.95)


def training(deviations, generator, **options):
    X = torch.randn(400, 20, generator=torch.Generator().manual_seed(1))
    source = TensorSource(X, (X[:, 0] * X[:, 1] > 0).long(), batch_size=100)
    net = DNFNet(20, 1, n_formulas=16, beta=None, keep_probs=None, localization=None, n_groups=4, generator=generator)
    settings = {"learning_rate": 0.02, "max_epochs": 30, "schedule": "cosine", "weight_decay": 0.5, **options}
    return Trainer(net, BinaryClassification(), deviations=deviations, generator=generator, **settings), source


@pytest.mark.parametrize("options", [{}, {"weight_decay": (0.5, 0.1), "shared_steps": (True, False)}])
def test_a_stopped_training_goes_on_as_if_nothing_had_happened(options):
    (whole, source), (first, _), (second, _) = (
        training(torch.ones(20), torch.Generator().manual_seed(0), **options) for _ in range(3)
    )
    whole.fit(source)
    first.notify = lambda event: first.stop("half") if event == "on_epoch_end" and len(first.history) == 4 else None
    first.epochs(source)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    second.fit(source)
    assert [row["train_loss"] for row in second.history] == [row["train_loss"] for row in whole.history]
