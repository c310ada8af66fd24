"""The tables of the bench: data frames as their files have them, cut along the study's partitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.accuracy.packaged import MAY_CHOOSE, ONLY_JUDGE, PACKAGED, REALS_MAY_CHOOSE, REALS_ONLY_JUDGE, WIDE
from dnfnet.exceptions import DatasetUnavailableError, InvalidParameterError
from dnfnet.paper.datasets import DATASETS, DatasetSpec, prepare
from dnfnet.paper.partitions import stored_partitions
from dnfnet.paper.sources import DATA_DIR_VARIABLE, DataSources


@dataclass(frozen=True)
class RawTable:
    """A table outside of the study, in the data directory as NAME.parquet or NAME.csv."""

    name: str
    target: str
    metric: str
    n_rows: int
    n_features: int
    kaggle: str | None = None

    @property
    def stem(self) -> str:
        """The name of its file, without the ending."""
        return self.name


RAW_TABLES = {
    table.name: table
    for table in (
        RawTable("adult", "income", "roc_auc", 48_842, 14),
        RawTable("titanic", "Survived", "roc_auc", 891, 11, kaggle="titanic"),
        RawTable("diamonds", "price", "r2", 53_940, 9),
        RawTable("nyc_taxi", "tipamount", "r2", 349_101, 9),
    )
}
STUDY_TABLES = ("gesture", "eye", "house", "gas-drift", "otto")
FILES = {name: DATASETS[name].metric for name in STUDY_TABLES} | {t.name: t.metric for t in RAW_TABLES.values()}
TABLES = FILES | {table.name: table.metric for table in PACKAGED.values()}
# Words for several tables.
GROUPS = {
    "files": tuple(FILES),
    "may-choose": MAY_CHOOSE,
    "only-judge": ONLY_JUDGE,
    "reals-may-choose": REALS_MAY_CHOOSE,
    "reals-only-judge": REALS_ONLY_JUDGE,
    "wide": WIDE,
}


@dataclass(frozen=True)
class Table:
    """Features as they are; the target as class codes, or as real numbers where ``n_classes`` is None."""

    X: pd.DataFrame
    y: NDArray
    n_classes: int | None
    metric: str

    @property
    def strata(self) -> NDArray[np.int64]:
        """What partitions are stratified by: the classes, or the tenths of a real target.

        A single stratum will not do: the rule draws twice with one seed, and over all rows the second draw undoes the
        first, which would leave blocks of neighbours.
        """
        if self.n_classes:
            return self.y
        edges = np.unique(np.quantile(self.y, np.linspace(0.1, 0.9, 9)))
        return np.searchsorted(edges, self.y).astype(np.int64)


@dataclass(frozen=True)
class Rows:
    """A part of a table."""

    X: pd.DataFrame
    y: NDArray


@dataclass(frozen=True)
class Split:
    """What a model gets to see: three parts, the number of classes (None for a real target), and the score."""

    train: Rows
    validation: Rows
    test: Rows
    n_classes: int | None
    metric: str
    checksum: str = ""


def joined(*parts: Rows) -> Rows:
    """The rows of several parts as one."""
    return Rows(pd.concat([p.X for p in parts], ignore_index=True), np.concatenate([p.y for p in parts]))


def named_tables(words: Iterable[str] | None) -> list[str]:
    """The tables of these names, or groups of tables; of none, those that are files."""
    words = ["files"] if words is None else words
    return list(dict.fromkeys(name for word in words for name in GROUPS.get(word, (word,))))


def has_classes(name: str) -> bool:
    """Whether the target of a table of the bench is a class."""
    if name not in TABLES:
        raise InvalidParameterError(f"dataset must be one of {', '.join(TABLES)}, however: {name!r}")
    return TABLES[name] != "r2"


def training_shape(name: str) -> tuple[int, int, int]:
    """Rows to train on, features and classes (0 of a real target) of a table of the bench, without opening it."""
    if name in PACKAGED:
        table = PACKAGED[name]
        return round(0.7 * table.n_rows), table.n_features, table.n_classes
    spec = RAW_TABLES.get(name) or DATASETS[name]
    n_classes = len(spec.classes) if isinstance(spec, DatasetSpec) else 2 if has_classes(name) else 0
    return round(0.7 * spec.n_rows), spec.n_features, n_classes


def open_table(name: str, sources: DataSources) -> Table:
    """Read a table of the bench; one of the study is checked to be the study's."""
    if name in PACKAGED:
        table = PACKAGED[name]
        return _as_table(table.read(), table.target, table.metric)
    return _raw(RAW_TABLES[name], sources) if name in RAW_TABLES else _of_the_study(name, sources)


def _of_the_study(name: str, sources: DataSources) -> Table:
    spec = DATASETS[name]
    frame = sources.read(spec)
    checked = prepare(frame, spec)
    return Table(frame[list(checked.features)], checked.y, len(spec.classes), spec.metric)


def _raw(table: RawTable, sources: DataSources) -> Table:
    path = sources.locate(table)  # type: ignore[arg-type]  # it asks for the names only
    if path is None:
        raise DatasetUnavailableError(
            f"The table '{table.name}' is not here: save it as {table.stem}.parquet or {table.stem}.csv in a directory "
            f"that --data-dir or {DATA_DIR_VARIABLE} names."
        )
    frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    return _as_table(frame, table.target, table.metric)


def _as_table(frame: pd.DataFrame, target: str, metric: str) -> Table:
    X, y = frame.drop(columns=target), frame[target].to_numpy()
    if metric == "r2":
        return Table(X, y.astype(np.float64), None, metric)
    classes, codes = np.unique(y, return_inverse=True)
    return Table(X, codes.astype(np.int64), len(classes), metric)


# A run's trials come table by table.
@lru_cache(maxsize=1)
def _table(name: str, data_dir: str | None) -> Table:
    return open_table(name, DataSources(data_dir))


def load_split(name: str, partition: int, sources: DataSources, partitions_file: Path) -> Split:
    """Return one partition of a table, its indices kept at ``partitions_file``."""
    table = _table(name, sources.data_dir)
    partitions = stored_partitions(partitions_file, table.strata)

    def rows(indices: NDArray[np.int64]) -> Rows:
        return Rows(table.X.iloc[indices].reset_index(drop=True), table.y[indices])

    part = partitions.parts[partition]
    return Split(
        train=rows(part.train),
        validation=rows(part.validation),
        test=rows(part.test),
        n_classes=table.n_classes,
        metric=table.metric,
        checksum=partitions.checksum,
    )
