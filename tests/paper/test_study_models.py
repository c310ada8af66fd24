"""The study's models: each trained for real on a small problem, repeatable, within its clock."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from dnfnet.exceptions import InvalidParameterError
from dnfnet.paper.clock import BudgetSpent, Clock, TimeLimitReached
from dnfnet.paper.evaluate import evaluate
from dnfnet.paper.grids import choose_grid, experiment_grid
from dnfnet.paper.networks import FCN, MaskedFCN
from dnfnet.paper.partitions import make_partitions
from dnfnet.paper.split import Rows, Split, make_split
from dnfnet.paper.synthetic import make_synthetic
from dnfnet.paper.trial import Trial
from dnfnet.training import Trainer


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    """A few epochs show as much as a thousand here."""
    original = Trainer.__init__

    def limited(self, *arguments, **options):
        original(self, *arguments, **{**options, "max_epochs": 3})

    monkeypatch.setattr(Trainer, "__init__", limited)


def binary(n=400, metric="roc_auc"):
    data = make_synthetic("syn2", 12, n_samples=n)
    # Accuracy on a few rows hardly tells two networks apart.
    return replace(make_split(data, make_partitions(data.y).parts[0]), metric=metric)


def three_classes(n=300):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    x = (rng.normal(size=(n, 5)) + y[:, None]).astype(np.float32)
    part = [Rows(x[rows], y[rows]) for rows in (slice(0, 200), slice(200, 250), slice(250, n))]
    return Split(*part, n_classes=3, metric="log_loss")


XGBOOST = {"learning_rate": 0.1, "max_depth": 3, "colsample_bytree": 0.5, "subsample": 0.5}
FCN_CONFIG = {
    "depth": 2,
    "width": 128,
    "pattern": "halving",
    "l2": 1e-4,
    "dropout": 0.5,
    "learning_rate": 0.005,
}


@pytest.mark.parametrize("split", [binary(), three_classes()], ids=["binary", "three classes"])
@pytest.mark.parametrize(
    ("model", "config"),
    [
        ("xgboost", XGBOOST),
        ("fcn", FCN_CONFIG),
        *(("dnf-net", {**experiment_grid(n)[0], "n_formulas": 8}) for n in (1, 2, 3, 4, 5, 7, 8)),
    ],
)
def test_a_trial_is_a_pure_function(model, config, split):
    one, again = (evaluate(Trial("eye", model, config, 0, 1), split, Clock()) for _ in range(2))
    assert one == again
    assert np.isfinite([one["validation"], one["test"]]).all()
    other = evaluate(Trial("eye", model, config, 0, 2), split, Clock())
    assert other["validation"] != one["validation"]


@pytest.mark.parametrize("mask", ["none", "learned", "oracle"])
def test_synthetic_models(mask):
    split = binary(metric="accuracy")
    result = evaluate(Trial("syn2-d12", "synthetic-fcn", choose_grid(f"syn-{mask}", "full")[0], 0, 1), split, Clock())
    assert result["metric"] == "accuracy"
    assert result["epochs"] == 3
    if mask == "learned":
        assert 0 <= result["kept_relevant"] <= result["kept"] <= 12


def test_xgboost_learns_and_predicts_with_the_best_number_of_trees():
    result = evaluate(Trial("eye", "xgboost", XGBOOST, 0, 1), three_classes(), Clock())
    assert result["test"] < 0.8 < np.log(3)
    assert result["trees"] == result["best_tree"] + 50


@pytest.mark.parametrize(("model", "config"), [("xgboost", XGBOOST), ("fcn", FCN_CONFIG)])
def test_the_clock_ends_a_trial(model, config):
    trial = Trial("eye", model, config, 0, 1)
    with pytest.raises(TimeLimitReached, match="time limit of 0s reached"):
        evaluate(trial, three_classes(), Clock(limit=0))
    with pytest.raises(BudgetSpent):
        evaluate(trial, three_classes(), Clock(deadline=0))


def test_an_interrupted_training_is_no_result(monkeypatch):
    """The trainer keeps an interrupted network; the study must not."""

    def interrupt(*_):
        raise KeyboardInterrupt

    def record_then_interrupt(self, row):
        self.history.append(row)
        monkeypatch.setattr(Trainer, "step", interrupt)

    monkeypatch.setattr(Trainer, "record", record_then_interrupt)
    trial = Trial("eye", "fcn", FCN_CONFIG, 0, 1)
    with pytest.warns(UserWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        evaluate(trial, three_classes(), Clock())


def test_batches_of_the_papers_footnote(monkeypatch):
    sizes = []

    def note(net, split, objective, clock, generator, *, learning_rate, batch_size):
        sizes.append((learning_rate, batch_size))

    monkeypatch.setattr("dnfnet.paper.neural._train", note)
    from dnfnet.paper.neural import train_dnf_net

    for dataset, n in (("eye", 3072), ("gas", 2048), ("gas", 3072), ("santander", 2048), ("santander", 3072)):
        config = {**experiment_grid(2)[0], "n_formulas": n}
        train_dnf_net(Trial(dataset, "dnf-net", config, 0, 1), three_classes(), Clock())
    assert sizes == [(0.05, size) for size in (2048, 2048, 1024, 1024, 1024)]


def test_l2_by_hand():
    net = FCN(2, 1, widths=(3, 2), l2=0.1)
    for layer, value in zip([*net.blocks, net.head], (1.0, 2.0, 9.0), strict=True):
        torch.nn.init.constant_(layer.weight, value)
    # 6 weights of 1 and 6 of 2; the output layer and the biases do not count.
    assert net.penalty().item() == pytest.approx(0.1 * (6 + 24))
    assert FCN(2, 1, widths=(3,)).penalty().item() == 0


def test_masks_hide_features():
    oracle = np.array([True, False, True])
    net = MaskedFCN(3, 1, mask="oracle", oracle=oracle)
    x = torch.randn(4, 3)
    changed = x + torch.tensor([0.0, 5.0, 0.0])
    assert torch.equal(net(x), net(changed))
    learned = MaskedFCN(3, 1, mask="learned", beta=0.7)
    # At the start: |1.5^2 - 0.7| / 4 + |1.5 - 0.7| / 2.
    assert learned.penalty().item() == pytest.approx(1.55 / 4 + 0.8 / 2)
    with torch.no_grad():
        learned.selection.mask[0, 1] = 0.5
    assert torch.equal(learned(x), learned(changed))
    assert not torch.equal(MaskedFCN(3, 1, mask="none")(x), net(x))


def test_an_unknown_model_is_refused():
    with pytest.raises(InvalidParameterError, match="model must be one of"):
        evaluate(Trial("eye", "forest", {}, 0, 1), three_classes(), Clock())
