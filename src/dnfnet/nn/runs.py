"""Which inputs of a network are pieces of one number, or the single values of one: a hint that saves work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

# Of pieces, all before one are at their high ends and all after it at their low ends; of values, one at most is high.
RunKind = Literal["pieces", "values"]
KINDS: tuple[RunKind, ...] = ("pieces", "values")

# A row costs its entries when it is looked up and the inputs when it is multiplied; an entry costs so many inputs.
INPUTS_PER_ENTRY = 5


@dataclass(frozen=True, eq=False)
class Runs:
    """Consecutive inputs that depend on one place, and the two ends that each of these inputs goes between.

    A literal's share of a run is a function of that place, which a kernel can look up instead of multiplying all
    inputs. The result is the same, up to rounding, for rows that have this form and for all others.

    Parameters
    ----------
    runs : sequence of (int, int, {"pieces", "values"})
        First input, number of inputs and kind of each run, in their order.
    ends : Tensor of shape (2, d_in)
        The low and the high end of each input; those outside of runs do not matter.

    Examples
    --------
    >>> Runs([(0, 3, "pieces"), (4, 2, "values")], torch.tensor([[-3.0] * 6, [1.0] * 6])).n_entries
    4.0
    """

    runs: Sequence[tuple[int, int, RunKind]]
    ends: Tensor
    table: Tensor = field(init=False)

    def __post_init__(self) -> None:
        stop = 0
        for first, n, kind in self.runs:
            if first < stop or n < 1 or first + n > self.d_in or kind not in KINDS:
                raise ValueError(f"runs must be in order and inside of {self.d_in} inputs, however: {self.runs}")
            stop = first + n
            low, high = self.ends[:, first:stop]
            if not (torch.isfinite(self.ends).all() and (low < high).all()):
                raise ValueError("ends must be finite, and every high end above its low end")
        rows = [(first, n, KINDS.index(kind)) for first, n, kind in self.runs]
        object.__setattr__(self, "ends", self.ends.to("cpu", torch.float32).contiguous())
        object.__setattr__(self, "table", torch.tensor(rows, dtype=torch.int32).reshape(-1, 3))

    @property
    def d_in(self) -> int:
        """Number of inputs, in runs or not."""
        return self.ends.shape[1]

    @property
    def n_entries(self) -> float:
        """About how many entries a row has: two for pieces, one for values and for an input outside of runs.

        A run whose inputs are all at their low ends has none. How many rows these are is told by the ends of inputs
        that have mean 0: that mean is as far from the low to the high end as the mean row is.
        """
        low, high = self.ends
        place = torch.where(low < 0, -low / (high - low), torch.ones(()))
        outside = self.d_in - sum(n for _, n, _ in self.runs)
        inside = (
            2 * place[first] if kind == "pieces" else place[first : first + n].sum().clamp(max=1)
            for first, n, kind in self.runs
        )
        return outside + float(sum(inside))

    @property
    def pays(self) -> bool:
        """Whether looking up is faster than multiplying."""
        return self.d_in > INPUTS_PER_ENTRY * self.n_entries
