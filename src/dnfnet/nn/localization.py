"""Spatial localization: each formula answers for a part of the input space (paper, Section 2.4)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dnfnet import ops

# Truth values that are localized at a time: the backward pass then holds the gradient of so many distances, not of all.
PART = 1 << 21


def squared_distances(x: Tensor, mu: Tensor, sigma: Tensor) -> Tensor:
    """‖σ ⊙ (x − μ)‖₂² of each row to each centre: ``(rows, d), (n, d), (n, d) -> (rows, n)``.

    Expanded into matrix products, so no tensor of rows × centres × features ever exists. Cancellation can leave a
    tiny negative number where x meets μ.
    """
    scale = sigma.square()
    squares = torch.addmm((scale * mu.square()).sum(-1), x.square(), scale.T)
    if squares.dtype != x.dtype:  # under autocast, which does not cover the form in place
        return torch.addmm(squares, x, (scale * mu).T, alpha=-2)
    return squares.addmm_(x, (scale * mu).T, alpha=-2)


class Localization(nn.Module):
    """Softmax over the formulas, or over those of each group, of σ(τ)·exp(−‖σ ⊙ (x − μ)‖₂).

    **Shape**: ``(*, d_in) -> (*, n_formulas)``; each row adds up to 1, with groups each group of it.

    Examples
    --------
    >>> weights = Localization(n_formulas=8, d_in=5)(torch.randn(3, 5))
    >>> weights.shape, bool((weights.sum(-1) - 1).abs().max() < 1e-6)
    (torch.Size([3, 8]), True)
    """

    def __init__(
        self, n_formulas: int, d_in: int, *, n_groups: int = 1, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        self.n_groups = n_groups
        self.mu = nn.Parameter(torch.randn(n_formulas, d_in, generator=generator))
        self.sigma = nn.Parameter(torch.randn(n_formulas, d_in, generator=generator))
        self.tau = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: Tensor) -> Tensor:
        """The weight of each formula at each row."""
        squared = self.squared_distances(x)
        weights = ops.local_weights(squared.reshape(*self._groups(squared)), torch.sigmoid(self.tau))
        return weights.reshape(squared.shape)

    def localize(self, formulas: Tensor, x: Tensor) -> Tensor:
        """Formulas times their weights; in training a part of the rows at a time."""
        if not torch.is_grad_enabled() or formulas.numel() <= PART:
            return self._localize(formulas, x)
        size = max(1, PART // formulas.shape[-1])
        parts = (t.reshape(-1, t.shape[-1]).split(size) for t in (formulas, x))
        return torch.cat([self._localize(*part) for part in zip(*parts, strict=True)]).reshape(formulas.shape)

    def _localize(self, formulas: Tensor, x: Tensor) -> Tensor:
        groups = self._groups(formulas)
        squared = self.squared_distances(x).reshape(*groups)
        return ops.localize(formulas.reshape(*groups), squared, torch.sigmoid(self.tau)).reshape(formulas.shape)

    def _groups(self, formulas: Tensor) -> tuple[int, int]:
        """The shape with one row for each row and group."""
        return -1, formulas.shape[-1] // self.n_groups

    def squared_distances(self, x: Tensor) -> Tensor:
        """‖σ ⊙ (x − μ)‖₂² of each row to each formula's centre."""
        rows = x.reshape(-1, x.shape[-1])
        return squared_distances(rows, self.mu, self.sigma).reshape(*x.shape[:-1], self.mu.shape[0])


class UniformLocalization(nn.Module):
    """The control of the ablation: the same weight 1/n for every formula, everywhere.

    **Shape**: ``(rows, d_in) -> (1, n_formulas)``.
    """

    def __init__(self, n_formulas: int) -> None:
        super().__init__()
        self.n_formulas = n_formulas

    def forward(self, x: Tensor) -> Tensor:
        """1/n, to be broadcast over the rows."""
        return x.new_full((1, self.n_formulas), 1 / self.n_formulas)

    def localize(self, formulas: Tensor, x: Tensor) -> Tensor:  # noqa: ARG002
        """Formulas times 1/n."""
        return formulas / self.n_formulas
