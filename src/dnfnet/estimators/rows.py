"""Encoded rows on their way to the training loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from dnfnet.exceptions import InvalidParameterError
from dnfnet.training import TensorSource


@dataclass(frozen=True)
class Rows:
    """Features, targets and, optionally, weights of the same rows."""

    x: NDArray[np.float32]
    target: NDArray
    weight: NDArray[np.float64] | None

    def __post_init__(self) -> None:
        if len(self.x) != len(self.target):
            raise InvalidParameterError(f"X has {len(self.x)} rows, but y has {len(self.target)}.")

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.x)

    def take(self, chosen: NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        if chosen.all():
            return self
        return Rows(self.x[chosen], self.target[chosen], None if self.weight is None else self.weight[chosen])

    def source(self, batch_size: int) -> TensorSource:
        """Batches of these rows, with weights that average 1."""
        weight = None
        if self.weight is not None:
            weight = torch.from_numpy((self.weight / self.weight.mean()).astype(np.float32))
        return TensorSource(torch.from_numpy(self.x), torch.from_numpy(self.target), weight, batch_size=batch_size)
