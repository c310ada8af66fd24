"""What each column of a table became: the part of the encoder that people read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from dnfnet.table.dates import PARTS

Kind = Literal["numeric", "boolean", "category", "datetime", "empty", "unused"]


class Scale(NamedTuple):
    """How one encoded input is computed from the values of its column.

    A number ``x`` becomes ``(x / unit - centre) / deviation``. ``unit`` is a power of two, so that the
    division is exact and the squares of 1e300 or 1e-300 neither overflow nor vanish. ``lower`` and ``upper``
    are the finite extremes of fit, and ``fill`` is the encoded value of a cell about which nothing is known.

    For a piece of a number's range, ``lower`` and ``upper`` are its edges, and what is standardised is the place
    between them, ``(x - lower) / (upper - lower)`` but not below 0 nor above 1.
    """

    unit: float = 1.0
    centre: float = 0.0
    deviation: float = 1.0
    lower: float = 0.0
    upper: float = 1.0
    fill: float = 0.0


@dataclass(frozen=True)
class Column:
    """One column of the table that the encoder was fitted on.

    Attributes
    ----------
    name : str
        The column's name; ``x0``, ``x1``, ... for an array.
    kind : str
        ``numeric``, ``boolean``, ``category``, ``datetime``, ``empty`` (not a single value in fit) or ``unused``
        (whatever it holds: see `dnfnet.table.screening`).
    inputs : tuple of str
        One readable name per encoded input.
    n_missing, n_infinite : int
        How many rows of fit had no value, or an infinite one.
    levels : tuple of str
        The levels of a category with an input of their own.
    n_rare_levels, n_rare_rows : int
        How many further levels there were in fit, and their rows.
    parts : tuple of str
        The parts of a datetime that vary.
    has_other, has_indicator : bool
        Whether there is an input for rare and unseen levels, and one for missing values.
    constant : bool
        Whether a numeric column had one value only.
    mixed : bool
        Whether a category had numbers or truth values among its texts.
    pieces : tuple of int
        Into how many pieces a numeric column was cut, or each part of a datetime; empty where numbers are
        standardised as a whole.
    n_single_values : int
        How many numbers of a numeric column have an input of their own, after those of the pieces.
    n_mean_pieces : int
        Into how many pieces the mean target of its values was cut: a column's last inputs.
    """

    name: str
    kind: Kind
    inputs: tuple[str, ...] = ()
    n_missing: int = 0
    n_infinite: int = 0
    levels: tuple[str, ...] = ()
    n_rare_levels: int = 0
    n_rare_rows: int = 0
    parts: tuple[str, ...] = ()
    has_other: bool = False
    has_indicator: bool = False
    constant: bool = False
    mixed: bool = False
    pieces: tuple[int, ...] = ()
    n_single_values: int = 0
    n_mean_pieces: int = 0

    @property
    def n_inputs(self) -> int:
        """Number of encoded inputs."""
        return len(self.inputs)

    @property
    def n_own_inputs(self) -> int:
        """Number of those that a cell tells by itself, without the means of its value."""
        return self.n_inputs - self.n_mean_pieces

    @property
    def number_inputs(self) -> tuple[slice, ...]:
        """Where among the inputs are those of a numeric column, or of each part of a datetime."""
        counts = self.pieces or (1,) * (1 if self.kind == "numeric" else len(self.parts))
        return tuple(slice(stop - n, stop) for n, stop in zip(counts, accumulate(counts), strict=True))

    @property
    def single_value_inputs(self) -> slice:
        """Where among the inputs are those of single values."""
        return slice(sum(self.pieces), sum(self.pieces) + self.n_single_values)

    @property
    def mean_inputs(self) -> slice:
        """Where among the inputs are the pieces of the mean target of its values."""
        return slice(self.n_own_inputs, self.n_inputs)

    @property
    def became(self) -> str:
        """What the column became, in a few words."""
        words = {
            "numeric": self._number_became,
            "boolean": lambda: "0 or 1",
            "category": self._category_became,
            "datetime": self._datetime_became,
            "empty": lambda: f"left out: no {'finite ' if self.n_infinite else ''}value in fit",
            "unused": lambda: "left out: tells nothing of the target",
        }[self.kind]()
        words = f"{words}, missing or not" if self.has_indicator else words
        return f"{words}, mean target in {_in_pieces(self.n_mean_pieces)}" if self.n_mean_pieces else words

    def is_sound(self) -> bool:
        """Whether the parts agree, as they may not in a file that somebody edited."""
        texts = (self.name, self.kind, *self.inputs, *self.levels, *self.parts)
        flags = (self.has_other, self.has_indicator, self.constant, self.mixed)
        counts = (self.n_missing, self.n_infinite, self.n_rare_levels, self.n_rare_rows)
        counts_of_inputs = (self.n_single_values, self.n_mean_pieces)
        for values, kind in ((texts, str), (flags, bool), (counts, int), (counts_of_inputs, int)):
            if not all(isinstance(value, kind) for value in values):
                return False
        if self.pieces and not self._pieces_are_sound():
            return False
        if self.n_single_values and not (self.n_single_values > 0 and self.kind == "numeric" and self.pieces):
            return False
        if self.n_mean_pieces and not (self.n_mean_pieces > 0 and self.kind in ("numeric", "category")):
            return False
        own = {"numeric": 1, "boolean": 1, "datetime": len(self.parts), "empty": 0, "unused": 0}
        own["category"] = len(self.levels) + self.has_other
        own |= {self.kind: sum(self.pieces) + self.n_single_values} if self.pieces else {}
        return self.n_own_inputs == own.get(self.kind, -2) + self.has_indicator and set(self.parts) <= set(PARTS)

    def _pieces_are_sound(self) -> bool:
        n_numbers = {"numeric": int(not self.constant), "datetime": len(self.parts)}.get(self.kind, 0)
        return len(self.pieces) == n_numbers and all(type(n) is int and n > 0 for n in self.pieces)

    def _number_became(self) -> str:
        if self.constant:
            return "0: constant in fit"
        if not self.pieces:
            return "standardised"
        values = f", {self.n_single_values} values" if self.n_single_values else ""
        return _in_pieces(self.pieces[0]) + values

    def _datetime_became(self) -> str:
        if not self.pieces:
            return ", ".join(self.parts) or "left out: constant in fit"
        return ", ".join(f"{part} in {_in_pieces(n)}" for part, n in zip(self.parts, self.pieces, strict=True))

    def _category_became(self) -> str:
        if not self.levels:
            return f"{'' if self.inputs else 'left out: '}{self.n_rare_levels} levels, all rare"
        count = f"{len(self.levels)} level{'s' if len(self.levels) > 1 else ''}"
        return f"{count}, {self.n_rare_levels} rare as other" if self.has_other else count

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Column:
        """Rebuild a column from ``dataclasses.asdict`` after a way through JSON."""
        known = {field.name for field in fields(cls)}
        values: dict[str, Any] = {key: value for key, value in entry.items() if key in known}
        for key in ("inputs", "levels", "parts"):
            values[key] = tuple(values[key])
        values["pieces"] = tuple(values.get("pieces", ()))  # files of 0.1.0 may have none
        return cls(**values)


@dataclass(frozen=True, repr=False)
class Schema:
    """The columns of a fitted table, in the order of fit; printing it shows a small table."""

    columns: tuple[Column, ...]

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column by name, as :func:`dnfnet.table.iter_tables` takes it."""
        return {column.name: column.kind for column in self.columns}

    def to_dict(self) -> dict[str, Any]:
        """Give the schema as plain dicts and lists, for JSON."""
        return {"columns": [asdict(column) for column in self.columns]}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Schema:
        """Rebuild a schema from :meth:`to_dict`."""
        return cls(tuple(Column.from_dict(entry) for entry in state["columns"]))

    def __str__(self) -> str:
        rows = [("column", "kind", "became", "inputs", "missing")]
        rows += [(_short(c.name), c.kind, c.became, str(c.n_inputs), str(c.n_missing)) for c in self.columns]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        return "\n".join(_line(row, widths) for row in rows)

    __repr__ = __str__


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    """Words to the left, the two counts to the right."""
    words = [cell.ljust(width) for cell, width in zip(row[:3], widths[:3], strict=True)]
    counts = [cell.rjust(width) for cell, width in zip(row[3:], widths[3:], strict=True)]
    return "  ".join(words + counts)


def _in_pieces(count: int) -> str:
    return "1 piece" if count == 1 else f"{count} pieces"


def _short(name: str) -> str:
    """Keep a name on one line of the table."""
    text = name if name.isprintable() else repr(name)
    return text if len(text) <= 40 else text[:39] + "…"
