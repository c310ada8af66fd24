"""The epochs after the plan, in which groups learn by the loss of their average."""

import math

import numpy as np
import pytest
import torch

from dnfnet.nn import DNFNet
from dnfnet.training import (
    BinaryClassification,
    Callback,
    Checkpoint,
    MulticlassClassification,
    ProgressBar,
    Regression,
    TensorSource,
    Trainer,
    resume,
)
from dnfnet.training.joining import LATE, can_join, join
from dnfnet.training.objectives import Objective

N_APART, N_TRIED, N_ALL = 24, 28, 36


def table(n_valid=300):
    """Three classes without noise that no small group tells apart by itself."""
    X = torch.rand(500 + n_valid, 4, generator=torch.Generator().manual_seed(1)) * 2 - 1
    y = ((X[:, 0] * X[:, 1] > 0).long() + (X[:, 2] + X[:, 3] > 0).long()) % 3
    return TensorSource(X[:500], y[:500], batch_size=100), TensorSource(X[500:], y[500:], batch_size=300)


def make_trainer(*, n_groups=8, seed=0, **options):
    generator = torch.Generator().manual_seed(seed)
    net = DNFNet(4, 3, n_formulas=32, beta=None, localization=None, n_groups=n_groups, generator=generator)
    settings = {"learning_rate": 0.05, "max_epochs": N_APART, "patience": 99, "schedule": "cosine", "together": 0.5}
    return Trainer(net, MulticlassClassification(3), generator=generator, **{**settings, **options})


def weights(trainer):
    return {name: value.clone() for name, value in trainer.net.state_dict().items()}


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert torch.equal(value, second[name]), name


class StopAt(Callback):
    def __init__(self, epoch, error=None):
        self.epoch, self.error = epoch, error

    def on_epoch_end(self, trainer):
        if len(trainer.history) == self.epoch:
            if self.error is not None:
                raise self.error
            trainer.stop("enough")


@pytest.fixture(scope="module")
def apart():
    return make_trainer(together=0.0).fit(*table())


@pytest.fixture(scope="module")
def joined():
    return make_trainer().fit(*table())


def test_the_loss_is_that_of_the_average():
    """Probabilities of a half and of three quarters make five eighths; real predictions of 1 and 3 make 2."""
    output = torch.tensor([[[0.0], [math.log(3.0)]]])
    objective = BinaryClassification()
    assert objective.joint_loss(output, torch.ones(1)).item() == pytest.approx(-math.log(5 / 8))
    assert objective.loss(output, torch.ones(1)).item() == pytest.approx(-math.log(3 / 8) / 2)
    members, objective = torch.tensor([[[1.0], [3.0]]]), Regression(np.array([5.0]), np.array([2.0]))
    assert objective.joint_loss(members, torch.tensor([[2.0]])).item() == pytest.approx(0.0)
    assert objective.joint_loss(members, torch.tensor([[0.0]])).item() == pytest.approx(4.0)
    assert objective.joint_loss(members, torch.tensor([[0.0]]), torch.tensor([2.0])).item() == pytest.approx(8.0)


def test_groups_learn_more_together(apart, joined):
    assert joined.best_epoch > N_APART
    assert joined.best_score < 0.95 * apart.best_score
    assert joined.score(table()[1]) == joined.best_score


def test_until_then_nothing_differs(apart, joined):
    for column in ("train_loss", "valid_score", "learning_rate"):
        assert joined.history.column(column)[:N_APART] == apart.history.column(column)
    assert len(joined.history) == N_ALL
    assert joined.stop_reason == f"max_epochs={N_APART} reached and {N_ALL - N_APART} more, together"
    assert apart.stop_reason == f"max_epochs={N_APART} reached"


def test_the_rate_begins_anew_and_lower(joined):
    rates = joined.history.column("learning_rate")
    assert max(rates[:N_APART]) == pytest.approx(0.05, rel=0.01)
    assert rates[N_APART - 1] < 0.001
    assert max(rates[N_APART:]) == pytest.approx(0.01, rel=0.03)
    assert rates[-1] < 0.001


@pytest.mark.parametrize("weight_decay", [0.0, (20.0, 0.0)])
def test_what_is_no_better_is_not_kept(weight_decay, monkeypatch):
    """The same bits, votes, score and epoch as if they had only learned apart."""
    apart = make_trainer(together=0.0, weight_decay=weight_decay).fit(*table())
    score = Trainer.score
    monkeypatch.setattr(Trainer, "score", lambda self, source: score(self, source) + (self.joint_epochs > 0))
    trainer = make_trainer(weight_decay=weight_decay).fit(*table())
    assert len(trainer.history) == N_TRIED
    assert trainer.stop_reason == f"max_epochs={N_APART} reached, and groups gain nothing together"
    assert (trainer.best_epoch, trainer.best_score) == (apart.best_epoch, apart.best_score)
    assert_same(weights(trainer), weights(apart))


@pytest.mark.parametrize(
    ("options", "n_valid", "expected"),
    [
        ({}, 50, True),
        ({"together": 0.0}, 50, False),
        ({"together": 0.02}, 50, False),
        ({"schedule": "plateau"}, 50, False),
        ({"n_groups": None}, 50, False),
        ({"n_groups": 1}, 50, False),
        ({}, 49, False),
    ],
)
def test_only_groups_that_can_be_judged_go_on(options, n_valid, expected):
    trainer = make_trainer(**options)
    trainer.stop_reason, trainer.best_epoch = trainer.end_of_plan, N_APART
    assert can_join(trainer, table(n_valid)[1]) is expected


@pytest.mark.parametrize(("best_epoch", "expected"), [(24, True), (20, True), (19, False), (1, False)])
def test_only_after_a_plan_that_was_still_getting_better(best_epoch, expected):
    """19 of 24 epochs are less than four fifths."""
    assert LATE == 0.8
    trainer = make_trainer()
    trainer.stop_reason, trainer.best_epoch = trainer.end_of_plan, best_epoch
    assert can_join(trainer, table()[1]) is expected
    trainer.stop_reason = "enough"
    assert not can_join(trainer, table()[1])


def test_not_on_devices_without_double_precision(monkeypatch):
    trainer = make_trainer()
    trainer.stop_reason, trainer.best_epoch = trainer.end_of_plan, N_APART
    monkeypatch.setattr(Trainer, "device", torch.device("mps"))
    assert not can_join(trainer, table()[1])


def test_they_begin_with_the_best_weights():
    trainer = make_trainer()
    trainer.best_state = weights(make_trainer(seed=3))
    join(trainer, table()[1])
    assert_same(weights(trainer), weights(make_trainer(seed=3)))
    assert (trainer.joint_epochs, trainer.stop_reason) == (N_ALL - N_APART, None)


def test_a_plan_that_was_best_long_ago_ends_as_it_is(monkeypatch):
    scores = iter([0.5] + [0.6] * 100)
    monkeypatch.setattr(Trainer, "score", lambda *_: next(scores))
    trainer = make_trainer().fit(*table())
    assert (len(trainer.history), trainer.best_epoch, trainer.joint_epochs) == (N_APART, 1, 0)
    assert trainer.stop_reason == f"max_epochs={N_APART} reached"


def test_without_rows_to_judge_by_the_plan_is_all():
    trainer = make_trainer().fit(table()[0])
    assert len(trainer.history) == N_APART


def test_groups_without_a_vote_are_left_as_they_are():
    """A decay that lets half of the groups learn nothing: their output layers rest when the others go on."""
    apart = make_trainer(weight_decay=(20.0, 0.0), together=0.0).fit(*table())
    trainer = make_trainer(weight_decay=(20.0, 0.0)).fit(*table())
    votes = trainer.net.head.votes
    assert votes.tolist() == apart.net.head.votes.tolist() == [False, True] * 4
    assert trainer.best_epoch > N_APART
    before, after = apart.net.head.weight, trainer.net.head.weight
    assert torch.equal(before[~votes], after[~votes])
    assert not torch.isclose(before[votes], after[votes]).any(dim=-1).all()


@pytest.mark.parametrize("epoch", [10, N_APART, N_APART + 3])
def test_a_resumed_run_equals_one_that_was_never_stopped(tmp_path, joined, epoch):
    path = tmp_path / "run.ckpt"
    make_trainer(callbacks=[StopAt(epoch), Checkpoint(path)]).fit(*table())
    later = resume(make_trainer(seed=9), path)
    assert len(later.history) == epoch
    later.fit(*table())
    assert later.history.column("train_loss") == joined.history.column("train_loss")
    assert later.best_score == joined.best_score
    assert_same(weights(later), weights(joined))


def test_ctrl_c_keeps_the_best_of_both():
    trainer = make_trainer(callbacks=[StopAt(N_APART + 4, KeyboardInterrupt())])
    with pytest.warns(UserWarning, match="interrupted in epoch 29"):
        trainer.fit(*table())
    assert trainer.best_epoch > N_APART
    assert trainer.score(table()[1]) == trainer.best_score


def test_a_loss_that_is_not_finite_ends_it_and_loses_nothing(apart, monkeypatch):
    monkeypatch.setattr(Objective, "joint_loss", lambda *_: torch.tensor(math.nan, requires_grad=True))
    trainer = make_trainer().fit(*table())
    assert "the loss became nan" in trainer.stop_reason
    assert len(trainer.history) == N_APART
    assert_same(weights(trainer), weights(apart))


def test_patience_is_counted_anew(monkeypatch):
    """The best epoch apart is some time ago when groups begin to go on together, and none together is better."""
    scores = iter([1.0 - epoch / 50 for epoch in range(21)] + [0.9] * 100)
    monkeypatch.setattr(Trainer, "score", lambda *_: next(scores))
    trainer = make_trainer(patience=3).fit(*table())
    assert trainer.best_epoch == 21
    assert len(trainer.history) == N_APART + 3
    assert trainer.stop_reason == "no better score for 3 epochs"


@pytest.mark.parametrize(("better_in", "n_epochs"), [(N_APART + 1, N_ALL), (N_TRIED, N_ALL), (N_TRIED + 1, N_TRIED)])
def test_groups_that_gain_something_go_on_to_the_end(better_in, n_epochs, monkeypatch):
    """A better epoch in the first third of those together is enough; one that would come later is not waited for."""
    scores = iter(
        [1.0 - epoch / 50 for epoch in range(N_APART)] + [0.9] * (better_in - 1 - N_APART) + [0.1] + [0.9] * 99
    )
    monkeypatch.setattr(Trainer, "score", lambda *_: next(scores))
    trainer = make_trainer().fit(*table())
    assert len(trainer.history) == n_epochs
    assert trainer.best_epoch == (better_in if better_in <= N_TRIED else N_APART)


def test_the_bar_has_room_for_all_epochs():
    bar, totals = ProgressBar(), []

    class Watch(Callback):
        def on_epoch_end(self, trainer):
            totals.append(bar.bar.total)

    make_trainer(callbacks=[bar, Watch()]).fit(*table())
    assert totals == [N_APART] * N_APART + [N_ALL] * (N_ALL - N_APART)
