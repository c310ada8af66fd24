"""``dnfnet predict``: a model file and a table in, predictions out, in bounded memory."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from dnfnet.cli.outputs import check_out
from dnfnet.estimators import DNFNetClassifier, load
from dnfnet.estimators.base import BaseDNFNet
from dnfnet.exceptions import SchemaMismatchError
from dnfnet.table import count_rows, gathered_notes, iter_tables, write_table
from dnfnet.table.files import separator_hint
from dnfnet.table.matching import IGNORE_EXTRA

EXAMPLE = """example:
  dnfnet predict churn.dnfnet new-customers.csv --out predictions.csv
  dnfnet predict prices.dnfnet flats.parquet --out prices.parquet --ignore-extra
"""


def register(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser("predict", help="predict the rows of a table", epilog=EXAMPLE)
    parser.add_argument("model", metavar="MODEL", type=Path, help="a file that `dnfnet fit` or model.save wrote")
    parser.add_argument("table", metavar="TABLE", type=Path, help="CSV, TSV or Parquet file with the rows")
    parser.add_argument("--out", required=True, metavar="FILE", type=Path, help="CSV, TSV or Parquet file to write")
    parser.add_argument("--ignore-extra", action="store_true", help="allow columns that the model does not know")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no summary")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Predict chunk by chunk."""
    check_out(args.out, {"MODEL": args.model, "TABLE": args.table})
    model = load(args.model)
    model.set_params(extra_columns="ignore" if args.ignore_extra else "refuse")
    try:
        with gathered_notes():
            n_rows = write_table(args.out, predictions(model, args.table, quiet=args.quiet))
    except SchemaMismatchError as error:
        problem = str(error).removesuffix(IGNORE_EXTRA)
        raise SchemaMismatchError(problem.rstrip() + hint(problem, args.table)) from error
    if not args.quiet:
        print(f"{n_rows} predictions: {args.out}")
    return 0


def hint(problem: str, path: Path) -> str:
    """What to do about columns that do not match; extra ones can only be ignored if none is missing."""
    if "yet now missing" in problem:
        return separator_hint(path)
    return "; --ignore-extra allows them." if "unseen at fit" in problem else ""


def predictions(model: BaseDNFNet, path: Path, *, quiet: bool) -> Iterator[dict[str, np.ndarray]]:
    """Columns of predictions, a chunk of the file at a time."""
    with tqdm(total=count_rows(path), unit="row", unit_scale=True, desc="predict", disable=quiet) as bar:
        for table in iter_tables(path, kinds=model.schema_.kinds):
            yield columns(model, table)
            bar.update(table.num_rows)


def columns(model: BaseDNFNet, table: Any) -> dict[str, np.ndarray]:
    """The prediction and, for classes, the probability of each."""
    if isinstance(model, DNFNetClassifier):
        return class_columns(model, model.predict_proba(table))
    values = model.predict(table)
    if values.ndim == 1:
        return {"prediction": values}
    levels = model.target_.quantiles
    names = [f"quantile {level:g}" for level in levels] or [f"prediction {i}" for i in range(values.shape[1])]
    return {name: values[:, i] for i, name in enumerate(names)}


def class_columns(model: DNFNetClassifier, probabilities: np.ndarray) -> dict[str, np.ndarray]:
    """The predicted class, or a column of 0 and 1 per label, and all probabilities."""
    named = {f"p({label})": probabilities[:, i] for i, label in enumerate(model.classes_)}
    predicted = model.target_.decode(probabilities)
    if predicted.ndim == 1:
        return {"prediction": predicted, **named}
    return {f"prediction {label}": predicted[:, i] for i, label in enumerate(model.classes_)} | named
