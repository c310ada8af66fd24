"""Outputs of several members: each has its own loss, and predictions are averaged."""

import numpy as np
import pytest
import torch

from dnfnet.training import (
    BinaryClassification,
    CustomLoss,
    MulticlassClassification,
    MultilabelClassification,
    PoissonRegression,
    QuantileRegression,
    Regression,
)

OBJECTIVES = {
    "two classes": (BinaryClassification(), torch.tensor([0.0, 1.0, 1.0])),
    "classes": (MulticlassClassification(4), torch.tensor([0, 3, 2])),
    "labels": (MultilabelClassification(2), torch.tensor([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])),
    "means": (Regression(np.array([5.0]), np.array([2.0])), torch.tensor([[0.1], [0.2], [-0.3]])),
    "quantiles": (QuantileRegression(np.zeros(1), np.ones(1), (0.1, 0.9)), torch.tensor([[0.1], [0.2], [-0.3]])),
    "counts": (PoissonRegression(np.zeros(1), np.ones(1)), torch.tensor([[1.0], [0.0], [2.0]])),
    "a function": (
        CustomLoss(BinaryClassification(), lambda output, target: (output - target) ** 2),
        torch.tensor([0.0, 1.0, 1.0]),
    ),
}


@pytest.mark.parametrize("kind", OBJECTIVES)
@pytest.mark.parametrize("weight", [None, torch.tensor([0.5, 2.0, 0.5])])
def test_the_loss_is_the_mean_of_the_members_losses(kind, weight):
    objective, target = OBJECTIVES[kind]
    output = torch.randn(3, 5, objective.n_outputs, generator=torch.Generator().manual_seed(0))
    each = [objective.loss(output[:, i], target, weight) for i in range(5)]
    torch.testing.assert_close(objective.loss(output, target, weight), torch.stack(each).mean())


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_predictions_are_averaged_after_the_link(kind):
    objective, _ = OBJECTIVES[kind]
    output = torch.randn(3, 5, objective.n_outputs, generator=torch.Generator().manual_seed(0))
    each = [objective.predictions(output[:, i]) for i in range(5)]
    np.testing.assert_allclose(objective.predictions(output), np.mean(each, axis=0), rtol=1e-12)


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_the_loss_of_the_mean_prediction_by_way_of_its_outputs(kind):
    objective, target = OBJECTIVES[kind]
    output = torch.randn(3, 5, objective.n_outputs, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    np.testing.assert_allclose(
        objective.link(objective.unlink(objective.link(output[:, 0]))), objective.link(output[:, 0])
    )
    # One member's mean is itself; of several, the mean of convex losses is not below the loss of the mean.
    torch.testing.assert_close(objective.mean_losses(output[:, :1], target), objective.losses(output[:, 0], target))
    if kind != "a function":
        each = torch.stack([objective.losses(output[:, i], target) for i in range(5)])
        assert (objective.mean_losses(output, target) <= each.mean(0) + 1e-12).all()
        assert objective.mean_losses(output, target).mean() < each.mean() - 0.01


def test_certain_predictions_have_a_finite_loss():
    certain = torch.tensor([[[800.0, -800.0]], [[-800.0, 800.0]]])
    assert torch.isfinite(MulticlassClassification(2).mean_losses(certain, torch.tensor([1, 0]))).all()
    assert torch.isfinite(BinaryClassification().mean_losses(certain[..., :1], torch.tensor([0.0, 1.0]))).all()
