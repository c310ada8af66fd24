"""The data sets of the paper (Appendix C): what each must be, and a check that what was loaded is it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dnfnet.exceptions import DatasetMismatchError, InvalidParameterError
from dnfnet.table.values import level_text

if TYPE_CHECKING:
    import pandas as pd

    from dnfnet.paper.sources import DataSources


@dataclass(frozen=True)
class DatasetSpec:
    """What a data set of the study must be.

    Parameters
    ----------
    name, title : str
        The name on the command line, and the one in the paper's tables.
    target : str
        The column with the classes.
    classes : tuple of str
        The labels in the order in which they are coded 0, 1, ...; for two classes the second is the positive one.
    n_rows, n_features : int
        The shape without the target and without ``drop``.
    counts : tuple of int or None
        Rows of each class, in the order of ``classes``; None where they could not be looked up.
    drop : tuple of str
        Columns that number the rows and are no features.
    openml_id, kaggle : int or None, str or None
        Where it is published.
    """

    name: str
    title: str
    target: str
    classes: tuple[str, ...]
    n_rows: int
    n_features: int
    counts: tuple[int, ...] | None = None
    drop: tuple[str, ...] = ()
    openml_id: int | None = None
    kaggle: str | None = None

    @property
    def stem(self) -> str:
        """The name of its file in a data directory, without the ending."""
        return self.name.replace("-", "_")

    @property
    def metric(self) -> str:
        """The paper's score: log-loss for several classes, ROC AUC for two."""
        return "roc_auc" if len(self.classes) == 2 else "log_loss"


def _numbered(prefix: str, first: int, last: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{i}" for i in range(first, last + 1))


_SPECS = (
    DatasetSpec(
        name="otto",
        title="Otto Group",
        target="target",
        classes=_numbered("Class_", 1, 9),
        n_rows=61_878,
        n_features=93,
        counts=(1929, 16122, 8004, 2691, 2739, 14135, 2839, 8464, 4955),
        drop=("id",),
        kaggle="otto-group-product-classification-challenge",
    ),
    DatasetSpec(
        name="gesture",
        title="Gesture Phase",
        target="Phase",
        classes=("D", "P", "S", "H", "R"),
        n_rows=9_873,
        n_features=32,
        counts=(2741, 2097, 2950, 998, 1087),
        openml_id=4538,
    ),
    DatasetSpec(
        name="gas",
        title="Gas Concentrations",
        target="Class",
        classes=_numbered("", 1, 6),
        n_rows=13_910,
        n_features=129,
        openml_id=1477,
    ),
    DatasetSpec(
        name="gas-drift",
        title="Gas Drift",
        target="Class",
        classes=_numbered("", 1, 6),
        n_rows=13_910,
        n_features=128,
        counts=(2565, 2926, 1641, 1936, 3009, 1833),
        openml_id=1476,
    ),
    DatasetSpec(
        name="eye",
        title="Eye Movements",
        target="label",
        classes=("0", "1", "2"),
        n_rows=10_936,
        n_features=26,
        counts=(3804, 4262, 2870),
        drop=("lineNo",),
        openml_id=1044,
    ),
    DatasetSpec(
        name="santander",
        title="Santander Transaction",
        target="target",
        classes=("0", "1"),
        n_rows=200_000,
        n_features=200,
        counts=(179_902, 20_098),
        drop=("ID_code",),
        kaggle="santander-customer-transaction-prediction",
    ),
    DatasetSpec(
        name="house",
        title="House",
        target="binaryClass",
        classes=("N", "P"),
        n_rows=22_784,
        n_features=16,
        counts=(6744, 16040),
        openml_id=821,
    ),
)
DATASETS: Mapping[str, DatasetSpec] = {spec.name: spec for spec in _SPECS}
PAPER_DATASETS = tuple(name for name in DATASETS if name != "gas-drift")


@dataclass(frozen=True)
class Dataset:
    """A data set ready for the study: features, class codes, and what the codes stand for."""

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.int64]
    classes: tuple[str, ...]
    features: tuple[str, ...]
    metric: str
    oracle: NDArray[np.bool_] | None = field(default=None)


def find_spec(name: str) -> DatasetSpec:
    """Return the entry of the registry, or an error that lists the names."""
    if name not in DATASETS:
        known = ", ".join(DATASETS)
        raise InvalidParameterError(f"dataset must be one of {known}, however: {name!r}")
    return DATASETS[name]


def load_dataset(
    name: str,
    *,
    data_dir: str | Path | None = None,
    csv: str | Path | None = None,
    spec: DatasetSpec | None = None,
) -> Dataset:
    """Load one data set of the study and check that it is the one the paper used.

    Parameters
    ----------
    name : str
        A name of :data:`DATASETS`.
    data_dir : path, optional
        Directory whose files take precedence; else the environment variable ``DNFNET_DATA_DIR``.
    csv : path, optional
        The CSV file itself, as Kaggle gives it.
    spec : DatasetSpec, optional
        Another description to hold the table against, for a data set of one's own.
    """
    from dnfnet.paper.sources import DataSources

    spec = spec or find_spec(name)
    sources = DataSources.of(data_dir, {spec.name: csv} if csv else {})
    return load_from(sources, spec)


def load_from(sources: DataSources, spec: DatasetSpec) -> Dataset:
    """Read the table of ``spec`` from wherever ``sources`` has it, and prepare it."""
    return prepare(sources.read(spec), spec)


def prepare(frame: pd.DataFrame, spec: DatasetSpec) -> Dataset:
    """Drop what is no feature, code the classes, and check the result against ``spec``."""
    if spec.target not in frame.columns:
        raise DatasetMismatchError(
            f"{spec.name}: expected a column '{spec.target}' with the classes, found {list(frame.columns)[:5]} ..."
        )
    features = frame.drop(columns=[spec.target, *(c for c in spec.drop if c in frame.columns)])
    y = _encode(frame[spec.target], spec)
    _check(spec, "rows", spec.n_rows, len(frame))
    _check(spec, "features", spec.n_features, features.shape[1])
    if spec.counts is not None:
        counts = np.bincount(y, minlength=len(spec.classes))
        _check(spec, "rows per class", list(spec.counts), counts.tolist())
    return Dataset(
        name=spec.name,
        x=_numbers(features, spec),
        y=y,
        classes=spec.classes,
        features=tuple(map(str, features.columns)),
        metric=spec.metric,
    )


def _check(spec: DatasetSpec, what: str, expected: object, found: object) -> None:
    if expected != found:
        source = f"OpenML {spec.openml_id}" if spec.openml_id else f"Kaggle {spec.kaggle}, train.csv"
        raise DatasetMismatchError(f"{spec.name} ({source}): expected {expected} {what}, found {found}.")


def _encode(labels: pd.Series, spec: DatasetSpec) -> NDArray[np.int64]:
    """Turn labels into their place in ``spec.classes``."""
    names = [level_text(value) for value in labels.to_numpy()]  # the same for 1, 1.0 and "1"
    unknown = sorted(set(names) - set(spec.classes))
    if unknown:
        raise DatasetMismatchError(f"{spec.name}: expected the classes {list(spec.classes)}, found also {unknown[:5]}.")
    codes = {label: code for code, label in enumerate(spec.classes)}
    return np.array([codes[label] for label in names], dtype=np.int64)


def _numbers(features: pd.DataFrame, spec: DatasetSpec) -> NDArray[np.float64]:
    """Return the features as numbers; the paper's data sets have no text and nothing missing."""
    try:
        x = features.to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DatasetMismatchError(f"{spec.name}: expected numbers only, however: {error}.") from error
    bad = np.flatnonzero(~np.isfinite(x).all(axis=0))
    if bad.size:
        column = features.columns[bad[0]]
        raise DatasetMismatchError(f"{spec.name}: expected no missing values, found some in column '{column}'.")
    return x
