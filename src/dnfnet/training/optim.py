"""The authors' optimiser and learning-rate rule in terms of torch's own, and the ones that took their place."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn
from torch.optim import Adam, AdamW, Optimizer
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
        options.setdefault("fused", can_fuse(tensors))
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


def can_fuse(tensors: Iterable[torch.Tensor]) -> bool:
    """Whether torch can take a step in one pass over each tensor instead of a dozen."""
    return all(tensor.device.type in ("cpu", "cuda") for tensor in tensors)


def make_optimizer(net: nn.Module, *, learning_rate: float, weight_decay: float) -> Adam:
    """The authors' Adam; with weight decay, AdamW, in which the weights of literals shrink and nothing else does.

    A net says which of its parameters shrink by ``shrinking()``; of one that does not, all matrices do. If output
    layers shrank too, no prediction could become certain.
    """
    if not weight_decay:
        return TensorFlowAdam(net.parameters(), lr=learning_rate)
    parameters = list(net.parameters())
    choose = getattr(net, "shrinking", None)
    shrinking = [p for p in parameters if p.dim() > 1] if choose is None else list(choose())
    chosen = set(map(id, shrinking))
    groups = [
        {"params": shrinking, "weight_decay": weight_decay},
        {"params": [p for p in parameters if id(p) not in chosen], "weight_decay": 0.0},
    ]
    return AdamW([g for g in groups if g["params"]], lr=learning_rate, fused=can_fuse(parameters))


class CosineDecay:
    """A rate that rises for a short while and then falls along a cosine to 0 at the end of training.

    Parameters
    ----------
    optimizer : Optimizer
        Its rate at the time is the highest one.
    rise : float
        The share of the training in which the rate rises.

    Examples
    --------
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=2.0)
    >>> decay = CosineDecay(optimizer, rise=0.1)
    >>> rates = [decay.go_to(share) for share in (0.0, 0.05, 0.1, 0.55, 1.0)]
    >>> [round(rate, 6) for rate in rates]
    [0.0, 1.0, 2.0, 1.0, 0.0]
    """

    def __init__(self, optimizer: Optimizer, *, rise: float = 0.05) -> None:
        self.optimizer, self.rise = optimizer, rise
        self.highest = optimizer.param_groups[0]["lr"]

    def go_to(self, progress: float) -> float:
        """Set the rate for a share of the training that has passed."""
        if progress < self.rise:
            factor = progress / self.rise
        else:
            factor = (1 + math.cos(math.pi * (progress - self.rise) / (1 - self.rise))) / 2
        rate = self.highest * factor
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        return rate

    def state_dict(self) -> dict[str, Any]:
        """What a later process needs to go on."""
        return {"highest": self.highest}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what ``state_dict`` gave."""
        self.highest = state["highest"]
