"""Feature selection of each formula: a random mask, a trainable mask and its penalty (paper, Section 2.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import torch
from torch import Tensor, nn

MOST_DRAWS = 1000

# One for all formulas; or several, cyclically, where None is a formula without a trainable mask.
Beta = float | Sequence[float | None] | None


class _StraightThroughSign(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        # Zero counts as negative: a threshold must leave nothing between off and on.
        return torch.where(x > 0, torch.ones_like(x), -torch.ones_like(x))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grad * (1 - torch.tanh(x) ** 2)


def straight_through_sign(x: Tensor) -> Tensor:
    """Sign in the forward pass, the gradient of tanh in the backward pass: the paper's Φ."""
    return _StraightThroughSign.apply(x)


def binary_threshold(x: Tensor, epsilon: float) -> Tensor:
    """1 where ``|x| > epsilon`` and 0 elsewhere, with a straight-through gradient: the paper's T."""
    return 0.5 * straight_through_sign(x.abs() - epsilon) + 0.5


def elastic_net(
    trainable: Tensor, random: Tensor, alpha: Tensor, *, beta: float | Tensor, epsilon: float = 1.0
) -> Tensor:
    """Modified elastic net of each formula, over the features that its random mask keeps.

    Parameters
    ----------
    trainable, random : Tensor of shape (n_formulas, d_in)
        The masks m_t and m_s.
    alpha : Tensor of shape ()
        Balances the two parts through its sigmoid.
    beta : float or Tensor of shape (n_formulas,)
        Where the entries are drawn to, as a multiple of ``epsilon``: lower values select fewer features.
    epsilon : float
        The threshold of the mask.

    Returns
    -------
    Tensor of shape (n_formulas,)
    """
    kept = trainable * random
    # A mask drawn by hand may be empty: its norms are 0, and 0 / 1 keeps the penalty finite.
    size = random.sum(-1).clamp(min=1)
    r2 = (kept.square().sum(-1) / size - beta * epsilon**2).abs()
    r1 = (kept.abs().sum(-1) / size - beta * epsilon).abs()
    balance = torch.sigmoid(alpha)
    return (1 - balance) / 2 * r2 + balance * r1


def random_masks(
    n_formulas: int,
    d_in: int,
    keep_probs: Sequence[float],
    *,
    run: int,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw one mask per formula: ``(n_formulas, d_in)`` of bool, no row of it empty.

    The probability of keeping a feature cycles through ``keep_probs``, one step every ``run`` formulas, so that
    each size of formula meets each probability. A mask that came out empty is drawn again.
    """
    steps = torch.arange(n_formulas) // run % len(keep_probs)
    probs = torch.tensor(keep_probs, dtype=torch.float64)[steps].unsqueeze(-1)
    masks = torch.rand(n_formulas, d_in, dtype=torch.float64, generator=generator) < probs
    for _ in range(MOST_DRAWS):
        empty = ~masks.any(-1, keepdim=True)
        if not empty.any():
            return masks
        redrawn = torch.rand(n_formulas, d_in, dtype=torch.float64, generator=generator) < probs
        masks = torch.where(empty, redrawn, masks)
    # So small a probability that drawing again would not end: such a mask keeps one feature.
    one = torch.nn.functional.one_hot(torch.randint(d_in, (n_formulas,), generator=generator), d_in).bool()
    return masks | (one & ~masks.any(-1, keepdim=True))


class FeatureSelection(nn.Module):
    """Which features each formula sees.

    **Shape**: ``forward()`` gives ``(n_formulas, d_in)``, 1 where a formula uses a feature and 0 elsewhere.

    Parameters
    ----------
    n_formulas, d_in : int
    beta : float, sequence of float or None, or None
        Strength of the selection; ``None`` leaves the trainable mask out. Of several, one step every ``beta_run``
        formulas, cyclically.
    keep_probs : sequence of float or None
        Probabilities of the random mask; ``None`` leaves the random mask out.
    run : int
        How many formulas in a row share a probability.
    beta_run : int
        How many formulas in a row share a beta.
    epsilon : float
        Threshold of the trainable mask.
    generator : torch.Generator, optional

    Examples
    --------
    >>> selection = FeatureSelection(8, 5, beta=0.7)
    >>> selection().shape
    torch.Size([8, 5])
    >>> round(FeatureSelection(8, 5, beta=0.7).penalty().item(), 4)
    0.7875
    >>> FeatureSelection(8, 5, beta=(None, 0.7), beta_run=2).masked
    tensor([2, 3, 6, 7])
    """

    random_mask: Tensor | None
    masked: Tensor

    def __init__(
        self,
        n_formulas: int,
        d_in: int,
        *,
        beta: Beta,
        keep_probs: Sequence[float] | None = (0.1, 0.3, 0.5, 0.7, 0.9),
        run: int = 4,
        beta_run: int = 1,
        epsilon: float = 1.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if min(n_formulas, d_in) < 1:
            raise ValueError(f"n_formulas and d_in must be at least 1, however: {n_formulas=}, {d_in=}")
        cycle = tuple(beta) if isinstance(beta, Sequence) else (beta,)
        _check_selection(cycle, keep_probs, epsilon)
        self.n_formulas, self.d_in = n_formulas, d_in
        self.beta, self.epsilon = beta, epsilon
        masks = None
        if keep_probs is not None:
            masks = random_masks(n_formulas, d_in, keep_probs, run=run, generator=generator)
        self.register_buffer("random_mask", masks)
        of_formula = [cycle[i // beta_run % len(cycle)] for i in range(n_formulas)]
        chosen = {i: value for i, value in enumerate(of_formula) if value is not None}
        self.register_buffer("masked", torch.tensor(list(chosen), dtype=torch.int64), persistent=False)
        self.betas = tuple(chosen.values())
        if chosen:
            self.mask = nn.Parameter(torch.full((len(chosen), d_in), epsilon + 0.5))
            self.alpha = nn.Parameter(torch.zeros(()))
        else:
            self.register_parameter("mask", None)
            self.register_parameter("alpha", None)

    def forward(self) -> Tensor | None:
        """Both masks together, or ``None`` when neither is there."""
        if self.mask is None:
            return None if self.random_mask is None else self.random_mask.to(torch.get_default_dtype())
        chosen = binary_threshold(self.mask, self.epsilon)
        if len(chosen) < self.n_formulas:
            chosen = chosen.new_ones(self.n_formulas, self.d_in).index_copy(0, self.masked, chosen)
        return chosen if self.random_mask is None else chosen * self.random_mask

    def penalty(self) -> Tensor:
        """Mean of the modified elastic net over the formulas; it is 0 of one without a trainable mask."""
        if self.mask is None:
            return torch.zeros(())
        random = torch.ones_like(self.mask) if self.random_mask is None else self.random_mask[self.masked].to(self.mask)
        betas = self.mask.new_tensor(self.betas)
        penalties = elastic_net(self.mask, random, self.alpha, beta=betas, epsilon=self.epsilon)
        return penalties.mean() * (len(penalties) / self.n_formulas)

    def extra_repr(self) -> str:
        """What ``print(module)`` shows."""
        return f"n_formulas={self.n_formulas}, d_in={self.d_in}, beta={self.beta}"


def _check_selection(betas: Sequence[float | None], keep_probs: Sequence[float] | None, epsilon: float) -> None:
    if not betas or not all(beta is None or (isinstance(beta, Real) and 0 < beta < math.inf) for beta in betas):
        raise ValueError(f"beta must be a positive number, None, or several of these, however: beta={betas}")
    if not epsilon > 0:
        raise ValueError(f"epsilon must be positive, however: {epsilon=}")
    if keep_probs is not None and not (len(keep_probs) and all(0 < p <= 1 for p in keep_probs)):
        raise ValueError(f"keep_probs must be probabilities above 0, at least one, however: {keep_probs=}")
