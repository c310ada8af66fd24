"""Whether a table is the one that fit saw: its columns by name, and their types."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dnfnet.exceptions import SchemaMismatchError
from dnfnet.table.notes import Notes
from dnfnet.table.schema import Column
from dnfnet.table.sources import Source
from dnfnet.table.values import Values

_SHOWN = 5
_MEANING = {
    "numeric": "numeric",
    "boolean": "boolean",
    "category": "text or category",
    "datetime": "datetime",
}


def match_columns(source: Source, names: Sequence[str], naming: str, extra: str, notes: Notes) -> list[int]:
    """Find the position in ``source`` of each column of fit.

    Columns are matched by name if both tables have names, otherwise by position, with scikit-learn's warning
    if just one of them has names that are strings.
    """
    if source.names is not None and naming != "positions":
        return _match_names(source.names, names, extra)
    _note_one_sided(source, naming, notes)
    n_columns = source.shape[1]
    if n_columns != len(names):
        raise SchemaMismatchError(
            f"X has {n_columns} features, but DNFNet is expecting {len(names)} features as input."
        )
    return list(range(n_columns))


def check_kind(column: Column, values: Values) -> str | None:
    """Say what is wrong if the type changed since fit; None if nothing is."""
    if values.kind in (column.kind, "empty") or (column.kind, values.kind) == ("numeric", "boolean"):
        return None
    if (column.kind, values.kind) == ("boolean", "numeric"):
        strange = int(np.sum(~np.isin(values.data[~values.missing], (0.0, 1.0))))
        if not strange:
            return None
        return f"Column {column.name!r} was boolean in fit and is not 0 or 1 in {strange} rows now"
    return (
        f"Column {column.name!r} was {_MEANING[column.kind]} in fit and is {_MEANING[values.kind]} ({values.dtype}) now"
    )


def raise_retyped(problems: list[str]) -> None:
    """Raise for all retyped columns at once."""
    if problems:
        more = f"; and {len(problems) - _SHOWN} more columns" if len(problems) > _SHOWN else ""
        raise SchemaMismatchError("; ".join(problems[:_SHOWN]) + more + ": convert it, or fit again on the new table.")


IGNORE_EXTRA = 'extra_columns="ignore" leaves them out.'


def _match_names(found: list[str], expected: Sequence[str], extra: str) -> list[int]:
    position = {name: i for i, name in enumerate(found)}
    missing = sorted(set(expected) - set(found))
    unseen = sorted(set(found) - set(expected)) if extra == "refuse" else []
    if missing or unseen:
        # The wording is scikit-learn's, down to the line breaks.
        message = "The feature names should match those that were passed during fit.\n"
        message += _listed("Feature names unseen at fit time:\n", unseen)
        message += _listed("Feature names seen at fit time, yet now missing:\n", missing)
        message += "" if missing else IGNORE_EXTRA
        raise SchemaMismatchError(message)
    return [position[name] for name in expected]


def _listed(title: str, names: list[str]) -> str:
    lines = [f"- {name}\n" for name in names[:_SHOWN]] + (["- ...\n"] if len(names) > _SHOWN else [])
    return title + "".join(lines) if names else ""


def _note_one_sided(source: Source, naming: str, notes: Notes) -> None:
    if naming == "strings":
        notes.names("X does not have valid feature names, but DNFNet was fitted with feature names")
    elif source.all_strings:
        notes.names("X has feature names, but DNFNet was fitted without feature names")
