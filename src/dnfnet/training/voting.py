"""Which groups of formulas have a say in predictions: all, or one kind, if the validation rows leave no doubt."""

from __future__ import annotations

import math

from torch import Tensor

from dnfnet.training.objectives import Objective

LEAST_ROWS = 50
STANDARD_ERRORS = 2.0


def better_kind(
    objective: Objective, output: Tensor, target: Tensor, weight: Tensor | None, kinds: Tensor
) -> int | None:
    """The kind of groups that predicts better by itself than all groups together; None where none surely does.

    Better is a mean loss that is lower by more than two standard errors of the difference.

    Parameters
    ----------
    objective : Objective
    output, target, weight
        Of validation rows: outputs of all groups ``(rows, groups, n_outputs)``, targets and, optionally, weights.
    kinds : Tensor of shape (groups,)
        The kind of each group.
    """
    if len(target) < LEAST_ROWS:
        return None
    together = objective.mean_losses(output, target)
    best, most = None, 0.0
    for kind in kinds.unique().tolist():
        gain, error = _mean(together - objective.mean_losses(output[:, kinds == kind], target), weight)
        if gain > max(most, STANDARD_ERRORS * error):
            best, most = kind, gain
    return best


def _mean(values: Tensor, weight: Tensor | None) -> tuple[float, float]:
    """Weighted mean and its standard error."""
    share = values.new_ones(len(values)) if weight is None else weight.to(values)
    share = share / share.sum()
    mean = (share * values).sum()
    return mean.item(), math.sqrt((share * (values - mean).square()).sum().item() / len(values))
