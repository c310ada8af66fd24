"""How sure predictions of classes are: one factor for all outputs, with which the validation rows are predicted best.

Groups of formulas are averaged, and an average is less sure than its parts: where a table has little noise, the
probabilities are too near to each other, by far more than the groups are wrong.
"""

from __future__ import annotations

import numpy as np
from torch import Tensor

from dnfnet.training.evidence import gain, weighted_mean
from dnfnet.training.objectives import Objective

# Rows that are all predicted right would ask for outputs without end: a factor must be worth this much for its
# logarithm's square, in losses of one row.
PRIOR = 2.0
COARSE, FINE = 0.5, 0.125  # steps of the search, in powers of 2
LOWEST, HIGHEST = -2.0, 3.0


def sharpness(objective: Objective, output: Tensor, target: Tensor, weight: Tensor | None = None) -> float:
    """The factor of the outputs that makes probabilities as sure as the rows bear out; 1 where the rows tell no better.

    Parameters
    ----------
    objective : Objective
    output, target, weight
        Of validation rows: outputs ``(rows, members, n_outputs)`` or ``(rows, n_outputs)``, targets, weights.

    Examples
    --------
    >>> import torch
    >>> from dnfnet.training import BinaryClassification
    >>> target = torch.tensor([1.0, 1.0, 1.0, 0.0]).repeat(100)  # three of four are 1
    >>> too_sure, unsure = torch.full((400, 1), 4.0), torch.full((400, 1), 0.5)
    >>> [round(sharpness(BinaryClassification(), output, target), 1) for output in (too_sure, unsure)]
    [0.3, 2.2]
    """

    def losses(power: float) -> Tensor:
        return objective.mean_losses(output * 2**power, target)

    def cost(power: float) -> float:
        return weighted_mean(losses(power), weight) + PRIOR * (power * np.log(2)) ** 2 / len(target)

    if not len(target):
        return 1.0
    coarse = min(np.arange(LOWEST, HIGHEST + COARSE / 2, COARSE), key=cost)
    power = min(coarse + FINE * np.arange(-3, 4), key=cost)
    return float(2**power) if gain(losses(0.0), losses(power), weight) else 1.0
