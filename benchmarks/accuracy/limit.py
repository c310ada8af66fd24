"""A time limit for libraries that know nothing of it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch._dynamo  # noqa: F401 (torch's optimisers import it at their first use, and an import cut short stays broken)

from dnfnet.paper.clock import Clock

_EVERY = 0.5


@contextmanager
def interrupting(clock: Clock) -> Iterator[None]:
    """Let the clock end the block wherever Python code runs in it.

    By the alarm signal, so only in the main thread; elsewhere the limit is looked at when the block is left.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        clock.check()
        return

    def look(*_: Any) -> None:
        clock.check()

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _EVERY, _EVERY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
