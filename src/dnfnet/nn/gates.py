"""Soft Boolean gates over truth values in [-1, 1], and their exact twins (paper, Section 2.1, Appendix A)."""

from __future__ import annotations

import torch
from torch import Tensor


def soft_and(total: Tensor, count: Tensor | int) -> Tensor:
    """Conjunction of ``count`` values that add up to ``total``.

    Near 1 only when every value is near 1: all true gives tanh(1.5).
    """
    return torch.tanh(total - count + 1.5)


def soft_or(total: Tensor, count: Tensor | int) -> Tensor:
    """Disjunction of ``count`` values that add up to ``total``.

    Near -1 only when every value is near -1: all false gives tanh(-1.5).
    """
    return torch.tanh(total + count - 1.5)


def projected_and(x: Tensor, u: Tensor) -> Tensor:
    """Conjunction of those entries of ``x`` that the 0/1 vector ``u`` points at: ``(*, d), (d,) -> (*)``."""
    return soft_and(x @ u, u.sum())


def exact_and(total: Tensor, count: Tensor | int) -> Tensor:
    """Logical AND of ``count`` values from {-1, 1} that add up to ``total``."""
    return torch.sign(total - count + 1)


def exact_or(total: Tensor, count: Tensor | int) -> Tensor:
    """Logical OR of ``count`` values from {-1, 1} that add up to ``total``."""
    return torch.sign(total + count - 1)
