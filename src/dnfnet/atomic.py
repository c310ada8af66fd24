"""Files that are there in full or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a new path beside ``path`` to write to, and move it over ``path`` when all went well.

    A process killed at any moment leaves the old file or the new one; at worst a hidden ``.tmp`` file stays
    beside it. An exception in the body removes that file and leaves the old one alone. An existing ``path`` that
    is no regular file, such as a folder or a device, raises an OSError.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> with replacing(target) as temporary:
    ...     _ = temporary.write_text("a,b")
    >>> target.read_text()
    'a,b'
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing at the file that it named
    refuse_irregular(target)
    temporary = target.with_name(f".{target.name[:100]}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
        _flush(temporary)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _flush(target.parent)


def refuse_irregular(path: str | os.PathLike[str]) -> None:
    """Raise an OSError if ``path`` exists and is no regular file: moving a file over a device would remove it."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "it exists and is no regular file: write to another path", str(path))


def _flush(path: Path) -> None:
    """Bring a file, or the entries of a folder, to the disk; not every system can do that for folders."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
