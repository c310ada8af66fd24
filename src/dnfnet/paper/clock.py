"""Time that a trial or a run may take, and the two ways in which it can end."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field

from dnfnet.exceptions import InvalidParameterError

_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}


class TimeLimitReached(Exception):  # noqa: N818 (a signal to the runner, not an error to catch elsewhere)
    """A trial has used up its own time limit: it is recorded as such."""


class BudgetSpent(Exception):  # noqa: N818
    """The run's time is up: the trial in hand is dropped, unrecorded, and runs again next time."""


@dataclass(frozen=True)
class Clock:
    """Limits of one trial.

    Parameters
    ----------
    limit : float or None
        Seconds that the trial may take.
    deadline : float or None
        The moment (``time.time()``) at which the whole run must end.
    """

    limit: float | None = None
    deadline: float | None = None
    started: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """Raise when one of the limits has passed; models call it between steps."""
        if self.deadline is not None and time.time() >= self.deadline:
            raise BudgetSpent
        if self.limit is not None and self.elapsed >= self.limit:
            raise TimeLimitReached(f"time limit of {format_duration(self.limit)} reached")

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was made."""
        return time.monotonic() - self.started


def parse_duration(text: str) -> float:
    """Read ``"2h"``, ``"1h30m"``, ``"45s"`` or plain seconds.

    >>> parse_duration("1h30m")
    5400.0
    """
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    if not re.fullmatch(r"(\d+(\.\d+)?[dhms])+", text):
        raise InvalidParameterError(f"A duration must look like 2h, 1h30m or 45s, however: {text!r}")
    return sum(float(number) * _UNITS[unit] for number, unit in re.findall(r"([\d.]+)([dhms])", text))


def format_duration(seconds: float) -> str:
    """Write seconds for a person, in at most two units.

    >>> format_duration(5400)
    '1h 30m'
    """
    if seconds < 60:
        return f"{seconds:.3g}s"
    total = round(seconds)
    parts = []
    for unit in "dhms":
        size = int(_UNITS[unit])
        count, total = divmod(total, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2])
