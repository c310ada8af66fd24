"""The ``dnfnet`` command: one short module per subcommand."""

from __future__ import annotations

import argparse
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from dnfnet import __version__
from dnfnet.cli import demo, describe, fit, paper, predict
from dnfnet.exceptions import DNFNetError

EXIT_CODES = "exit codes: 0 done, 1 it could not be done (one sentence says why), 2 wrong usage, 130 interrupted"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    args = build_parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            return args.run(args)
    except KeyboardInterrupt:
        _say("interrupted: nothing was written")
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output went away; that is no error of ours
        return 0
    except (DNFNetError, OSError, MemoryError) as error:
        if args.debug:
            traceback.print_exc()
        _say(f"error: {_sentence(error)}")
        return 1


def build_parser() -> argparse.ArgumentParser:
    """The parser with all subcommands."""
    parser = argparse.ArgumentParser(
        prog="dnfnet",
        description="DNF-Net: a neural network for tables whose units are formulas in disjunctive normal form.",
        epilog=EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=f"dnfnet {__version__}")
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (fit, predict, describe, demo, paper):
        command.register(subparsers)
    for subparser in subparsers.choices.values():
        subparser.add_argument("--debug", action="store_true", help="show the whole traceback of an error")
        subparser.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "out of memory: use fewer formulas (--n-formulas) or a smaller table"
    return " ".join(str(error).split())


def _show_warning(message: Warning | str, *_: Any) -> None:
    _say(f"warning: {message}")


def _say(text: str) -> None:
    print(f"dnfnet: {text}", file=sys.stderr)
