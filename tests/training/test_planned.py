"""The planned rate and the weight decay."""

import copy
import math

import pytest
import torch

from dnfnet.nn import DNFNet
from dnfnet.training import MulticlassClassification, TensorSource, Trainer
from dnfnet.training.optim import make_optimizer

X = torch.randn(60, 4, generator=torch.Generator().manual_seed(0))
SOURCE = TensorSource(X, (X[:, 0] > 0).long(), batch_size=20)


def trainer(**options):
    generator = torch.Generator().manual_seed(0)
    net = DNFNet(4, 2, n_formulas=4, beta=0.7, n_groups=2, generator=generator)
    settings = {"learning_rate": 0.1, "max_epochs": 10, "schedule": "cosine", "generator": generator, **options}
    return Trainer(net, MulticlassClassification(2), **settings)


def test_the_rate_rises_and_falls_along_a_cosine_over_all_epochs():
    rates = []
    training = trainer()
    training.step = lambda _: rates.append(training.optimizer.param_groups[0]["lr"]) or 0.0
    training.fit(SOURCE)
    assert len(rates) == 30
    assert rates[0] == pytest.approx(0.1 * (0.5 / 30) / 0.05)
    for i, rate in list(enumerate(rates))[2:]:
        share = ((i + 0.5) / 30 - 0.05) / 0.95
        assert rate == pytest.approx(0.1 * (1 + math.cos(math.pi * share)) / 2)


def test_weight_decay_shrinks_literals_and_nothing_else():
    """With gradients of 0 a step at rate r takes the share r times the decay."""
    training = trainer(weight_decay=0.5, schedule="plateau")
    before = copy.deepcopy(training.net.state_dict())
    for parameter in training.net.parameters():
        parameter.grad = torch.zeros_like(parameter)
    training.optimizer.step()
    after = training.net.state_dict()
    shrunk = {name for name in before if not torch.equal(before[name], after[name])}
    assert shrunk == {"block.weight"}
    torch.testing.assert_close(after["block.weight"], before["block.weight"] * (1 - 0.1 * 0.5))


def test_of_a_network_that_does_not_say_all_matrices_shrink():
    net = torch.nn.Linear(3, 2)
    optimizer = make_optimizer(net, learning_rate=0.1, weight_decay=0.5)
    assert [[id(p) for p in group["params"]] for group in optimizer.param_groups] == [[id(net.weight)], [id(net.bias)]]
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.5, 0.0]


def test_a_stopped_training_goes_on_as_if_nothing_had_happened():
    whole = trainer(weight_decay=0.1)
    whole.fit(SOURCE)
    first = trainer(weight_decay=0.1)
    first.notify = lambda event: first.stop("half") if event == "on_epoch_end" and len(first.history) == 4 else None
    first.epochs(SOURCE)
    second = trainer(weight_decay=0.1)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    second.fit(SOURCE)
    assert [row["train_loss"] for row in second.history] == [row["train_loss"] for row in whole.history]


def test_after_a_loss_that_is_not_finite_the_plan_has_a_tenth_of_the_height():
    training = trainer()
    real_loss, calls = training.loss, []

    def loss(batch):
        calls.append(1)
        return real_loss(batch) * (float("nan") if len(calls) == 5 else 1)

    training.loss = loss
    with pytest.warns(UserWarning, match=r"learning rate 0\.01"):
        training.fit(SOURCE)
    assert training.schedule.highest == pytest.approx(0.01)
