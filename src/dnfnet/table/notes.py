"""What was replaced in a table, collected over its columns and told in one warning per reason."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dnfnet.exceptions import TableWarning

_SHOWN = 5
_SENTENCES = {
    "infinite": "Infinite values became the largest or smallest finite value of fit in {}.",
    "missing": "Values are missing that the training rows never lacked, and became the mean, in {}.",
    "unseen": "Levels that fit did not see became the average level, since fit had no rare ones, in {}.",
}


class Notes:
    """Counts of replaced values by reason and column."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[str, int]] = {reason: {} for reason in _SENTENCES}
        self._examples: dict[str, str] = {}
        self._names: dict[str, None] = {}

    def infinite(self, column: str, n_rows: int) -> None:
        """Note infinite values."""
        self._add("infinite", column, n_rows)

    def missing(self, column: str, n_rows: int) -> None:
        """Note missing values in a column that had none in fit."""
        self._add("missing", column, n_rows)

    def unseen(self, column: str, n_rows: int, example: str) -> None:
        """Note levels that fit never saw in a column without rare levels."""
        self._add("unseen", column, n_rows)
        self._examples.setdefault(column, example)

    def names(self, sentence: str) -> None:
        """Note something about the names of the columns."""
        self._names[sentence] = None

    def merge(self, other: Notes, reasons: Collection[str]) -> None:
        """Add what another table had, for some of the reasons."""
        for reason in reasons:
            for column, n_rows in other._counts[reason].items():
                self._add(reason, column, n_rows)
        self._examples = {**other._examples, **self._examples}
        self._names |= other._names

    def tell(self, stacklevel: int = 3) -> None:
        """Warn of everything that was noted, or leave it to the `gathered_notes` around."""
        outer = _gathering.get()
        if outer is not None:
            outer.merge(self, _SENTENCES)
            return
        for sentence in self._names:
            warnings.warn(sentence, UserWarning, stacklevel=stacklevel)
        for reason, counts in self._counts.items():
            if counts:
                columns = [self._column(reason, name, n_rows) for name, n_rows in counts.items()]
                more = f" and {len(columns) - _SHOWN} more columns" if len(columns) > _SHOWN else ""
                text = _SENTENCES[reason].format("column " + ", ".join(columns[:_SHOWN]) + more)
                warnings.warn(text, TableWarning, stacklevel=stacklevel)

    def _add(self, reason: str, column: str, n_rows: int) -> None:
        self._counts[reason][column] = self._counts[reason].get(column, 0) + n_rows

    def _column(self, reason: str, name: str, n_rows: int) -> str:
        rows = f"{n_rows} row" if n_rows == 1 else f"{n_rows} rows"
        example = f", such as {self._examples[name][:40]!r}" if reason == "unseen" else ""
        return f"{name!r} ({rows}{example})"


_gathering: ContextVar[Notes | None] = ContextVar("gathering", default=None)


@contextmanager
def gathered_notes(reasons: Collection[str] = tuple(_SENTENCES)) -> Iterator[None]:
    """Tell of all tables within the block at its end, with one warning per reason instead of one per table.

    Parameters
    ----------
    reasons : collection of {"infinite", "missing", "unseen"}
        What to tell of; the other reasons are left out.
    """
    notes = Notes()
    token = _gathering.set(notes)
    try:
        yield
    finally:
        _gathering.reset(token)
    told = Notes()
    told.merge(notes, reasons)
    told.tell(stacklevel=5)  # past this function and contextlib's
