"""``dnfnet describe``: what is in a model file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dnfnet.bundle import read_bundle
from dnfnet.estimators import load
from dnfnet.estimators.base import BaseDNFNet
from dnfnet.estimators.real_targets import Reals
from dnfnet.estimators.targets import LabelSets
from dnfnet.training.history import COLUMNS

EXAMPLE = """example:
  dnfnet describe churn.dnfnet
"""
SHOWN_EPOCHS = 10


def register(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser("describe", help="print what a model file holds", epilog=EXAMPLE)
    parser.add_argument("model", metavar="MODEL", type=Path, help="a file that `dnfnet fit` or model.save wrote")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print schema, settings, scores and history."""
    model = load(args.model)
    manifest, _ = read_bundle(args.model)
    kept = model.feature_selection_
    lines = [f"{type(model).__name__}  {args.model}"]
    lines.append(_target_line(model))
    lines += ["", str(model.schema_), "", "settings"]
    chosen = {name: value for name, value in model.settings_.to_dict().items() if getattr(model, name) == "auto"}
    lines += [
        f"  {name:20} {value}" + (f" ({_chosen(chosen[name])})" if name in chosen else "")
        for name, value in manifest["parameters"].items()
    ]
    lines += ["", "scores"]
    lines.append(f"  best {model._objective().metric.name} {model.best_score_:.6g} in epoch {model.best_epoch_}")
    lines.append(f"  {model.n_iter_} epochs, {model.stop_reason_}")
    lines.append(f"  a formula uses {kept.sum(1).mean():.1f} of {kept.shape[1]} inputs on average")
    lines += ["", "history", *_history_lines(model.history_)]
    lines += ["", "written by " + ", ".join(f"{name} {value}" for name, value in manifest["versions"].items())]
    print("\n".join(lines))
    return 0


def _chosen(value: float | Sequence[float]) -> str:
    """What a rule chose: a number, or those that groups take in turn."""
    values = value if isinstance(value, Sequence) else [value]
    return ", ".join(f"{one:g}" for one in values)


def _target_line(model: BaseDNFNet) -> str:
    """What is predicted."""
    target = model.target_
    if isinstance(target, Reals):
        levels = f" {', '.join(f'{level:g}' for level in target.quantiles)}" if target.quantiles else ""
        return f"target: {len(target.mean)} real, loss {target.loss}{levels}"
    if isinstance(target, LabelSets):
        return f"target: any of {target.n_labels} labels"
    return f"classes: {', '.join(map(str, target.classes[:20]))}" + (" ..." if len(target.classes) > 20 else "")


def _history_lines(history: list[dict[str, Any]]) -> list[str]:
    """A few epochs, evenly spread, the last among them."""
    step = max(len(history) // SHOWN_EPOCHS, 1)
    rows = history[:-1][::step] + history[-1:]
    names = [name for name in COLUMNS if any(name in row for row in rows)]
    lines = ["  " + "".join(f"{name:>15}" for name in names)]
    return lines + ["  " + "".join(_cell(row.get(name)) for name in names) for row in rows]


def _cell(value: float | None) -> str:
    return " " * 15 if value is None else f"{value:>15.6g}"
