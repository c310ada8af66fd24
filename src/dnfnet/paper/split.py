"""One partition of one data set as arrays, standardised by its training part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dnfnet.paper.datasets import Dataset, find_spec, load_from
from dnfnet.paper.partitions import Partition, stored_partitions
from dnfnet.paper.sources import DataSources
from dnfnet.paper.synthetic import make_synthetic, parse_name


@dataclass(frozen=True)
class Rows:
    """Features in single precision, and class codes."""

    x: NDArray[np.float32]
    y: NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """What a model gets to see: three parts, the number of classes, the score, and the oracle's mask."""

    train: Rows
    validation: Rows
    test: Rows
    n_classes: int
    metric: str
    oracle: NDArray[np.bool_] | None = None
    checksum: str = ""


def open_dataset(name: str, sources: DataSources) -> Dataset:
    """Return a data set of the registry, or draw a synthetic instance such as ``"syn4-d50"``."""
    synthetic = parse_name(name)
    return make_synthetic(*synthetic) if synthetic else load_from(sources, find_spec(name))


def make_split(dataset: Dataset, partition: Partition, checksum: str = "") -> Split:
    """Cut a data set along a partition, standardised with the mean and deviation of the training part."""
    train = dataset.x[partition.train]
    mean, scale = train.mean(axis=0), train.std(axis=0)
    scale[scale == 0] = 1.0

    def rows(indices: NDArray[np.int64]) -> Rows:
        return Rows(((dataset.x[indices] - mean) / scale).astype(np.float32), dataset.y[indices])

    return Split(
        train=rows(partition.train),
        validation=rows(partition.validation),
        test=rows(partition.test),
        n_classes=len(dataset.classes),
        metric=dataset.metric,
        oracle=dataset.oracle,
        checksum=checksum,
    )


# A worker's trials come in the order of the data sets: two of them in memory are enough.
@lru_cache(maxsize=2)
def _dataset(name: str, data_dir: str | None, csv: tuple[tuple[str, str], ...]) -> Dataset:
    return open_dataset(name, DataSources(data_dir, dict(csv)))


def load_split(name: str, partition: int, sources: DataSources, partitions_file: Path) -> Split:
    """Return one partition of a data set, its indices kept at ``partitions_file``."""
    dataset = _dataset(name, sources.data_dir, tuple(sorted(sources.csv.items())))
    partitions = stored_partitions(partitions_file, dataset.y)
    return make_split(dataset, partitions.parts[partition], partitions.checksum)
