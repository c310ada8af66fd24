"""The same columns in every library that is installed."""

from __future__ import annotations

import datetime
import importlib.util
from typing import Any

LIBRARIES = [name for name in ("pandas", "polars", "pyarrow") if importlib.util.find_spec(name)]


def make_frame(library: str, columns: dict[str, list[Any]]) -> Any:
    """Build a data frame from lists, with None for missing."""
    module = importlib.import_module(library)
    if library == "pyarrow":
        return module.table(columns)
    return module.DataFrame(columns) if library == "pandas" else module.DataFrame(columns, strict=False)


def moments(n: int) -> list[datetime.datetime]:
    """Give moments eleven days and five hours apart."""
    start = datetime.datetime(2020, 1, 30, 22, 15, 0)
    return [start + i * datetime.timedelta(days=11, hours=5) for i in range(n)]
