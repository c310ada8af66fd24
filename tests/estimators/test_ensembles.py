"""Ensembles of several networks: what they learn from, and how their predictions become one."""

import numpy as np
import pytest
import torch

from dnfnet import DNFNetClassifier, DNFNetRegressor, load
from dnfnet.exceptions import TrainingWarning
from dnfnet.nn import Ensemble
from dnfnet.training import Callback, MulticlassClassification

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
KINDS = Y + 2 * (X[:, 2] > 0)
SMALL = {"n_formulas": 8, "n_groups": 2, "max_epochs": 4, "random_state": 0}


def test_an_ensemble_averages_networks_that_differ(tmp_path):
    model = DNFNetClassifier(n_ensemble=3, **SMALL).fit(X, Y)
    assert isinstance(model.network_, Ensemble)
    assert model.n_iter_ == len(model.history_) == 12
    assert model.feature_selection_.shape[0] == 24
    first, second, _ = model.network_.nets
    assert not np.array_equal(first.block.weight.detach(), second.block.weight.detach())
    encoded = model.encoder_.transform(X)
    with torch.no_grad():
        each = [torch.sigmoid(net(torch.from_numpy(encoded)).double()).mean(1).squeeze() for net in model.network_.nets]
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], torch.stack(each).mean(0), atol=1e-6)
    model.save(tmp_path / "model.dnfnet")
    assert np.array_equal(load(tmp_path / "model.dnfnet").predict_proba(X), model.predict_proba(X))


@torch.no_grad()
def each_network(model, rows):
    """The probabilities of each network of an ensemble, which averages its groups."""
    x = torch.from_numpy(model.encoder_.transform(rows))
    return [torch.softmax(net(x).double(), -1).mean(1).numpy() for net in model.network_.nets]


def test_calibrated_networks_are_averaged_as_logarithms(tmp_path):
    model = DNFNetClassifier(n_ensemble=3, **SMALL).fit(X, KINDS)
    product = np.prod(each_network(model, X), axis=0) ** (1 / 3)
    expected = product / product.sum(1, keepdims=True)
    assert np.abs(expected - np.mean(each_network(model, X), axis=0)).max() > 1e-3
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-6)
    model.save(tmp_path / "model.dnfnet")
    assert np.array_equal(load(tmp_path / "model.dnfnet").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("options", [{"calibrate": False}, {"validation_fraction": 0.0}])
def test_others_are_averaged_as_they_are(options):
    """Nothing says of these how sure they should be."""
    model = DNFNetClassifier(n_ensemble=3, **SMALL, **options).fit(X, KINDS)
    np.testing.assert_allclose(model.predict_proba(X), np.mean(each_network(model, X), axis=0), atol=1e-6)


def test_predictions_do_not_follow_what_is_set_after_the_fit():
    model = DNFNetClassifier(n_ensemble=2, **SMALL).fit(X, KINDS)
    before = model.predict_proba(X)
    assert np.array_equal(model.set_params(calibrate=False).predict_proba(X), before)


def test_pooled_by_hand():
    """Odds of 9 to 1 and of 1 to 1 have odds of 3 to 1 between them; a class that one excludes stays possible."""
    objective = MulticlassClassification(2)
    first, second = np.array([[0.9, 0.1], [1.0, 0.0]]), np.array([[0.5, 0.5], [0.5, 0.5]])
    pooled = objective.pooled([first, second])
    np.testing.assert_allclose(pooled[0], [0.75, 0.25])
    assert 0 < pooled[1, 1] < 1e-7
    np.testing.assert_allclose(pooled.sum(1), 1)


def test_networks_of_an_ensemble_stop_by_other_rows():
    model = DNFNetClassifier(n_ensemble=3, **SMALL)
    parts = list(model._parts(X, Y, None, None, np.random.RandomState(0), True))
    assert len({frozenset(valid.chosen) for _, valid in parts}) == 3
    for train, valid in parts:
        assert sorted([*train.chosen, *valid.chosen]) == list(range(len(X)))
    given = list(model._parts(X, Y, (X[:9], Y[:9]), None, np.random.RandomState(0), True))
    assert all(train.n_rows == 300 and valid.n_rows == 9 for train, valid in given)


class InterruptIn(Callback):
    """Ctrl-C in the second network, before or after its first epoch."""

    def __init__(self, event):
        self.event, self.fits = event, 0

    def on_fit_start(self, trainer):
        self.fits += 1

    def on_step_end(self, trainer):
        if self.event == "step" and self.fits == 2:
            raise KeyboardInterrupt

    def on_epoch_end(self, trainer):
        if self.event == "epoch" and self.fits == 2:
            raise KeyboardInterrupt


@pytest.mark.parametrize(("event", "n_nets"), [("step", 1), ("epoch", 2)])
def test_an_interrupted_ensemble_keeps_the_networks_it_has(event, n_nets, tmp_path):
    model = DNFNetClassifier(n_ensemble=3, callbacks=[InterruptIn(event)], **SMALL)
    with pytest.warns(TrainingWarning, match="interrupted"):
        model.fit(X, Y)
    assert model.stop_reason_ == "interrupted"
    assert len(model.network_.nets) == n_nets
    model.save(tmp_path / "model.dnfnet")
    assert np.array_equal(load(tmp_path / "model.dnfnet").predict_proba(X), model.predict_proba(X))


def test_an_ensemble_shares_its_time_limit():
    model = DNFNetRegressor(n_ensemble=4, time_limit=1e-9, n_formulas=8, n_groups=2, random_state=0).fit(X, X[:, 0])
    assert model.n_iter_ == 4  # an epoch each


def test_partial_fit_trains_all_networks_of_an_ensemble():
    model = DNFNetClassifier(n_ensemble=2, **SMALL).partial_fit(X, Y)
    before = [net.block.weight.detach().clone() for net in model.network_.nets]
    model.partial_fit(X, Y)
    assert all(not (net.block.weight == old).all() for net, old in zip(model.network_.nets, before, strict=True))
