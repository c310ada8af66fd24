"""DNF-Net: formulas over selected features, localized, and an output layer (paper, Section 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from dnfnet.nn.dnnf import DNNF, DenseBlock, xavier_linear
from dnfnet.nn.heads import GroupHeads, Head
from dnfnet.nn.layout import Layout
from dnfnet.nn.localization import Localization, UniformLocalization
from dnfnet.nn.runs import Runs
from dnfnet.nn.selection import Beta, FeatureSelection

STRUCTURES = {"dnf": DNNF, "dense": DenseBlock}


class DNFNet(nn.Module):
    """The network of the paper; each component can be left out or replaced by an argument.

    **Shape**: ``net(x)``: ``(rows, d_in) -> (rows, d_out)``, or ``(rows, n_groups, d_out)`` with groups;
    ``net.embed(x)``: ``(rows, d_in) -> (rows, n_formulas)``.

    Parameters
    ----------
    d_in : int
        Number of features.
    d_out : int
        Number of outputs: one logit for two classes, one per class for more.
    n_formulas : int
        Number of DNNF formulas.
    beta : float, sequence of float or None, or None
        Strength of the trainable feature selection, lower is sparser; ``None`` leaves it out. Of several, the ``i``-th
        group takes the ``i``-th, cyclically; without groups, all formulas take the first.
    conjunctions : sequence of int
        Conjunctions of a formula: formula ``i`` takes the ``i``-th, cyclically.
    lengths : sequence of int
        Literals of a conjunction, cyclically inside each formula.
    keep_probs : sequence of float or None
        Probabilities that the random mask keeps a feature; ``None`` leaves the random mask out.
    localization : {"gaussian", "uniform"} or None
        The paper's localization, a constant 1/n in its place, or nothing.
    structure : {"dnf", "dense"}
        Fixed conjunctions and disjunctions, or trained dense layers of the same widths.
    n_groups : int or None
        Groups of consecutive formulas with an output layer each, which learn independently and whose predictions are
        averaged; ``None`` is the paper's single output layer. A localization then is one among the formulas of a group.
    runs : Runs, optional
        Inputs that a kernel may look up instead of multiplying them all; changes nothing but the time.
    generator : torch.Generator, optional
        Source of the random mask and of the initial weights.

    Examples
    --------
    >>> net = DNFNet(5, 3, n_formulas=8, beta=0.7)
    >>> x = torch.randn(4, 5)
    >>> net(x).shape, net.embed(x).shape, net.penalty().shape
    (torch.Size([4, 3]), torch.Size([4, 8]), torch.Size([]))
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        *,
        n_formulas: int,
        beta: Beta,
        conjunctions: Sequence[int] = (6, 9, 12, 15),
        lengths: Sequence[int] = (2, 4, 6),
        keep_probs: Sequence[float] | None = (0.1, 0.3, 0.5, 0.7, 0.9),
        localization: Literal["gaussian", "uniform"] | None = "gaussian",
        structure: Literal["dnf", "dense"] = "dnf",
        n_groups: int | None = None,
        runs: Runs | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if structure not in STRUCTURES:
            raise ValueError(f"structure must be one of {sorted(STRUCTURES)}, however: {structure=}")
        if d_out < 1:
            raise ValueError(f"d_out must be at least 1, however: {d_out=}")
        self.n_groups, self.n_betas = n_groups or 1, len(beta) if isinstance(beta, Sequence) else 1
        layout = Layout(n_formulas, tuple(conjunctions), tuple(lengths))
        selection = None
        if beta is not None or keep_probs is not None:
            selection = FeatureSelection(
                n_formulas,
                d_in,
                beta=beta,
                keep_probs=keep_probs,
                run=len(layout.conjunctions),
                beta_run=-(-n_formulas // (n_groups or 1)),
                generator=generator,
            )
        self.block = STRUCTURES[structure](d_in, layout, selection=selection, runs=runs, generator=generator)
        self.localization = _localization(localization, n_formulas, d_in, n_groups or 1, generator)
        self.head: nn.Module = (
            xavier_linear(n_formulas, d_out, generator, kind=Head)
            if n_groups is None
            else GroupHeads(n_formulas, n_groups=n_groups, d_out=d_out, generator=generator)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Logits; with groups, those of each."""
        return self.head(self.embed(x))

    def members(self, x: Tensor) -> Tensor:
        """Logits of each group, ``(rows, groups, d_out)``; a network without groups is one."""
        logits = self(x)
        return logits if logits.dim() == 3 else logits.unsqueeze(1)

    def embed(self, x: Tensor) -> Tensor:
        """Localized truth values of the formulas: the paper's E(x)."""
        formulas = self.block(x)
        return formulas if self.localization is None else self.localization.localize(formulas, x)

    def shrinking(self) -> list[nn.Parameter]:
        """What weight decay is for: the weights of the literals."""
        return [self.block.weight]

    def seen_inputs(self) -> list[Tensor]:
        """How many inputs each literal sees, of each of ``shrinking()``: those that the random mask lets through."""
        layout, selection = self.block.layout, self.block.selection
        seen = self.block.bias.new_full((layout.n_formulas,), self.block.d_in)
        if selection is not None and selection.random_mask is not None:
            seen = selection.random_mask.sum(-1).to(seen)
        return [layout.per_literal(seen)]

    def group_betas(self) -> Tensor:
        """Which of the betas each group has, ``(n_groups,)``."""
        return torch.arange(self.n_groups) % self.n_betas

    def group_kinds(self, n_kinds: int) -> Tensor:
        """The kind of each group, ``(n_groups,)``, where groups of every beta take the kinds in turn."""
        return torch.arange(self.n_groups) // self.n_betas % n_kinds

    def literal_kinds(self, n_kinds: int) -> list[Tensor]:
        """The kind of each literal, that of its group, of each of ``shrinking()``."""
        layout = self.block.layout
        kinds = self.group_kinds(n_kinds).repeat_interleave(-(-layout.n_formulas // self.n_groups))
        return [layout.per_literal(kinds[: layout.n_formulas])]

    def let_vote(self, votes: Tensor | None = None) -> None:
        """Let these groups have a say outside of training, ``(n_groups,)`` of bool; all without it."""
        if isinstance(self.head, GroupHeads):
            self.head.let_vote(votes)

    def of_voters(self, logits: Tensor) -> Tensor:
        """Of the logits of all groups, those of the groups that vote."""
        return logits[:, self.head.votes] if isinstance(self.head, GroupHeads) else logits

    @torch.no_grad()
    def scale_outputs(self, factor: float) -> None:
        """Multiply all logits, now and from now on, by changing the output layer."""
        for parameter in self.head.parameters():
            parameter.mul_(factor)

    def penalty(self) -> Tensor:
        """The feature selection's regulariser, to be added to the loss with weight 1."""
        selection = self.block.selection
        like = self.block.weight
        return like.new_zeros(()) if selection is None else selection.penalty().to(like)


def _localization(
    kind: str | None, n_formulas: int, d_in: int, n_groups: int, generator: torch.Generator | None
) -> Localization | UniformLocalization | None:
    if kind is None:
        return None
    if kind == "gaussian":
        return Localization(n_formulas, d_in, n_groups=n_groups, generator=generator)
    if kind == "uniform":
        return UniformLocalization(n_formulas // n_groups)
    raise ValueError(f"localization must be 'gaussian', 'uniform' or None, however: localization={kind!r}")
