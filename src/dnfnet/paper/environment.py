"""What a result was made by: the code, the packages and the machine."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dnfnet.paper.trial import PROTOCOL, canonical

_PACKAGES = ("dnfnet", "torch", "numpy", "scikit-learn", "scipy", "pandas", "joblib")


def describe_environment(*packages: str) -> dict[str, Any]:
    """Describe code, packages (the study's and those named) and machine; equal descriptions have equal ``id``."""
    facts: dict[str, Any] = {
        "protocol": PROTOCOL,
        "commit": _commit(),
        "packages": {name: _version(name) for name in (*_PACKAGES, *packages)} | {"xgboost": _xgboost_version()},
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
    }
    return {"id": hashlib.sha256(canonical(facts).encode()).hexdigest()[:10], **facts}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _xgboost_version() -> str | None:
    # Both distributions have the same import name; either will do.
    return _version("xgboost-cpu") or _version("xgboost")


def _commit() -> str | None:
    """Return the commit of the code, marked when files differ from it; None outside a clone."""
    folder = Path(__file__).parent
    try:
        hash_ = _git(folder, "rev-parse", "--short=12", "HEAD")
        # Only the package counts: results and pages written by a run do not change the code.
        changed = _git(folder, "status", "--porcelain", "--", str(folder.parent))
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{hash_}+changes" if changed else hash_


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _processor() -> str:
    """Return the processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
