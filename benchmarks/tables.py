"""Real tables with no preparation at all, beside XGBoost and HistGradientBoosting on the same split.

    python benchmarks/tables.py [--data-dir DIR] [--tables titanic adult] [--rows 5000] [--repeats 3] [--json out.json]

DNF-Net gets ``fit(df.drop(columns=target), df[target])`` and nothing else: every default. The two others refuse texts,
so texts become categories for them, and HistGradientBoosting cannot take the columns of more than 255 categories, which
are left out for it. All three stop early by an eighth of the training rows; a fifth of the table is for the test.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score, root_mean_squared_error
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier, XGBRegressor

from dnfnet import DNFNetClassifier, DNFNetRegressor

MAX_CATEGORIES = 255


class Task(NamedTuple):
    """A table, its target and what is learned."""

    table: str
    target: str
    classes: bool


class Split(NamedTuple):
    """Training and test rows."""

    X: pd.DataFrame
    X_test: pd.DataFrame
    y: pd.Series
    y_test: pd.Series


TASKS = {
    task.table: task
    for task in (
        Task("titanic", "Survived", classes=True),
        Task("adult", "income", classes=True),
        Task("diamonds", "price", classes=False),
        Task("nyc_taxi", "tipamount", classes=False),
    )
}


def split_table(folder: Path, task: Task, n_rows: int | None, seed: int) -> Split:
    """Read a table as it is, and set a fifth aside for the test."""
    table = pd.read_parquet(folder / f"{task.table}.parquet")
    if n_rows is not None and n_rows < len(table):
        table = table.sample(n_rows, random_state=0)
    X, y = table.drop(columns=task.target), table[task.target]
    return Split(*train_test_split(X, y, test_size=0.2, random_state=seed, stratify=y if task.classes else None))


def with_categories(split: Split, most: int | None = None) -> Split:
    """The same split with texts as categories, for models that take no texts."""
    both = pd.concat([split.X, split.X_test])
    texts = [name for name in both if not pd.api.types.is_numeric_dtype(both[name])]
    both = both.astype(dict.fromkeys(texts, "category"))
    if most is not None:
        both = both.drop(columns=[name for name in texts if both[name].nunique() > most])
    return Split(both[: len(split.X)], both[len(split.X) :], split.y, split.y_test)


def fit_dnfnet(split: Split, task: Task, seed: int) -> tuple[Any, Split]:
    """Every default."""
    kind = DNFNetClassifier if task.classes else DNFNetRegressor
    return kind(random_state=seed).fit(split.X, split.y), split


def fit_xgboost(split: Split, task: Task, seed: int) -> tuple[Any, Split]:
    """Defaults, and as many trees as the validation rows ask for."""
    split = with_categories(split)
    X, X_valid, y, y_valid = train_test_split(split.X, split.y, test_size=0.125, random_state=seed)
    kind = XGBClassifier if task.classes else XGBRegressor
    options = {"enable_categorical": True, "n_estimators": 2000, "early_stopping_rounds": 50, "random_state": seed}
    first = np.unique(split.y) if task.classes else None
    encode = (lambda labels: np.searchsorted(first, labels)) if task.classes else (lambda values: values)
    model = kind(**options).fit(X, encode(y), eval_set=[(X_valid, encode(y_valid))], verbose=False)
    return model, split


def fit_histogram(split: Split, task: Task, seed: int) -> tuple[Any, Split]:
    """Defaults, and as many trees as the validation rows ask for."""
    split = with_categories(split, MAX_CATEGORIES)
    kind = HistGradientBoostingClassifier if task.classes else HistGradientBoostingRegressor
    options = {"early_stopping": True, "validation_fraction": 0.125, "n_iter_no_change": 50, "max_iter": 2000}
    return kind(random_state=seed, **options).fit(split.X, split.y), split


MODELS: dict[str, Callable[[Split, Task, int], tuple[Any, Split]]] = {
    "DNF-Net": fit_dnfnet,
    "XGBoost": fit_xgboost,
    "HistGradientBoosting": fit_histogram,
}


def scores(model: Any, split: Split, task: Task) -> dict[str, float]:
    """Scores on the test rows."""
    if not task.classes:
        values = model.predict(split.X_test)
        return {"RMSE": root_mean_squared_error(split.y_test, values), "R²": r2_score(split.y_test, values)}
    truth = np.searchsorted(np.unique(split.y), split.y_test)
    probabilities = model.predict_proba(split.X_test)
    return {
        "ROC AUC": roc_auc_score(truth, probabilities[:, 1]),
        "log-loss": log_loss(truth, probabilities),
        "accuracy": accuracy_score(truth, probabilities.argmax(axis=1)),
    }


def measure(folder: Path, names: list[str], n_rows: int | None, repeats: int) -> Iterator[dict[str, Any]]:
    """One record per table, model and split; the splits of a model come one after the other."""
    for task in (TASKS[name] for name in names):
        splits = [split_table(folder, task, n_rows, seed) for seed in range(repeats)]
        for name, fit in MODELS.items():
            for seed, split in enumerate(splits):
                started = time.perf_counter()
                model, used = fit(split, task, seed)
                seconds = time.perf_counter() - started
                n_total = len(split.X) + len(split.X_test)
                yield {
                    "table": task.table, "rows": n_total, "columns": used.X.shape[1], "model": name, "seed": seed,
                    "seconds": seconds, "scores": scores(model, used, task),
                }  # fmt: skip


HEADER = "| table | rows | model | test scores | seconds of fit |\n|---|---:|---|---|---:|"


def line(group: list[dict[str, Any]]) -> str:
    """Means over the splits of one table and model."""
    means = {name: statistics.mean(record["scores"][name] for record in group) for name in group[0]["scores"]}
    shown = ", ".join(f"{name} {value:.4g}" for name, value in means.items())
    seconds = statistics.mean(record["seconds"] for record in group)
    return f"| {group[0]['table']} | {group[0]['rows']} | {group[0]['model']} | {shown} | {seconds:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("DNFNET_DATA_DIR"), help="or DNFNET_DATA_DIR")
    parser.add_argument("--tables", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--rows", type=int, help="a random part of each table")
    parser.add_argument("--repeats", type=int, default=1, help="number of splits")
    parser.add_argument("--json", type=Path, help="write every record to this file")
    args = parser.parse_args()
    if args.data_dir is None:
        parser.error("--data-dir or DNFNET_DATA_DIR must name the folder of the Parquet files")
    print(HEADER, flush=True)
    records: list[dict[str, Any]] = []
    for record in measure(Path(args.data_dir), args.tables, args.rows, args.repeats):
        records.append(record)
        if args.json is not None:  # after every fit, since a run may be stopped
            args.json.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
        if len(records) % args.repeats == 0:
            print(line(records[-args.repeats :]), flush=True)


if __name__ == "__main__":
    main()
