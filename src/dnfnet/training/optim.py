"""The authors' optimiser and learning-rate rule, in terms of torch's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.optim import Adam, Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau


class TensorFlowAdam(Adam):
    """Adam with its epsilon outside the bias correction, as in the authors' framework.

    Their step is lr·√(1−β2ᵗ)/(1−β1ᵗ) · m/(√v + ε). torch corrects v first, which makes its ε act as ε·√(1−β2ᵗ)
    there: so at step t torch's own Adam runs with ε/√(1−β2ᵗ).
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        **options: Any,
    ) -> None:
        params = list(params)
        tensors = [p for entry in params for p in (entry["params"] if isinstance(entry, dict) else [entry])]
        # One pass over each tensor instead of a dozen: next to a fused block the difference shows.
        options.setdefault("fused", all(p.device.type in ("cpu", "cuda") for p in tensors))
        super().__init__(params, lr=lr, betas=betas, eps=eps, **options)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Take one step."""
        for group in self.param_groups:
            group.setdefault("outer_eps", group["eps"])
            group["steps"] = group.get("steps", 0) + 1
            group["eps"] = group["outer_eps"] / math.sqrt(1 - group["betas"][1] ** group["steps"])
        return super().step(closure)


def halve_on_plateau(optimizer: Optimizer, *, patience: int = 10, min_lr: float = 1e-6) -> ReduceLROnPlateau:
    """Halve the rate at the ``patience``-th epoch in a row whose training loss is no strict improvement."""
    # torch counts one epoch later than the authors' framework.
    return ReduceLROnPlateau(optimizer, factor=0.5, patience=patience - 1, threshold=0, min_lr=min_lr, eps=0)
