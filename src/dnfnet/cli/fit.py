"""``dnfnet fit``: a table in, a model file out."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from dnfnet.cli.outputs import check_out
from dnfnet.compat import require
from dnfnet.estimators import DNFNetClassifier, DNFNetRegressor
from dnfnet.estimators.base import BaseDNFNet
from dnfnet.exceptions import DNFNetError, InvalidParameterError, InvalidTableError, InvalidTargetError
from dnfnet.table import read_table, refuse_duplicates
from dnfnet.table.files import separator_hint
from dnfnet.table.matching import IGNORE_EXTRA

MANY_NUMBERS = 20

EXAMPLE = """example:
  dnfnet fit churn.csv --target churned --out churn.dnfnet
  dnfnet fit prices.parquet --target price --task regression --out prices.dnfnet --time-limit 60
  dnfnet fit trips.parquet --target minutes --loss quantile --quantiles 0.1 0.5 0.9 --out trips.dnfnet
"""


def register(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser("fit", help="train on a table and save the model", epilog=EXAMPLE)
    parser.add_argument("table", metavar="TABLE", type=Path, help="CSV, TSV or Parquet file with the training rows")
    parser.add_argument("--target", required=True, metavar="COL", help="the column to predict")
    parser.add_argument("--out", required=True, metavar="MODEL", type=Path, help="the model file to write")
    parser.add_argument(
        "--validation",
        metavar="TABLE",
        type=Path,
        help="rows to stop by (default: some of TABLE, an eighth at the most)",
    )
    parser.add_argument(
        "--drop", nargs="+", default=[], metavar="COL", help="columns to leave out, such as row numbers"
    )
    parser.add_argument("--weight", metavar="COL", help="column with the weight of each row")
    parser.add_argument("--task", choices=("auto", "classification", "regression"), default="auto",
                        help="auto takes text, truth values and few whole numbers for classes")  # fmt: skip
    parser.add_argument("--loss", choices=("squared_error", "quantile", "poisson"),
                        help="of a real target: its mean, its quantiles, or the mean of counts")  # fmt: skip
    parser.add_argument("--quantiles", type=float, nargs="+", metavar="Q", help="levels for --loss quantile")
    parser.add_argument("--class-weight", choices=("balanced",), help="let all classes weigh the same")
    parser.add_argument("--datetimes", choices=("refuse", "expand"),
                        help="expand dates of a Parquet file to year, month, day, weekday and time")  # fmt: skip
    parser.add_argument("--n-formulas", type=int, metavar="N", help="number of formulas")
    parser.add_argument("--n-ensemble", type=int, metavar="N", help="networks to train and average (default: 1)")
    parser.add_argument("--beta", type=_betas, metavar="B[,B...]",
                        help="feature selection, lower is sparser, or none; of several, groups of formulas take turns "
                        "(default: none,0.7)")  # fmt: skip
    parser.add_argument("--max-epochs", type=int, metavar="N", help="epochs at the most")
    parser.add_argument("--patience", type=int, metavar="N", help="epochs without a better score until it stops")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="stop after this time, keep the best")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same model")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no summary")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Train and save."""
    check_out(args.out, {"TABLE": args.table, "--validation": args.validation})
    X, y, weight = read_rows(args.table, args.target, args.drop, args.weight)
    if args.datetimes != "expand":
        refuse_dates(args.table, X)
    task = choose_task(args, y)
    eval_set = None
    if args.validation is not None:
        eval_set = tuple(p for p in read_rows(args.validation, args.target, args.drop, args.weight) if p is not None)
    model = build_model(task, args)
    try:
        model.fit(X, y, eval_set=eval_set, sample_weight=weight)
    except DNFNetError as error:
        message = str(error)
        if message.startswith("eval_set: "):
            message = message.removeprefix("eval_set: ").replace(IGNORE_EXTRA, "drop them from the file.")
            raise type(error)(f"--validation {args.validation}: {message}") from error
        if isinstance(error, InvalidTargetError):
            raise InvalidTargetError(f"--target {args.target}: {message}") from error
        raise
    model.save(args.out)
    if not args.quiet:
        print(summary(model, task, args.target, args.out))
    return 130 if model.stop_reason_ == "interrupted" else 0


def build_model(task: str, args: argparse.Namespace) -> BaseDNFNet:
    """The estimator with the settings that were given; the others stay at their defaults."""
    shared = ("n_formulas", "n_ensemble", "beta", "max_epochs", "patience", "time_limit", "datetimes")
    own = ("class_weight",) if task == "classification" else ("loss", "quantiles")
    options = {name: getattr(args, name) for name in (*shared, *own) if getattr(args, name) is not None}
    if args.beta is not None:
        options["beta"] = args.beta[0] if len(args.beta) == 1 else args.beta
    kind = DNFNetClassifier if task == "classification" else DNFNetRegressor
    return kind(random_state=args.seed, verbose=not args.quiet, **options)


def _betas(words: str) -> tuple[float | None, ...]:
    """Read numbers or ``none`` between commas."""
    try:
        return tuple(None if word.strip().lower() == "none" else float(word) for word in words.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be numbers or none, such as none,0.7, however: {words!r}") from error


def choose_task(args: argparse.Namespace, y: np.ndarray) -> str:
    """The task that was asked for, by name or by an option that only one of them has; else a guess."""
    if args.quantiles is not None and args.loss != "quantile":
        raise InvalidParameterError("--quantiles needs --loss quantile.")
    by_option = {"classification": args.class_weight, "regression": args.loss}
    asked = [task for task, value in by_option.items() if value is not None]
    asked += [args.task] if args.task != "auto" else []
    if len(set(asked)) > 1:
        raise InvalidParameterError("--class-weight is for classification, --loss and --quantiles are for regression.")
    return asked[0] if asked else guess_task(y)


def read_rows(path: Path, target: str, drop: list[str], weight: str | None) -> tuple[Any, np.ndarray, Any]:
    """Features, target and weights of a file."""
    if weight == target:
        raise InvalidParameterError(f"--weight must not be the target, however: both are {target!r}.")
    table = read_table(path)
    refuse_duplicates(table.column_names)
    named = [target, *drop] + ([weight] if weight else [])
    missing = [name for name in named if name not in table.column_names]
    if missing:
        raise InvalidTableError(
            f"{path} has no column {missing[0]!r}; its columns are {_some(table.column_names)}{separator_hint(path)}."
        )
    if not table.num_rows:
        raise InvalidTableError(f"{path} has no rows: it needs some below the header.")
    if not set(table.column_names) - set(named):
        raise InvalidTableError(f"{path} has no column to learn from besides {_some(named)}.")
    refuse_gaps(path, target, table.column(target))
    y = read_target(path, target, table.column(target))
    weights = None if weight is None else read_weights(path, weight, table.column(weight))
    return table.drop_columns(list(dict.fromkeys(named))), y, weights


def refuse_gaps(path: Path, name: str, column: Any) -> None:
    """Raise if the target is missing somewhere; its first such row counts from 1 below the header."""
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy())) + 1
        raise InvalidTableError(
            f"The target {name!r} is missing in {column.null_count} of {len(column)} rows of {path}, first in row "
            f"{row} below the header: drop those rows."
        )


def read_target(path: Path, name: str, column: Any) -> np.ndarray:
    """The target as an array; decimals as floats, and dates as texts, which they are in a CSV file, too."""
    types = require("pyarrow.types", "io")
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_nested(kind) or types.is_binary(kind) or types.is_duration(kind):
        raise InvalidTableError(
            f"The target {name!r} of {path} is of type {kind}: it must hold numbers, truth values, text or dates."
        )
    if types.is_decimal(kind):
        column = column.cast("float64")
    values = column.to_pylist()
    return np.asarray([str(value) for value in values] if types.is_temporal(kind) else values)


def refuse_dates(path: Path, table: Any) -> None:
    """Raise for the first column of dates, with the options that help."""
    types = require("pyarrow.types", "io")
    for name, kind in zip(table.schema.names, table.schema.types, strict=True):
        if types.is_date(kind) or types.is_timestamp(kind):
            raise InvalidTableError(
                f"Column {name!r} of {path} holds dates ({kind}), which are not guessed at: --datetimes expand learns "
                f"from their year, month, day, weekday and time, --drop {shlex.quote(name)} leaves them out."
            )


def read_weights(path: Path, name: str, column: Any) -> np.ndarray:
    """The weights of the rows as numbers, NaN where they are missing."""
    try:
        return np.asarray(column.to_pylist(), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidTableError(
            f"--weight: column {name!r} of {path} must hold numbers, however: {column.type}."
        ) from error


def guess_task(y: np.ndarray) -> str:
    """Classes if the target is text, truth values or a few whole numbers; else a real target."""
    if y.dtype.kind not in "iuf":
        return "classification"
    values = np.unique(y)
    whole = bool((values == np.round(values)).all())
    return "classification" if whole and len(values) <= MANY_NUMBERS else "regression"


def summary(model: BaseDNFNet, task: str, target: str, path: Path) -> str:
    """What was done with each column, what was learned, and where it is."""
    metric = model._objective().metric.name
    what = f"{task} of {target!r}"
    if isinstance(model, DNFNetClassifier):
        what += f", {len(model.classes_)} classes"
    return (
        f"{model.schema_}\n\n{what} (--task changes that)\n"
        f"{model.n_iter_} epochs, {model.stop_reason_}; best validation {metric} "
        f"{model.best_score_:.4f} in epoch {model.best_epoch_}\nmodel: {path}"
    )


def _some(names: list[str]) -> str:
    return ", ".join(map(repr, names[:12])) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
