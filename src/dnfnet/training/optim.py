"""The authors' optimiser and learning-rate rule in terms of torch's own, and the ones that took their place."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.optim import Adam, AdamW, Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau

BLOCK = 2**15 - 1


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


class LiteralAdamW(AdamW):
    """AdamW for matrices of literals, whose rows need not all be trained alike.

    Rows can have a decay of their own, and all weights of a literal can share the scale of their steps. Adam divides
    the step of each weight by the size of that weight's own gradients, so that the weight of a useless input, whose
    gradients are small and random, moves as far as that of an input that matters. Where the scale is shared, the
    squared gradients of a literal count with their mean over the inputs that it sees, each in units of the input's
    variance: steps are in proportion to gradients, and a useless input stays near 0.

    Parameters
    ----------
    params : iterable of dict
        Groups of parameters. One with the entry ``rows``, a slice, is these rows of a single matrix. One with the entry
        ``seen`` is of literals that share the scale of their steps, in a single matrix: a tensor that says how many
        inputs each literal of the matrix sees. Parameters of other groups have a scale each, as usual.
    deviations : Tensor of shape (d_in,), optional
        The deviation of each input, for literals that share.
    **options
        As of ``torch.optim.AdamW``.
    """

    def __init__(
        self, params: Iterable[dict[str, Any]], *, deviations: torch.Tensor | None = None, **options: Any
    ) -> None:
        groups = [dict(group) for group in params]
        self.inverse = 1 / deviations if deviations is not None else torch.ones(())
        # Views of rows, which torch steps like parameters: a group of parameters cannot be a part of one.
        self.parts: list[tuple[torch.Tensor, slice, torch.Tensor]] = []
        self.seen: dict[torch.Tensor, torch.Tensor] = {}
        for group in groups:
            group["shared"] = "seen" in group
            if "rows" in group or "seen" in group:
                self._take_rows(group)
        super().__init__(groups, **options)

    def _take_rows(self, group: dict[str, Any]) -> None:
        (matrix,), rows = group["params"], group.pop("rows", slice(None))
        part = matrix.detach()[rows]
        group["params"] = [part]
        self.parts.append((matrix, rows, part))
        if group["shared"]:
            self.seen[part] = group.pop("seen")[rows]

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Take one step."""
        loss = None if closure is None else torch.enable_grad()(closure)()
        for matrix, rows, part in self.parts:
            part.grad = None if matrix.grad is None else matrix.grad[rows]
        for group in self.param_groups:
            for literals in self.seen.keys() & set(group["params"]):
                if literals.grad is not None:
                    self._move(literals, literals.grad, group)
                    literals.grad = None  # torch leaves such a parameter alone
        super().step()
        for _, _, part in self.parts:
            part.grad = None
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, also of the matrices whose rows these are."""
        super().zero_grad(set_to_none)
        for matrix in {matrix for matrix, _, _ in self.parts}:
            if set_to_none:
                matrix.grad = None
            elif matrix.grad is not None:
                matrix.grad.zero_()

    def _move(self, literals: torch.Tensor, grad: torch.Tensor, group: dict[str, Any]) -> None:
        state, seen = self.state[literals], self.seen[literals]
        if not state:
            state["step"] = torch.zeros(())
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(literals), torch.zeros_like(seen)
        state["step"] += 1
        beta1, beta2 = group["betas"]
        rate, size = group["lr"] / (1 - beta1 ** state["step"].item()), math.sqrt(1 - beta2 ** state["step"].item())
        for rows in _blocks(literals):
            w, g, mean, square = (tensor[rows] for tensor in (literals, grad, state["exp_avg"], state["exp_avg_sq"]))
            mean.lerp_(g, 1 - beta1)
            square.lerp_((g * self.inverse).square_().sum(-1) / seen[rows], 1 - beta2)
            scale = rate / (square.sqrt() / size + group["eps"])
            w.mul_(1 - group["lr"] * group["weight_decay"])
            w.addcmul_(mean * self.inverse, scale.unsqueeze(-1), value=-1)


def _blocks(literals: torch.Tensor) -> list[slice]:
    """The rows of a matrix on a CPU in blocks.

    So small a block stays in a cache through a step, and torch does not share it out among threads, which would have to
    wait for each other at each operation.
    """
    n_rows = max(1, BLOCK // literals.shape[1]) if literals.device.type == "cpu" else len(literals)
    return [slice(first, first + n_rows) for first in range(0, len(literals), n_rows)]


def make_optimizer(
    net: nn.Module,
    *,
    learning_rate: float,
    weight_decay: float | Sequence[float],
    deviations: torch.Tensor | None = None,
    shared_steps: bool | Sequence[bool] = True,
) -> Optimizer:
    """The authors' Adam; with weight decay, AdamW, in which the weights of literals shrink and nothing else does.

    A net says which of its parameters shrink by ``shrinking()``; of one that does not, all matrices do. If output
    layers shrank too, no prediction could become certain. With the deviations of the inputs, and of a net that has
    ``seen_inputs()``, literals share the scale of their steps: see `LiteralAdamW`. Of several decays, or of several
    truth values of ``shared_steps``, the kinds of literals that the net tells by ``literal_kinds(n)`` take each one.
    """
    parameters = list(net.parameters())
    choose, see, tell = (getattr(net, name, None) for name in ("shrinking", "seen_inputs", "literal_kinds"))
    shrinking = [p for p in parameters if p.dim() > 1] if choose is None else list(choose())
    kinds = literal_kinds_of(weight_decay, shared_steps if deviations is not None and see is not None else False)
    chosen = set(map(id, shrinking))
    others = {"params": [p for p in parameters if id(p) not in chosen], "weight_decay": 0.0}
    if len(kinds) > 1 or kinds[0].shared_steps:
        none = [None] * len(shrinking)
        facts = zip(shrinking, see() if see else none, tell(len(kinds)) if tell else none, strict=True)
        literals = [group for matrix, seen, kind_of in facts for group in _groups(matrix, seen, kind_of, kinds)]
        return LiteralAdamW(
            [*literals, others],
            lr=learning_rate,
            deviations=None if deviations is None else deviations.to(shrinking[0]),
            fused=can_fuse(parameters),
        )
    decay = kinds[0].weight_decay
    if not decay:
        return TensorFlowAdam(parameters, lr=learning_rate)
    groups = [{"params": shrinking, "weight_decay": decay}, others]
    return AdamW([g for g in groups if g["params"]], lr=learning_rate, fused=can_fuse(parameters))


class LiteralKind(NamedTuple):
    """How literals of a kind are trained."""

    weight_decay: float
    shared_steps: bool


def literal_kinds_of(weight_decay: float | Sequence[float], shared_steps: bool | Sequence[bool]) -> list[LiteralKind]:
    """The kinds that one or several of each make, the shorter sequence beginning again.

    Examples
    --------
    >>> literal_kinds_of((2.0, 0.1), True)
    [LiteralKind(weight_decay=2.0, shared_steps=True), LiteralKind(weight_decay=0.1, shared_steps=True)]
    """
    decays = tuple(weight_decay) if isinstance(weight_decay, Sequence) else (weight_decay,)
    shared = tuple(shared_steps) if isinstance(shared_steps, Sequence) else (shared_steps,)
    n = math.lcm(len(decays), len(shared))
    return [LiteralKind(decays[i % len(decays)], shared[i % len(shared)]) for i in range(n)]


def _groups(
    matrix: torch.Tensor, seen: torch.Tensor | None, kind_of: torch.Tensor | None, kinds: Sequence[LiteralKind]
) -> Iterator[dict[str, Any]]:
    """A group of parameters for each run of literals of the same kind."""
    numbers = [0] if kind_of is None else kind_of.unique_consecutive().tolist()
    lengths = [len(matrix)] if kind_of is None else kind_of.unique_consecutive(return_counts=True)[1].tolist()
    start = 0
    for number, length in zip(numbers, lengths, strict=True):
        rows = slice(start, start + length)
        group = {"params": [matrix], "rows": rows, "weight_decay": kinds[number].weight_decay}
        yield {**group, "seen": seen.to(matrix)} if kinds[number].shared_steps and seen is not None else group
        start += length


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
