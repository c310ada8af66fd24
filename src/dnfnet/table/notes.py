"""What was replaced in a table, collected over its columns and told in one warning per reason."""

from __future__ import annotations

import warnings

from dnfnet.exceptions import TableWarning

_SHOWN = 5


class Notes:
    """Counts of replaced values by column."""

    def __init__(self) -> None:
        self._infinite: list[str] = []
        self._missing: list[str] = []
        self._unseen: list[str] = []

    def infinite(self, column: str, n_rows: int) -> None:
        """Note infinite values."""
        self._infinite.append(f"{column!r} ({_rows(n_rows)})")

    def missing(self, column: str, n_rows: int) -> None:
        """Note missing values in a column that had none in fit."""
        self._missing.append(f"{column!r} ({_rows(n_rows)})")

    def unseen(self, column: str, n_rows: int, example: str) -> None:
        """Note levels that fit never saw in a column without rare levels."""
        self._unseen.append(f"{column!r} ({_rows(n_rows)}, such as {example[:40]!r})")

    def warn(self, stacklevel: int = 3) -> None:
        """Tell everything that was noted."""
        for noted, sentence in (
            (self._infinite, "Infinite values became the largest or smallest finite value of fit in {}."),
            (self._missing, "Values are missing that were never missing in fit, and became the mean, in {}."),
            (
                self._unseen,
                "Levels that fit did not see became the average level, since fit had no rare ones, in {}.",
            ),
        ):
            if noted:
                more = f" and {len(noted) - _SHOWN} more columns" if len(noted) > _SHOWN else ""
                text = sentence.format("column " + ", ".join(noted[:_SHOWN]) + more)
                warnings.warn(text, TableWarning, stacklevel=stacklevel)


def _rows(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"
