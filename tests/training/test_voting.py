"""Which kind of groups has a say in predictions."""

import copy

import pytest
import torch

from dnfnet.nn import DNFNet
from dnfnet.training import BinaryClassification, TensorSource, Trainer
from dnfnet.training.voting import better_kind, voters

TRUTH = (torch.arange(200) % 2).float()
SURE = torch.where(TRUTH > 0, 3.0, -3.0)
KINDS = torch.tensor([0, 0, 1, 1])
RNG = torch.Generator().manual_seed(0)


def outputs(first, second):
    """Two groups of each kind."""
    return torch.stack([first, first, second, second], dim=1).unsqueeze(-1)


def asked(first, second, rows=slice(None), weight=None):
    return better_kind(BinaryClassification(), outputs(first, second)[rows], TRUTH[rows], weight, KINDS)


def test_a_kind_that_is_surely_better_is_named():
    assert asked(SURE, torch.zeros(200)) == 0
    assert asked(torch.zeros(200), SURE) == 1


def test_kinds_that_are_alike_stay_together():
    assert asked(SURE, SURE) is None
    noise = torch.randn(2, 200, generator=RNG)
    assert asked(SURE + noise[0], SURE + noise[1]) is None


def test_few_rows_decide_nothing():
    assert asked(SURE, torch.zeros(200), slice(0, 49)) is None
    assert asked(SURE, torch.zeros(200), slice(0, 50)) == 0


def test_weights_count():
    """The first hundred rows are for one kind, the others for the other."""
    half = torch.arange(200) < 100
    first, second = torch.where(half, SURE, 0), torch.where(half, 0, SURE)
    assert asked(first, second) is None
    assert asked(first, second, weight=torch.where(half, 1.9, 0.1)) == 0
    assert asked(first, second, weight=torch.where(half, 0.1, 1.9)) == 1


def test_questions_are_asked_one_after_the_other():
    """Only the second group is any good: the second question is asked of what the first one left."""
    output = torch.stack([0 * SURE, SURE, 0 * SURE, -SURE], dim=1).unsqueeze(-1)
    questions = [torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 0, 1])]
    asked = voters(BinaryClassification(), output, TRUTH, None, questions)
    assert asked.tolist() == [False, True, False, False]
    same = voters(BinaryClassification(), outputs(SURE, SURE), TRUTH, None, questions)
    assert same.all()


def logic_trainer(**options):
    """A formula over six truth values, without noise: what much decay keeps from being learned."""
    X = (torch.rand(700, 6, generator=torch.Generator().manual_seed(1)) > 0.5).float() * 2 - 1
    y = ((X[:, 0] > 0) & (X[:, 1] > 0) | (X[:, 2] > 0) & (X[:, 3] < 0)).float()
    generator = torch.Generator().manual_seed(0)
    net = DNFNet(6, 1, n_formulas=32, beta=None, keep_probs=None, localization=None, n_groups=8, generator=generator)
    settings = {"learning_rate": 0.02, "max_epochs": 60, "patience": 60, "schedule": "cosine", **options}
    trainer = Trainer(net, BinaryClassification(), generator=generator, **settings)
    return trainer, TensorSource(X[:500], y[:500], batch_size=50), TensorSource(X[500:], y[500:], batch_size=200)


@pytest.fixture(scope="module")
def trained():
    trainer, train, valid = logic_trainer(weight_decay=(20.0, 0.0))
    return trainer.fit(train, valid), train, valid


def test_training_lets_the_better_groups_vote(trained):
    trainer, _, valid = trained
    assert trainer.net.head.votes.tolist() == [False, True] * 4
    assert trainer.net(torch.randn(5, 6)).shape == (5, 4, 1)
    together = min(row["valid_score"] for row in trainer.history)
    assert trainer.best_score == pytest.approx(trainer.score(valid))
    assert trainer.best_score < together / 4


def test_votes_are_part_of_the_state_and_cast_outside_of_training_only(trained):
    net = trained[0].net
    twin = DNFNet(6, 1, n_formulas=32, beta=None, keep_probs=None, localization=None, n_groups=8)
    twin.load_state_dict(copy.deepcopy(net.state_dict()))
    x = torch.randn(5, 6, generator=RNG)
    assert torch.equal(twin.eval()(x), net.eval()(x))
    assert copy.deepcopy(net).train()(x).shape == (5, 8, 1)


def test_a_new_training_begins_with_all_groups(trained):
    trainer, train, valid = trained
    again = Trainer(copy.deepcopy(trainer.net), BinaryClassification(), max_epochs=1, schedule="cosine")
    again.fit(train, valid)
    assert again.net.head.votes.all()


def test_groups_that_are_trained_alike_are_not_asked_apart(monkeypatch):
    monkeypatch.setattr("dnfnet.training.deciding.voters", None)
    trainer, train, valid = logic_trainer(weight_decay=0.5, max_epochs=2)
    trainer.fit(train, valid)
    assert trainer.net.head.votes.all()
