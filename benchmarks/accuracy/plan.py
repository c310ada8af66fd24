"""Which trials a run consists of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.accuracy.variants import Tuned, Variant
from dnfnet.exceptions import InvalidParameterError
from dnfnet.paper.store import OK, Record
from dnfnet.paper.trial import Trial, canonical


def plan(
    variants: Sequence[Variant | Tuned], datasets: Sequence[str], partitions: Sequence[int], seeds: Sequence[int]
) -> list[Trial]:
    """List the trials, variant by variant and data set by data set, each once."""
    trials = (
        Trial(dataset, variant.model, config, partition, seed)
        for variant in variants
        for dataset in datasets
        for config in variant.configs(dataset)
        for seed in seeds
        for partition in partitions
    )
    return list({trial.key: trial for trial in trials}.values())


def refuse_old_names(variants: Iterable[Variant], datasets: Sequence[str], records: Iterable[Record]) -> None:
    """An error where a name given on the command line has results with other parameters already."""
    now = {(v.name, dataset): canonical(v.configs(dataset)[0]) for v in variants for dataset in datasets}
    for record in records:
        name = (record["config"]["variant"], record["dataset"])
        if record["status"] == OK and now.get(name, canonical(record["config"])) != canonical(record["config"]):
            raise InvalidParameterError(
                f"{name[0]!r} has results on {name[1]} with other parameters: choose another name for these."
            )
