"""Checks of ``--out`` before any work is done."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dnfnet.atomic import refuse_irregular
from dnfnet.exceptions import InvalidParameterError


def check_out(out: Path, inputs: Mapping[str, Path | None]) -> None:
    """Raise if ``out`` cannot be written, or if writing it would destroy one of the files to read.

    Parameters
    ----------
    out : Path
        What ``--out`` names.
    inputs : dict of str to Path or None
        The files to read, by their names in the usage.
    """
    if not out.absolute().parent.is_dir():
        raise InvalidParameterError(f"--out: there is no folder {out.absolute().parent}: make it first.")
    if out.is_dir():
        raise InvalidParameterError(f"--out: {out} is a folder, and a file is needed.")
    for name, path in inputs.items():
        if path is not None and out.exists() and path.exists() and os.path.samefile(out, path):
            raise InvalidParameterError(f"--out: {out} is the same file as {name}: give another name.")
    refuse_irregular(out)
