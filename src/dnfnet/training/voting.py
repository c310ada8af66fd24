"""Which groups of formulas have a say in predictions: all, or one kind, if the validation rows find that better."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dnfnet.training.evidence import gain
from dnfnet.training.objectives import Objective


def voters(
    objective: Objective, output: Tensor, target: Tensor, weight: Tensor | None, questions: Sequence[Tensor]
) -> Tensor:
    """The groups that are to vote, ``(groups,)`` of bool: one kind is chosen, or none, for each question in turn.

    Parameters
    ----------
    objective, output, target, weight
        As of `better_kind`.
    questions : sequence of Tensor of shape (groups,)
        The kind of each group, in one respect after the other.
    """
    votes = torch.ones(output.shape[1], dtype=torch.bool)
    for kinds in questions:
        kind = better_kind(objective, output[:, votes], target, weight, kinds[votes])
        if kind is not None:
            votes &= kinds == kind
    return votes


def better_kind(
    objective: Objective, output: Tensor, target: Tensor, weight: Tensor | None, kinds: Tensor
) -> int | None:
    """The kind of groups that predicts better by itself than all groups together; None where none does.

    Better is a mean loss that is lower by more than a standard error of the difference: all together are an ensemble
    of more members, so they are preferred where the rows tell little.

    Parameters
    ----------
    objective : Objective
    output, target, weight
        Of validation rows: outputs of all groups ``(rows, groups, n_outputs)``, targets and, optionally, weights.
    kinds : Tensor of shape (groups,)
        The kind of each group.
    """
    together = objective.mean_losses(output, target)
    gains = {
        kind: gain(together, objective.mean_losses(output[:, kinds == kind], target), weight)
        for kind in kinds.unique().tolist()
    }
    best = max(gains, key=lambda kind: gains[kind])
    return best if gains[best] else None
