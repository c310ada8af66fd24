"""A lock on a file that ends with the process that holds it, however that process ends.

A claim on a trial is such a lock and not a file with a process number in it: the operating system drops it
when its holder is killed, so no claim can be stale.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Take the lock at ``path`` if it is free; yields whether it was. The file goes with the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        taken = _take(handle, path)
        try:
            yield taken
        finally:
            if taken:
                _remove(path)
    finally:
        os.close(handle)


def _take(handle: int, path: Path) -> bool:
    try:
        _lock(handle)
        # Its last holder may have removed the file after it was opened here: then the lock guards nothing.
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except OSError:
        return False


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        # Windows keeps a file while someone has it open; an unlocked file that stays behind does no harm.
        return
