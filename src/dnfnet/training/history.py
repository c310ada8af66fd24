"""What happened in each epoch."""

from __future__ import annotations

from typing import Any


class History(list[dict[str, Any]]):
    """One dict per epoch, with a view by column.

    Examples
    --------
    >>> history = History([{"epoch": 1, "train_loss": 0.9}, {"epoch": 2, "train_loss": 0.7}])
    >>> history.column("train_loss")
    [0.9, 0.7]
    """

    def column(self, name: str) -> list[Any]:
        """The values of one key over all epochs."""
        return [row[name] for row in self]
