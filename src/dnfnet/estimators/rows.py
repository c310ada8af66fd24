"""Encoded rows on their way to the training loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from dnfnet.estimators.arrays import refuse_missing, target_array
from dnfnet.estimators.merging import first_of_each, total_weights
from dnfnet.exceptions import InvalidParameterError, InvalidTargetError
from dnfnet.table import Source, check_weights, open_table, refuse_empty
from dnfnet.training import TensorSource


@dataclass(frozen=True)
class Rows:
    """Features, targets and, optionally, weights of the same rows.

    With ``chosen`` the matrix has others too, and these are its rows of those numbers: an encoded table is large, and
    its training rows are most of it.
    """

    x: NDArray[np.float32]
    target: NDArray
    weight: NDArray[np.float64] | None
    chosen: NDArray[np.intp] | None = None

    def __post_init__(self) -> None:
        n_rows = len(self.x if self.chosen is None else self.chosen)
        if n_rows != self.n_rows:
            raise InvalidParameterError(f"X has {n_rows} rows, but y has {self.n_rows}.")

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.target)

    def take(self, chosen: NDArray) -> Rows:
        """Some of the rows, by mask or by number."""
        numbers = np.arange(len(self.x)) if self.chosen is None else self.chosen
        weight = None if self.weight is None else self.weight[chosen]
        return Rows(self.x, self.target[chosen], weight, numbers[chosen])

    def merged(self, kinds: NDArray[np.intp]) -> Rows:
        """One row of each kind, with the weight of all of them."""
        if not self.n_rows:
            return self
        first = self.take(first_of_each(kinds))
        totals = total_weights(kinds, self.weight)
        return replace(first, weight=None if (totals == totals[0]).all() else totals)

    def source(self, batch_size: int) -> TensorSource:
        """Batches of these rows, with weights that average 1."""
        weight = None
        if self.weight is not None:
            weight = torch.from_numpy((self.weight / self.weight.mean()).astype(np.float32))
        chosen = None if self.chosen is None else torch.from_numpy(self.chosen)
        x, target = torch.from_numpy(self.x), torch.from_numpy(self.target)
        return TensorSource(x, target, weight, batch_size=batch_size, chosen=chosen)


def used_rows(X: Any, y: Any, sample_weight: Any = None) -> tuple[Source, NDArray, NDArray[np.float64] | None]:
    """Table, target and weights of the rows that count; equal weights are none."""
    table = open_table(X)
    n_rows = table.shape[0]
    refuse_empty(table)
    y = target_array(y)
    if len(y) != n_rows:
        raise InvalidTargetError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows}, y has {len(y)}."
        )
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)  # here, because this is done once in a fit
    if sample_weight is None:
        return table, y, None
    weight = check_weights(sample_weight, n_rows)
    used = weight > 0
    refuse_missing(y, used)  # before rows are left out, so that the number in the message is the user's
    if not used.all():
        table, y, weight = table.filter(used), y[used], weight[used]
    return table, y, None if (weight == weight[0]).all() else weight
