"""The five partitions of the protocol (paper, Appendix D.1): indices, the same for every model."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dnfnet.atomic import replacing
from dnfnet.exceptions import ResultStoreError

N_PARTITIONS = 5
_SEED = 1

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Partition:
    """The rows of one partition: 70% to train on, 10% to choose by, 20% to test on."""

    train: Indices
    validation: Indices
    test: Indices


@dataclass(frozen=True)
class Partitions:
    """The partitions of one data set, with a checksum over every index in its place."""

    parts: tuple[Partition, ...]

    @property
    def checksum(self) -> str:
        """SHA-256 over the indices, as little-endian 64-bit integers with their lengths before them."""
        digest = hashlib.sha256()
        for part in self.parts:
            for indices in (part.train, part.validation, part.test):
                digest.update(len(indices).to_bytes(8, "little"))
                digest.update(indices.astype("<i8").tobytes())
        return digest.hexdigest()

    def save(self, path: Path) -> None:
        """Write the indices and their checksum, all or nothing."""
        arrays = {
            f"{role}_{i}": getattr(part, role).astype(np.int32)
            for i, part in enumerate(self.parts)
            for role in ("train", "validation", "test")
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, checksum=np.array(self.checksum), **arrays)

    @classmethod
    def load(cls, path: Path) -> Partitions:
        """Read what :meth:`save` wrote, and hold it against its checksum."""
        with np.load(path, allow_pickle=False) as file:
            n_parts = sum(name.startswith("test_") for name in file.files)
            roles = [
                [file[f"{r}_{i}"].astype(np.int64) for r in ("train", "validation", "test")] for i in range(n_parts)
            ]
            stored = str(file["checksum"])
        partitions = cls(tuple(Partition(*role) for role in roles))
        if partitions.checksum != stored:
            raise ResultStoreError(
                f"The partitions in {path} do not have their checksum: delete the file, it is made again."
            )
        return partitions


def make_partitions(y: NDArray[np.int64]) -> Partitions:
    """Split the rows of a data set as the paper did.

    The rows are shuffled with seed 1 and cut into five stratified folds (seed 1). Each fold is once the test
    part; an eighth of the rest, stratified (seed 1), is for validation: 70/10/20.
    """
    from sklearn.model_selection import StratifiedKFold

    order = np.random.RandomState(_SEED).permutation(len(y)).astype(np.int64)
    folds = StratifiedKFold(N_PARTITIONS, shuffle=True, random_state=_SEED).split(order, y[order])
    return Partitions(tuple(_partition(order[rest], order[test], y) for rest, test in folds))


def _partition(rest: Indices, test: Indices, y: NDArray[np.int64]) -> Partition:
    from sklearn.model_selection import train_test_split

    train, validation = train_test_split(rest, test_size=0.1 / 0.8, stratify=y[rest], random_state=_SEED)
    return Partition(train, validation, test)


def stored_partitions(path: Path, y: NDArray[np.int64]) -> Partitions:
    """Return the partitions kept at ``path``, made and kept there at the first call."""
    if not path.exists():
        make_partitions(y).save(path)
    partitions = Partitions.load(path)
    if sum(len(indices) for indices in vars(partitions.parts[0]).values()) != len(y):
        raise ResultStoreError(
            f"The partitions in {path} are of a table with other rows: delete the file, it is made again."
        )
    return partitions
