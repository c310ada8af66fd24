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


# Members that not every row is for.

COUNTS = torch.tensor([[1, 0, 1, 0, 1], [0, 0, 0, 1, 0], [1, 1, 1, 1, 0]], dtype=torch.bool)


@pytest.mark.parametrize("kind", OBJECTIVES)
@pytest.mark.parametrize("weight", [None, torch.tensor([0.5, 2.0, 0.5])])
def test_the_loss_is_of_the_pairs_that_count(kind, weight):
    """Row by row: what a member gives for a row that does not count for it may be anything, and learns nothing."""
    objective, target = OBJECTIVES[kind]
    output = torch.randn(3, 5, objective.n_outputs, generator=torch.Generator().manual_seed(0))
    output[~COUNTS] = float("inf")
    output.requires_grad_()
    loss = objective.loss(output, target, weight, COUNTS)
    pairs = [(i, j) for i in range(3) for j in range(5) if COUNTS[i, j]]
    each = [objective.losses(output[i : i + 1, j], target[i : i + 1]) for i, j in pairs]
    factor = 1 if weight is None else weight[[i for i, _ in pairs]]
    torch.testing.assert_close(loss, (torch.cat(each) * factor).mean())
    loss.backward()
    assert torch.equal(output.grad.abs().sum(-1) > 0, COUNTS)


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_only_members_that_a_row_counts_for_predict_it(kind):
    objective, _ = OBJECTIVES[kind]
    output = torch.randn(3, 5, objective.n_outputs, generator=torch.Generator().manual_seed(0))
    each = np.stack([objective.predictions(output[:, i]) for i in range(5)])
    output[~COUNTS] = 1e4
    expected = [each[[0, 2, 4], 0].mean(0), each[3, 1], each[:4, 2].mean(0)]
    np.testing.assert_allclose(objective.predictions(output, COUNTS), np.stack(expected), rtol=1e-14)


def test_the_score_of_members_is_of_their_predictions():
    seen = []

    def metric(prediction, target, weight):
        seen.append((prediction, target, weight))
        return 0.5

    objective, target = BinaryClassification(metric), torch.tensor([0.0, 1.0, 1.0])
    output = torch.randn(3, 5, 1, generator=torch.Generator().manual_seed(0))
    assert objective.score(output, target, torch.tensor([1.0, 0.0, 3.0]), COUNTS) == 0.5
    prediction, truth, weight = seen[0]
    np.testing.assert_array_equal(prediction, objective.predictions(output, COUNTS))
    assert (truth.tolist(), weight.tolist()) == ([0, 1, 1], [1, 0, 3])
