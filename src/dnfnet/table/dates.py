"""A moment as the numbers on the calendar and the clock."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

PARTS = ("year", "month", "day", "weekday", "hour", "minute", "second")


def calendar_parts(moments: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
    """Split datetime64 values into parts, NaN where the moment is missing.

    Months and days count from 1, weekdays from 0 for Monday.

    Examples
    --------
    >>> import numpy as np
    >>> parts = calendar_parts(np.array(["2026-11-15T08:30"], dtype="datetime64[us]"))
    >>> {name: int(value[0]) for name, value in parts.items()}
    {'year': 2026, 'month': 11, 'day': 15, 'weekday': 6, 'hour': 8, 'minute': 30, 'second': 0}
    """
    months = moments.astype("datetime64[M]")
    days = moments.astype("datetime64[D]")
    seconds = (moments.astype("datetime64[s]") - days).astype(np.int64)
    counts = {
        "year": moments.astype("datetime64[Y]").astype(np.int64) + 1970,
        "month": months.astype(np.int64) % 12 + 1,
        "day": (days - months).astype(np.int64) + 1,
        "weekday": (days.astype(np.int64) + 3) % 7,  # the first day of 1970 was a Thursday
        "hour": seconds // 3600,
        "minute": seconds // 60 % 60,
        "second": seconds % 60,
    }
    missing = np.isnat(moments)
    return {name: np.where(missing, np.nan, count) for name, count in counts.items()}
