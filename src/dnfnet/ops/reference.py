"""The block in plain torch: what every other implementation must equal."""

from __future__ import annotations

import torch
from torch import Tensor

from dnfnet.nn.gates import soft_and, soft_or
from dnfnet.nn.layout import Layout


def dnnf(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    layout: Layout,
    *,
    gate: Tensor | None = None,
    keep: Tensor | None = None,  # noqa: ARG001
) -> Tensor:
    """Literals, conjunctions and formulas of a block (paper, Equations 1 and 2).

    Parameters
    ----------
    x : Tensor of shape (rows, d_in)
    weight : Tensor of shape (n_literals, d_in)
        The paper's W, transposed: a formula's literals are consecutive rows.
    bias : Tensor of shape (n_literals,)
    layout : Layout
    gate : Tensor of shape (n_formulas, d_in), optional
        The feature selection of each formula, a factor on the weights of all its literals.
    keep : bool Tensor of shape (n_formulas, d_in), optional
        Where ``gate`` can differ from zero: everything outside may be left out of the work, and gets no gradient.

    Returns
    -------
    Tensor of shape (rows, n_formulas)
    """
    if gate is not None:
        weight = weight * layout.per_literal(gate)
    literals = torch.tanh(torch.nn.functional.linear(x, weight, bias))
    conjunctions = layout.sum_literals(literals)
    conjunctions = soft_and(conjunctions, layout.lengths_like(conjunctions))
    formulas = layout.sum_conjunctions(conjunctions)
    return soft_or(formulas, layout.counts_like(formulas))
