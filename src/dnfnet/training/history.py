"""What happened in each epoch."""

from __future__ import annotations

import math
from typing import Any

# What the trainer itself writes, numbers all; callbacks may add more.
COLUMNS = ("epoch", "train_loss", "valid_score", "learning_rate", "seconds")


class History(list[dict[str, Any]]):
    """One dict per epoch, with a view by column.

    Examples
    --------
    >>> history = History([{"epoch": 1, "train_loss": 0.9}, {"epoch": 2, "train_loss": 0.7}])
    >>> history.column("train_loss")
    [0.9, 0.7]
    """

    def column(self, name: str) -> list[Any]:
        """The values of one key over all epochs; NaN where one has none, such as a score without validation rows."""
        if self and not any(name in row for row in self):
            raise KeyError(name)
        return [row.get(name, math.nan) for row in self]
