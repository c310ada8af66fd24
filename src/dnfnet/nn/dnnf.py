"""Blocks that turn features into truth values of formulas (paper, Section 2.1 and Experiments 1 and 7)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dnfnet import ops
from dnfnet.nn.layout import Layout
from dnfnet.nn.runs import Runs
from dnfnet.nn.selection import FeatureSelection


class LiteralBlock(nn.Module):
    """The trainable affine literals that every block starts with.

    Their weights start with one Xavier draw over the whole matrix, as the authors', and their biases at 0.
    """

    def __init__(
        self,
        d_in: int,
        layout: Layout,
        *,
        selection: FeatureSelection | None = None,
        runs: Runs | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if d_in < 1:
            raise ValueError(f"d_in must be at least 1, however: {d_in=}")
        if runs is not None and runs.d_in != d_in:
            raise ValueError(f"runs must be of {d_in} inputs, however: {runs.d_in=}")
        self.d_in, self.layout, self.selection, self.runs = d_in, layout, selection, runs
        self.weight = nn.Parameter(torch.empty(layout.n_literals, d_in))
        self.bias = nn.Parameter(torch.zeros(layout.n_literals))
        nn.init.xavier_uniform_(self.weight, generator=generator)

    def gate(self) -> Tensor | None:
        """What each formula uses of each feature, ``(n_formulas, d_in)``; ``None`` when it uses all."""
        gate = None if self.selection is None else self.selection()
        return None if gate is None else gate.to(self.weight)

    @torch.no_grad()
    def selected(self) -> Tensor:
        """Which features each formula uses, ``(n_formulas, d_in)`` of bool."""
        gate = self.gate()
        if gate is None:
            return torch.ones(self.layout.n_formulas, self.d_in, dtype=torch.bool)
        return gate > 0

    def extra_repr(self) -> str:
        """What ``print(module)`` shows."""
        return f"d_in={self.d_in}, n_formulas={self.layout.n_formulas}, n_literals={self.layout.n_literals}"


class DNNF(LiteralBlock):
    """Literals, fixed conjunctions, a fixed disjunction: one truth value in (-1, 1) per formula.

    A layer like any other: gradients flow to the input, so it can stand behind an encoder.

    **Shape**: ``(*, d_in) -> (*, n_formulas)``.

    Parameters
    ----------
    d_in : int
    layout : Layout
    selection : FeatureSelection, optional
        Left out, every formula sees every feature.
    runs : Runs, optional
        Inputs that the kernel may look up instead of multiplying; changes nothing but the time.
    generator : torch.Generator, optional

    Examples
    --------
    >>> block = DNNF(5, Layout(n_formulas=8))
    >>> block(torch.randn(3, 5)).shape
    torch.Size([3, 8])
    """

    def __init__(
        self,
        d_in: int,
        layout: Layout,
        *,
        selection: FeatureSelection | None = None,
        runs: Runs | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(d_in, layout, selection=selection, runs=runs, generator=generator)
        self._packed = ops.PackCache()

    def forward(self, x: Tensor) -> Tensor:
        """Truth values of all formulas."""
        if x.shape[-1] != self.d_in:
            raise ValueError(f"x must have {self.d_in} features, however: x.shape={tuple(x.shape)}")
        rows = x.reshape(-1, self.d_in)
        if self.training or not ops.can_pack(rows, self.state()):
            # Gradients now mean new weights soon, and not every optimiser counts up a tensor's version.
            self._packed.clear()
            formulas = self._formulas(rows)
        else:
            packed = self._packed.get(self.state(), self.pack)(rows.contiguous())
            formulas = self._formulas(rows) if packed is None else packed
        return formulas.reshape(*x.shape[:-1], self.layout.n_formulas)

    def _formulas(self, rows: Tensor) -> Tensor:
        gate, keep = self.gate(), self.keep()
        return ops.dnnf(rows, self.weight, self.bias, self.layout, gate=gate, keep=keep, runs=self.runs)

    def train(self, mode: bool = True) -> DNNF:
        """Switch between training and prediction.

        What was packed for prediction is packed anew; memory that steps of training shared is returned to the system.
        """
        self._packed.clear()
        if not mode:
            ops.release()
        return super().train(mode)

    def keep(self) -> Tensor | None:
        """Where the gate can ever be open: the random mask."""
        return None if self.selection is None else self.selection.random_mask

    def state(self) -> tuple[Tensor, ...]:
        """Everything that the block's output depends on besides ``x``."""
        return (*self.parameters(), *self.buffers())

    def pack(self) -> ops.Packed:
        """The block as prediction reads it: both masks save work, and the weights are copied once."""
        return ops.Packed(self.weight, self.bias, self.layout, self.gate(), self.keep(), self.runs)


class DenseBlock(LiteralBlock):
    """The ablation's counterpart of `DNNF`: as wide everywhere, but trained throughout, without Boolean structure.

    With a selection, each unit of the first layer belongs to a formula and takes that formula's masks.

    **Shape**: ``(*, d_in) -> (*, n_formulas)``.
    """

    def __init__(
        self,
        d_in: int,
        layout: Layout,
        *,
        selection: FeatureSelection | None = None,
        runs: Runs | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(d_in, layout, selection=selection, runs=runs, generator=generator)
        self.conjunctions = xavier_linear(layout.n_literals, layout.n_conjunctions, generator)
        self.formulas = xavier_linear(layout.n_conjunctions, layout.n_formulas, generator)

    def forward(self, x: Tensor) -> Tensor:
        """Three dense tanh layers."""
        gate = self.gate()
        weight = self.weight if gate is None else self.weight * self.layout.per_literal(gate)
        hidden = torch.tanh(nn.functional.linear(x, weight, self.bias))
        return torch.tanh(self.formulas(torch.tanh(self.conjunctions(hidden))))


def xavier_linear(
    d_in: int, d_out: int, generator: torch.Generator | None = None, *, kind: type[nn.Linear] = nn.Linear
) -> nn.Linear:
    """A dense layer as the authors' framework starts it: Xavier-uniform weights, bias 0."""
    layer = nn.utils.skip_init(kind, d_in, d_out)
    nn.init.xavier_uniform_(layer.weight, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer
