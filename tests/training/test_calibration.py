"""How sure predictions are made."""

import copy

import pytest
import torch

from dnfnet.nn import DNFNet
from dnfnet.training import BinaryClassification, MulticlassClassification, TensorSource, Trainer
from dnfnet.training.calibration import sharpness

GENERATOR = torch.Generator().manual_seed(0)
LOGITS = 2 * torch.randn(4000, 3, generator=GENERATOR)
TARGET = torch.multinomial(torch.softmax(LOGITS, dim=-1), 1, generator=GENERATOR).flatten()
OBJECTIVE = MulticlassClassification(3)


@pytest.mark.parametrize("factor", [0.25, 0.5, 2.0, 3.0])
def test_a_factor_is_undone(factor):
    """Targets were drawn from the probabilities of these outputs, which were multiplied then."""
    assert sharpness(OBJECTIVE, LOGITS * factor, TARGET) == pytest.approx(1 / factor, rel=0.1)


def test_members_that_disagree_are_sharpened():
    """The mean of unsure members is less sure than each; outputs that are as sure as they should be stay."""
    noisy = LOGITS.unsqueeze(1) + 2 * torch.randn(4000, 8, 3, generator=GENERATOR)
    factor = sharpness(OBJECTIVE, noisy, TARGET)
    assert factor > 1.1
    assert (
        OBJECTIVE.mean_losses(noisy * factor, TARGET).mean()
        < OBJECTIVE.mean_losses(noisy, TARGET).mean()
        < OBJECTIVE.mean_losses(noisy * 2 * factor, TARGET).mean()
    )
    assert sharpness(OBJECTIVE, LOGITS, TARGET) == 1.0


def test_rows_that_tell_too_little_change_nothing():
    unsure = LOGITS / 3
    assert sharpness(OBJECTIVE, unsure[:49], TARGET[:49]) == 1.0
    assert sharpness(OBJECTIVE, unsure[:0], TARGET[:0]) == 1.0
    assert sharpness(OBJECTIVE, unsure[:500], TARGET[:500]) > 2


@pytest.mark.parametrize("n_rows", [60, 2000])
def test_rows_that_are_all_right_do_not_ask_for_certainty(n_rows):
    """Without a prior the factor would be the largest of all; more rows bear out more."""
    right = torch.full((n_rows, 1), 1.0)
    factor = sharpness(BinaryClassification(), right, torch.ones(n_rows))
    assert 2 < factor < 8
    assert factor == pytest.approx({60: 3.7, 2000: 7.5}[n_rows], rel=0.1)


def test_weights_count():
    """Of the rows that count, three of four are 1; uniform weights are none, and zero is absent."""
    output = torch.full((800, 1), 4.0)
    target = torch.tensor([1.0, 1.0, 1.0, 0.0]).repeat(200)
    plain = sharpness(BinaryClassification(), output, target)
    assert plain == pytest.approx(1.1 / 4, rel=0.1)
    assert sharpness(BinaryClassification(), output, target, torch.full((800,), 7.0)) == plain
    other = torch.where(target > 0, 1.0, 9.0)
    assert sharpness(BinaryClassification(), output, target, other) < plain


def trained(net, **options):
    X = torch.randn(900, 4, generator=torch.Generator().manual_seed(1))
    y = (X[:, 0] * X[:, 1] > 0).long() + (X[:, 2] > 0.5).long()
    trainer = Trainer(net, OBJECTIVE, learning_rate=0.02, max_epochs=25, schedule="cosine", **options)
    valid = TensorSource(X[600:], y[600:], batch_size=300)
    return trainer.fit(TensorSource(X[:600], y[:600], batch_size=100), valid), valid


def test_training_scales_the_outputs_in_the_end():
    """Only the output layer changes, and the score that is told is that of the outputs as they are now."""
    net = DNFNet(4, 3, n_formulas=32, beta=None, keep_probs=None, localization=None, n_groups=8)
    twin = copy.deepcopy(net)
    (plain, valid), (sharp, _) = trained(twin), trained(net, calibrate=True)
    assert sharp.best_score < plain.best_score
    assert sharp.best_score == pytest.approx(sharp.score(valid))
    ratio = net.head.weight / twin.head.weight
    assert ratio.min() > 1
    torch.testing.assert_close(ratio, ratio.max().expand_as(ratio))
    torch.testing.assert_close(net.head.bias, twin.head.bias * ratio.max())
    torch.testing.assert_close(net.block.weight, twin.block.weight, rtol=0, atol=0)


def test_nothing_is_scaled_without_validation_rows_or_by_a_net_that_cannot():
    X, y = torch.randn(100, 3, generator=GENERATOR), torch.zeros(100, dtype=torch.int64)
    net = torch.nn.Linear(3, 3)
    trainer = Trainer(net, OBJECTIVE, max_epochs=2, calibrate=True)
    trainer.fit(TensorSource(X, y), TensorSource(X, y))
    assert trainer.stop_reason == "max_epochs=2 reached"
    weights = []
    for calibrate in (True, False):
        dnf = DNFNet(3, 3, n_formulas=8, beta=None, generator=torch.Generator().manual_seed(0))
        Trainer(dnf, OBJECTIVE, max_epochs=2, calibrate=calibrate).fit(TensorSource(X, y))
        weights.append(dnf.head.weight)
    torch.testing.assert_close(*weights, rtol=0, atol=0)
