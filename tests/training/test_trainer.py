"""The loop: its rules on made-up curves, repeatability, interruption, recovery, resuming."""

import pickle
import re

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

from dnfnet.exceptions import InvalidParameterError, ModelFileError, NonFiniteLossError, TrainingWarning
from dnfnet.nn import DNFNet
from dnfnet.ops import memory
from dnfnet.training import (
    METRICS,
    BinaryClassification,
    Callback,
    Checkpoint,
    Metric,
    ProgressBar,
    TensorSource,
    TimeLimit,
    Trainer,
    resume,
)
from dnfnet.training.causes import likely_cause


def data(n_rows=100, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n_rows, 4, generator=generator)
    return x, (x[:, 0] * x[:, 1] > 0).float()


def sources(batch_size=32):
    return TensorSource(*data(100, 0), batch_size=batch_size), TensorSource(*data(60, 1))


def make_trainer(trainer_class=Trainer, seed=1, **options):
    net = DNFNet(4, 1, n_formulas=8, beta=0.7, generator=torch.Generator().manual_seed(seed))
    options = {"generator": torch.Generator().manual_seed(seed), "max_epochs": 5, **options}
    return trainer_class(net, BinaryClassification(), **options)


class ScriptedTrainer(Trainer):
    """Epochs with scores that the test wrote down; the first weight tells which epoch it is."""

    scores: tuple[float, ...] = ()

    def epoch(self, train, valid=None):
        number = len(self.history) + 1
        with torch.no_grad():
            self.net.head.bias.fill_(number)
        return {"epoch": number, "train_loss": 1.0, "learning_rate": 0.05, "valid_score": self.scores[number - 1]}


def scripted(scores, **options):
    trainer = make_trainer(ScriptedTrainer, **options)
    trainer.scores = scores
    return trainer.fit(*sources())


def test_stops_after_patience_and_restores_the_best_epoch():
    """Best in epoch 3; an equal score in epoch 5 is no improvement; stop three epochs after the best."""
    trainer = scripted((0.9, 0.8, 0.5, 0.6, 0.5, 0.7, 0.1), patience=3, max_epochs=7)
    assert len(trainer.history) == 6
    assert (trainer.best_epoch, trainer.best_score) == (3, 0.5)
    assert trainer.net.head.bias.item() == 3
    assert trainer.stop_reason == "no better score for 3 epochs"


def test_stops_at_max_epochs():
    trainer = scripted((0.9, 0.8, 0.7, 0.6), patience=30, max_epochs=4)
    assert trainer.stop_reason == "max_epochs=4 reached"
    assert trainer.net.head.bias.item() == 4


def test_a_score_to_maximise():
    net = DNFNet(4, 1, n_formulas=8, beta=0.7)
    trainer = ScriptedTrainer(net, BinaryClassification("roc_auc"), max_epochs=3)
    trainer.scores = (0.6, 0.9, 0.7)
    assert trainer.fit(*sources()).best_epoch == 2


def test_learns():
    """x0·x1 > 0 is no linear rule: log-loss falls well below the log 2 of guessing."""
    net = DNFNet(4, 1, n_formulas=32, beta=1.0, generator=torch.Generator().manual_seed(1))
    trainer = Trainer(net, BinaryClassification(), max_epochs=150)
    trainer.fit(TensorSource(*data(1000, 0), batch_size=250), TensorSource(*data(500, 1)))
    assert trainer.best_score < 0.3
    assert trainer.best_score == min(trainer.history.column("valid_score"))


def test_restored_weights_have_the_best_score():
    train, valid = sources()
    trainer = make_trainer(max_epochs=40).fit(train, valid)
    assert trainer.score(valid) == trainer.best_score


def test_the_same_seed_gives_the_same_bits():
    runs = [make_trainer(seed=seed).fit(*sources()) for seed in (1, 1, 2)]
    for name, value in runs[0].net.state_dict().items():
        assert torch.equal(value, runs[1].net.state_dict()[name]), name
    assert runs[0].history.column("train_loss") == runs[1].history.column("train_loss")
    assert runs[0].history.column("train_loss") != runs[2].history.column("train_loss")


@pytest.mark.parametrize("batch_size", [1, 99, 100, 101])
def test_every_row_is_used_whatever_the_batch_size(batch_size):
    seen = []

    class Counting(Trainer):
        def step(self, batch):
            seen.append(len(batch.x))
            return super().step(batch)

    make_trainer(Counting, max_epochs=1).fit(*sources(batch_size))
    assert sum(seen) == 100


def test_train_loss_includes_the_penalty_and_weighs_batches_by_rows():
    """With rate ~0 nothing moves, so the epoch's loss is the loss of all rows plus the penalty."""
    trainer = make_trainer(max_epochs=1, learning_rate=1e-30, min_learning_rate=0)
    x, y = data(100, 0)
    with torch.no_grad():
        expected = trainer.objective.loss(trainer.net(x), y) + trainer.net.penalty()
    trainer.fit(*sources(batch_size=30))
    assert trainer.history[0]["train_loss"] == pytest.approx(expected.item(), rel=1e-6)


def test_weights_count_like_repeated_rows():
    """Weights 2 and 0, on an average of 1, give the loss of a batch with those rows twice and absent."""
    trainer = make_trainer()
    x, y = data(4, 3)
    weight = torch.tensor([2.0, 0.0, 1.0, 1.0])
    output = trainer.net(x).detach()
    repeated = [0, 0, 2, 3]
    expected = trainer.objective.loss(output[repeated], y[repeated])
    torch.testing.assert_close(trainer.objective.loss(output, y, weight), expected)


def test_without_validation_the_training_loss_decides():
    trainer = make_trainer(max_epochs=30).fit(sources()[0])
    assert trainer.best_score == min(trainer.history.column("train_loss"))
    assert "valid_score" not in trainer.history[0]


class Interrupt(Callback):
    """Ctrl-C in the first step after so many epochs."""

    def __init__(self, after):
        self.after = after

    def on_step_end(self, trainer):
        if len(trainer.history) == self.after:
            raise KeyboardInterrupt


def test_interruption_keeps_the_best_weights_and_says_so():
    plain = make_trainer(max_epochs=3).fit(*sources())
    with pytest.warns(TrainingWarning, match=r"interrupted in epoch 4: .* \(\d, score .*\) are kept"):
        stopped = make_trainer(max_epochs=30, callbacks=[Interrupt(3)]).fit(*sources())
    assert stopped.stop_reason == "interrupted"
    assert len(stopped.history) == 3
    for name, value in plain.net.state_dict().items():
        assert torch.equal(value, stopped.net.state_dict()[name]), name


def test_interruption_before_the_first_epoch_ends_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        make_trainer(callbacks=[Interrupt(0)]).fit(*sources())


class Exploding(Trainer):
    """A loss that is NaN in the epochs that the test names."""

    bad = ()

    def loss(self, batch):
        factor = float("nan") if len(self.history) + 1 in self.bad else 1.0
        if factor != factor:
            self.bad = self.bad[1:]
        return super().loss(batch) * factor


def test_first_non_finite_loss_goes_back_with_a_tenth_of_the_rate():
    trainer = make_trainer(Exploding, max_epochs=6)
    trainer.bad = (4,)
    with pytest.warns(TrainingWarning, match=r"going on from the best epoch \(\d\) with learning rate 0.005"):
        trainer.fit(*sources())
    assert trainer.history.column("learning_rate") == [0.05] * 3 + [0.005] * 3


def test_second_non_finite_loss_raises_and_keeps_the_best_weights():
    trainer = make_trainer(Exploding, max_epochs=6)
    trainer.bad = (3, 3)
    with pytest.warns(TrainingWarning), pytest.raises(NonFiniteLossError, match="the loss became nan"):
        trainer.fit(*sources())
    assert len(trainer.history) == 2
    assert all(torch.isfinite(p).all() for p in trainer.net.parameters())


@pytest.mark.parametrize(
    ("part", "cause"),
    [
        ("features", "features of a batch are not all finite"),
        ("targets", "targets of a batch are not all finite"),
    ],
)
def test_the_cause_is_named(part, cause):
    x, y = data()
    (x if part == "features" else y)[3] = float("nan")
    with pytest.warns(TrainingWarning), pytest.raises(NonFiniteLossError, match=cause):
        make_trainer().fit(TensorSource(x, y), sources()[1])


def test_diverged_weights_are_named():
    trainer = make_trainer()
    with torch.no_grad():
        trainer.net.head.weight.fill_(float("nan"))
    x, y = data()
    message = likely_cause(trainer.net, next(TensorSource(x, y).batches()), float("nan"))
    assert "'head.weight' diverged, so learning_rate is too high" in message


def test_time_limit_ends_inside_an_epoch_and_that_epoch_counts():
    trainer = make_trainer(max_epochs=1000, callbacks=[TimeLimit(1e-9)]).fit(*sources(batch_size=1))
    assert len(trainer.history) == 1
    assert trainer.stop_reason.startswith("time limit of 1e-09 s")
    assert trainer.best_epoch == 1


def test_resumed_run_equals_one_that_was_never_stopped(tmp_path):
    """Network, optimiser, schedule and random numbers all go on: bit for bit the same."""
    whole = make_trainer(max_epochs=12, lr_patience=2).fit(*sources())
    path = tmp_path / "run.ckpt"
    make_trainer(max_epochs=7, lr_patience=2, callbacks=[Checkpoint(path, every=2)]).fit(*sources())
    later = resume(make_trainer(seed=9, max_epochs=12, lr_patience=2), path)
    assert len(later.history) == 6
    later.fit(*sources())
    assert later.history.column("train_loss") == whole.history.column("train_loss")
    assert later.history.column("learning_rate") == whole.history.column("learning_rate")
    assert later.best_score == whole.best_score
    for name, value in whole.net.state_dict().items():
        assert torch.equal(value, later.net.state_dict()[name]), name


def test_a_numpy_rate_can_be_resumed(tmp_path):
    """What a grid over numpy.logspace gives; a checkpoint takes plain numbers only."""
    options = {"learning_rate": np.float64(0.05), "max_epochs": 2}
    make_trainer(**options, callbacks=[Checkpoint(tmp_path / "c")]).fit(*sources())
    assert len(resume(make_trainer(**options), tmp_path / "c").history) == 2


def test_no_gradients_are_kept():
    trainer = make_trainer(max_epochs=1).fit(*sources())
    assert all(p.grad is None for p in trainer.net.parameters())
    assert not trainer.net.training


def test_no_memory_of_the_steps_is_kept():
    trainer = make_trainer(max_epochs=1)
    train, _ = sources()
    trainer.fit(train)
    assert not memory._last


def test_resuming_covers_dropout(tmp_path):
    def trainer(epochs, callbacks=()):
        net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
        torch.manual_seed(3)
        for layer in (net[0], net[2]):
            layer.reset_parameters()
        generator = torch.Generator().manual_seed(3)
        return Trainer(net, BinaryClassification(), max_epochs=epochs, generator=generator, callbacks=callbacks)

    whole = trainer(6).fit(*sources())
    trainer(4, [Checkpoint(tmp_path / "c")]).fit(*sources())
    later = resume(trainer(6), tmp_path / "c").fit(*sources())
    assert later.history.column("train_loss") == whole.history.column("train_loss")


def test_a_file_that_is_no_checkpoint(tmp_path):
    (tmp_path / "bad").write_bytes(b"not a checkpoint")
    with pytest.raises(ModelFileError, match="is no checkpoint that this network can go on from"):
        resume(make_trainer(), tmp_path / "bad")
    with pytest.raises(FileNotFoundError):
        resume(make_trainer(), tmp_path / "absent")


def test_progress_bar_says_loss_score_and_why_it_ended(capsys):
    make_trainer(max_epochs=3, callbacks=[ProgressBar("mine")]).fit(*sources())
    text = capsys.readouterr().err
    assert "mine" in text
    assert "3/3" in text
    assert "; max_epochs=3 reached" in text
    assert all(len(line) <= 80 for line in re.split(r"[\r\n]", text))


def test_silent_by_default(capsys):
    make_trainer(max_epochs=3).fit(*sources())
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_every_event_reaches_every_callback():
    events = []

    class Spy(Callback):
        def __getattribute__(self, name):
            if name.startswith("on_"):
                return lambda _: events.append(name)
            return super().__getattribute__(name)

    make_trainer(max_epochs=2, callbacks=[Spy()]).fit(*sources(batch_size=50))
    epoch = ["on_step_end", "on_step_end", "on_epoch_end"]
    assert events == ["on_fit_start", *epoch, *epoch, "on_fit_end"]


def test_metric_names_are_checked():
    with pytest.raises(ValueError, match="metric must be one of"):
        BinaryClassification("brier")
    assert BinaryClassification(METRICS["roc_auc"]).metric.name == "roc_auc"


def test_a_bar_leaves_nothing_that_cannot_be_pickled(capsys):
    bar = ProgressBar("mine")
    make_trainer(max_epochs=1, callbacks=[bar]).fit(*sources())
    assert pickle.loads(pickle.dumps(bar)).description == "mine"


def test_a_score_that_is_infinite_in_every_epoch_is_an_error():
    trainer = make_trainer()
    trainer.objective.metric = Metric("mine", lambda *_: np.inf, greater_is_better=False)
    with pytest.raises(NonFiniteLossError, match="score mine is inf in every epoch"):
        trainer.fit(*sources())


def test_an_infinite_score_is_no_better_than_any_other():
    scores = iter([np.inf, np.inf, 3.0, 4.0, np.inf])
    trainer = make_trainer()
    trainer.objective.metric = Metric("mine", lambda *_: next(scores), greater_is_better=False)
    assert trainer.fit(*sources()).best_epoch == 3


@pytest.mark.parametrize("function", [roc_auc_score, lambda *_: np.zeros(3), lambda *_: "text"])
def test_a_metric_of_another_form_is_named(function):
    trainer = make_trainer()
    trainer.objective.metric = Metric("mine", function, greater_is_better=True)
    with pytest.raises(InvalidParameterError, match=r"metric must be a function \(prediction, target, weight\)"):
        trainer.fit(*sources())
