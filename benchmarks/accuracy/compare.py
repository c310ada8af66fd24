"""Scores of a variant and how far ahead of another it is, on the partitions and seeds that both have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.accuracy.variants import VARIANTS, Tuned, Variant, find_variant
from dnfnet.exceptions import InvalidParameterError
from dnfnet.paper.aggregate import Results, best
from dnfnet.paper.store import OK, Record
from dnfnet.paper.trial import canonical
from dnfnet.training.metrics import METRICS

Part = tuple[int, int]  # partition and seed


@dataclass(frozen=True)
class Figure:
    """Mean and standard error over partitions; NaN where there are too few of them."""

    mean: float
    sem: float
    n: int

    @classmethod
    def of(cls, values: Mapping[Part, float]) -> Figure:
        """The seeds of a partition are averaged first: they share its rows, so they are no further evidence."""
        by_partition = defaultdict(list)
        for (partition, _), value in values.items():
            by_partition[partition].append(value)
        means = [np.mean(seeds) for seeds in by_partition.values()]
        n = len(means)
        mean = float(np.mean(means)) if n else float("nan")
        sem = float(np.std(means, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
        return cls(mean, sem, n)


@dataclass(frozen=True)
class Runs:
    """All that one variant did on one data set."""

    name: str
    dataset: str
    records: tuple[Record, ...]

    @property
    def candidates(self) -> dict[Part, list[Record]]:
        """Finished trials of each partition and seed: one, or those that tuning chooses from."""
        found: dict[Part, list[Record]] = defaultdict(list)
        for record in self.records:
            if record["status"] == OK:
                found[record["partition"], record["seed"]].append(record)
        return dict(sorted(found.items()))

    @property
    def chosen(self) -> dict[Part, Record]:
        """The best trial by validation score of each partition and seed."""
        return {part: best(records) for part, records in self.candidates.items()}

    @property
    def scores(self) -> dict[Part, float]:
        """Test scores."""
        return {part: record["test"] for part, record in self.chosen.items()}

    @property
    def figure(self) -> Figure:
        """Mean test score."""
        return Figure.of(self.scores)

    def seconds(self, kind: str) -> float:
        """Median over partitions and seeds of the time that all trials there took together."""
        times = [sum(record[kind] for record in records) for records in self.candidates.values()]
        return median(times) if times else float("nan")

    def gain(self, other: Runs) -> Figure:
        """How much better than another on the partitions and seeds that both have; negative is worse."""
        ours, theirs = self.chosen, other.chosen
        return Figure.of({part: _gain(ours[part], theirs[part]) for part in ours if part in theirs})

    @property
    def basis(self) -> str:
        """What the figures rest on, in words."""
        parts = self.candidates
        words = [_count(len({partition for partition, _ in parts}), "partition")]
        n_seeds = len({seed for _, seed in parts})
        if n_seeds > 1:
            words.append(_count(n_seeds, "seed"))
        sizes = [len(records) for records in parts.values()]
        if self.name.startswith(Tuned.name) and sizes:
            low, high = min(sizes), max(sizes)
            words.append(f"best of {low}" if low == high else f"best of {low} to {high}")
        troubles = Counter(record["status"] for record in self.records if record["status"] != OK)
        named = {"timeout": "at time limit", "failed": "failed"}
        return ", ".join(words + [f"{n} {named.get(status, status)}" for status, n in sorted(troubles.items())])


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _gain(ours: Record, theirs: Record) -> float:
    sign = 1 if METRICS[ours["metric"]].greater_is_better else -1
    return sign * (ours["test"] - theirs["test"])


class Bench:
    """Results of the bench by data set and name.

    Parameters
    ----------
    records : iterable of records
    partitions, seeds : sequence of int, optional
        Look at these only: what picked a variant must not also judge it.
    """

    def __init__(
        self,
        records: Iterable[Record],
        partitions: Sequence[int] | None = None,
        seeds: Sequence[int] | None = None,
    ) -> None:
        kept = [
            record
            for record in records
            if (partitions is None or record["partition"] in partitions) and (seeds is None or record["seed"] in seeds)
        ]
        self._results = Results(kept)
        # By data set and name: the model and the configurations that were run, each once.
        self._configs: dict[tuple[str, str], dict[str, Record]] = defaultdict(dict)
        for record in sorted(kept, key=lambda r: r["status"] == OK):
            name = record["config"]["variant"]
            self._configs[record["dataset"], name][canonical(record["config"])] = record

    @property
    def datasets(self) -> list[str]:
        """Data sets with any result."""
        return self._results.datasets

    @property
    def names(self) -> list[str]:
        """Variants with any result: DNF-Net's first, the registry's in its order."""
        found = {name for _, name in self._configs}
        registry = [*VARIANTS, Tuned.name]
        return sorted(found - {*registry}) + [name for name in registry if name in found]

    def runs(self, dataset: str, name: str) -> Runs | None:
        """What a variant did on a data set; None where it did nothing."""
        stored = self._configs.get((dataset, name.partition(":")[0]), {})
        if not stored:
            return None
        wanted = self._wanted(dataset, name, stored)
        model = next(iter(stored.values()))["model"]
        records = tuple(self._results.find(dataset, model, wanted))
        return Runs(name, dataset, records) if records else None

    def _wanted(self, dataset: str, name: str, stored: Mapping[str, Record]) -> list[dict[str, Any]]:
        """The configurations that a name stands for: the registry's, or what was stored under it."""
        if name == Tuned.name:
            return [record["config"] for record in stored.values()]
        if name in VARIANTS or name.startswith(f"{Tuned.name}:"):
            variant: Variant | Tuned = find_variant(name)
            return variant.configs(dataset)
        finished = [record["config"] for record in stored.values() if record["status"] == OK]
        found = finished or [record["config"] for record in stored.values()]
        if len(found) > 1:
            raise InvalidParameterError(
                f"{name!r} has results on {dataset} with {len(found)} sets of parameters, none of them the registry's: "
                "remove all but one from the store."
            )
        return found
