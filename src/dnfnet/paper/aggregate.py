"""The end of the paper's Algorithm 1: per partition the best configuration, then mean and sem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dnfnet.exceptions import ResultStoreError
from dnfnet.paper.grids import Configs
from dnfnet.paper.partitions import N_PARTITIONS
from dnfnet.paper.plan import SEEDS
from dnfnet.paper.store import FAILED, OK, TIMEOUT, Record
from dnfnet.paper.trial import canonical
from dnfnet.training.metrics import METRICS


@dataclass(frozen=True)
class Cell:
    """One figure of a table, and the part of the study that it rests on.

    Attributes
    ----------
    mean, sem : float
        Over the partitions, then averaged over the seeds; ``sem`` is NaN with a single partition.
    configs : (int, int)
        The fewest and the most configurations that a partition chose from.
    n_configs : int
        Configurations of the whole grid.
    partitions : int
        Partitions with a result, the fewest of any seed.
    seeds : tuple of int
    failed, timeouts : int
        Trials that count for nothing because they failed or hit their time limit.
    chosen : tuple of records
        The trials that the choice fell on.
    seconds : float
        Time of all trials behind the figure.
    """

    mean: float
    sem: float
    configs: tuple[int, int]
    n_configs: int
    partitions: int
    seeds: tuple[int, ...]
    failed: int
    timeouts: int
    chosen: tuple[Record, ...]
    seconds: float

    @property
    def part(self) -> str:
        """What the figure rests on, in words."""
        low, high = self.configs
        configs = f"{low}" if low == high else f"{low} to {high}"
        text = (
            f"{configs} of {self.n_configs} configurations, {self.partitions} of {N_PARTITIONS} partitions, "
            f"{len(self.seeds)} of {len(SEEDS)} seeds"
        )
        troubles = [f"{n} {what}" for n, what in ((self.timeouts, "at time limit"), (self.failed, "failed")) if n]
        return "; ".join([text, *troubles])

    @property
    def is_complete(self) -> bool:
        """Whether every trial that the paper ran is behind the figure."""
        whole = (self.n_configs, self.n_configs)
        return self.configs == whole and self.partitions == N_PARTITIONS and set(self.seeds) >= set(SEEDS)


class Results:
    """Records, found by data set, model and configuration; all of a data set must be of the same partitions."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._cells: dict[tuple[str, str], dict[str, list[Record]]] = {}
        checksums: dict[str, str] = {}
        for record in records:
            _check_partitions(record, checksums)
            configs = self._cells.setdefault((record["dataset"], record["model"]), {})
            configs.setdefault(canonical(record["config"]), []).append(record)

    @property
    def datasets(self) -> list[str]:
        """Names of the data sets with any record."""
        return sorted({dataset for dataset, _ in self._cells})

    def find(self, dataset: str, model: str, configs: Configs) -> list[Record]:
        """Return all records of these configurations."""
        stored = self._cells.get((dataset, model), {})
        wanted = dict.fromkeys(canonical(config) for config in configs)
        return [record for config in wanted for record in stored.get(config, [])]

    def cell(self, dataset: str, model: str, configs: Configs) -> Cell | None:
        """Work out one figure; None when no trial of it succeeded."""
        records = self.find(dataset, model, configs)
        by_part: dict[tuple[int, int], list[Record]] = {}
        for record in records:
            if record["status"] == OK:
                by_part.setdefault((record["seed"], record["partition"]), []).append(record)
        if not by_part:
            return None
        return _cell(by_part, records, len(configs))


def _check_partitions(record: Record, checksums: dict[str, str]) -> None:
    """Refuse to compare results on different rows."""
    found = record.get("partition_checksum")
    if found is not None and checksums.setdefault(record["dataset"], found) != found:
        raise ResultStoreError(
            f"Results on {record['dataset']} rest on different partitions "
            f"({checksums[record['dataset']]} and {found}): they must not be compared; remove one kind from the store."
        )


def _cell(by_part: dict[tuple[int, int], list[Record]], records: Sequence[Record], n_configs: int) -> Cell:
    chosen = {part: best(candidates) for part, candidates in by_part.items()}
    seeds = sorted({seed for seed, _ in chosen})
    scores = [[chosen[part]["test"] for part in sorted(chosen) if part[0] == seed] for seed in seeds]
    sizes = [len(candidates) for candidates in by_part.values()]
    statuses = Counter(record["status"] for record in records)
    return Cell(
        mean=float(np.mean([np.mean(values) for values in scores])),
        sem=float(np.mean([_sem(values) for values in scores])),
        configs=(min(sizes), max(sizes)),
        n_configs=n_configs,
        partitions=min(len(values) for values in scores),
        seeds=tuple(seeds),
        failed=statuses[FAILED],
        timeouts=statuses[TIMEOUT],
        chosen=tuple(chosen[part] for part in sorted(chosen)),
        seconds=sum(record["seconds"] for record in records),
    )


def best(records: Sequence[Record]) -> Record:
    """Return the record with the best validation score; the first of equals, in the grid's order."""
    greater = METRICS[records[0]["metric"]].greater_is_better
    return max(records, key=lambda r: r["validation"]) if greater else min(records, key=lambda r: r["validation"])


def _sem(values: Sequence[float]) -> float:
    from scipy.stats import sem

    return float(sem(values)) if len(values) > 1 else float("nan")


def difference_in_sems(cell: Cell, target: tuple[float, float], scale: float = 1.0) -> float:
    """Return (ours - paper's) over the standard error of that difference, both sems taken together."""
    own = 0.0 if np.isnan(cell.sem) else cell.sem * scale
    return (cell.mean * scale - target[0]) / float(np.hypot(own, target[1]))
