"""``dnfnet demo``."""

from typing import Any


def register(subparsers: Any) -> None:
    """Add the subcommand."""
