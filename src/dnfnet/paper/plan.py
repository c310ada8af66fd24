"""Which trials a run consists of: a choice of rows, data sets, configurations, seeds and partitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from dnfnet.exceptions import InvalidParameterError
from dnfnet.paper.datasets import DATASETS, PAPER_DATASETS
from dnfnet.paper.grids import ROWS, Configs, choose_grid
from dnfnet.paper.partitions import N_PARTITIONS
from dnfnet.paper.store import OK, Store
from dnfnet.paper.synthetic import DIMENSIONS, PAPER_TASKS, TASKS, parse_name
from dnfnet.paper.trial import Trial
from dnfnet.training.metrics import METRICS

SEEDS = (1, 2, 3)
ABLATION_DATASETS = ("eye", "gesture", "gas")
GROUPS = {
    "table1": ("exp1", "exp2", "exp3", "exp4"),
    "table2": ("exp4", "exp5", "exp6", "exp7", "exp8"),
    "table3": ("dnf-net", "xgboost", "fcn"),
    "figure2": ("syn-none", "syn-learned", "syn-oracle"),
}


@dataclass(frozen=True)
class Selection:
    """A part of the study.

    Parameters
    ----------
    rows : tuple of str
        Names of :data:`dnfnet.paper.grids.ROWS`.
    datasets : tuple of str or None
        Names of data sets and synthetic tasks; None stands for the paper's own choice for each row.
    grid : str
        ``"full"``, ``"small"`` or ``"random:N"``.
    formulas : tuple of int or None
        Keep only the configurations with these numbers of formulas.
    betas : tuple of float, or int, or None
        Keep only these betas; an integer n stands for the beta that was best, by validation score, with n
        formulas on the same data set, partition and seed.
    partitions, seeds, dimensions : tuple of int
        ``dimensions`` are the numbers of features of the synthetic tasks.
    """

    rows: tuple[str, ...]
    datasets: tuple[str, ...] | None = None
    grid: str = "full"
    formulas: tuple[int, ...] | None = None
    betas: tuple[float, ...] | int | None = None
    partitions: tuple[int, ...] = tuple(range(N_PARTITIONS))
    seeds: tuple[int, ...] = SEEDS
    dimensions: tuple[int, ...] = DIMENSIONS

    def names(self, row: str) -> tuple[str, ...]:
        """Return the data sets that a row runs on."""
        if row.startswith("syn-"):
            return tuple(self._instances())
        if self.datasets is not None:
            return tuple(name for name in self.datasets if name in DATASETS)
        return ABLATION_DATASETS if row.startswith("exp") else PAPER_DATASETS

    def _instances(self) -> Iterator[str]:
        for name in self.datasets or PAPER_TASKS:
            if parse_name(name):
                yield name
            elif name in TASKS:
                yield from (f"{name}-d{d}" for d in self.dimensions)

    def configs(self, row: str) -> Configs:
        """Return the configurations of a row that the selection keeps."""
        configs = choose_grid(row, self.grid)
        if self.formulas is not None:
            configs = [c for c in configs if c.get("n_formulas", self.formulas[0]) in self.formulas]
        if isinstance(self.betas, tuple):
            configs = [c for c in configs if c.get("beta") is None or c["beta"] in self.betas]
        return configs


def expand_rows(names: tuple[str, ...]) -> tuple[str, ...]:
    """Replace the names of tables and figures by their rows; each row once, in the order given."""
    rows: dict[str, None] = {}
    for name in names:
        if name not in GROUPS and name not in ROWS:
            raise InvalidParameterError(f"model must be one of {', '.join([*GROUPS, *ROWS])}, however: {name!r}")
        rows.update(dict.fromkeys(GROUPS.get(name, (name,))))
    return tuple(rows)


def check_datasets(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names when all of them are data sets or synthetic tasks."""
    for name in names:
        if name not in DATASETS and name not in TASKS and not parse_name(name):
            known = ", ".join([*DATASETS, *TASKS])
            raise InvalidParameterError(f"dataset must be one of {known}, or such as syn1-d50, however: {name!r}")
    return names


def plan(selection: Selection, store: Store) -> list[Trial]:
    """List the trials of a selection, each once.

    All rows and data sets advance together, configuration by configuration, each on all its partitions: so
    whatever a budget cuts off, what is there is comparable.
    """
    trials: dict[str, Trial] = {}
    lanes = [
        [_cell(selection, store, row, dataset, config) for config in selection.configs(row)]
        for row in selection.rows
        for dataset in selection.names(row)
    ]
    for rank in zip_longest(*lanes, fillvalue=()):
        for cell in rank:
            trials.update((trial.key, trial) for trial in cell)
    return list(trials.values())


def _cell(selection: Selection, store: Store, row: str, dataset: str, config: dict) -> list[Trial]:
    model = ROWS[row][0]
    trials = [
        Trial(dataset, model, config, partition, seed) for seed in selection.seeds for partition in selection.partitions
    ]
    if isinstance(selection.betas, int) and config.get("beta") is not None:
        trials = [trial for trial in trials if config["beta"] == _best_beta(trial, selection.betas, store)]
    return trials


def _best_beta(trial: Trial, n_formulas: int, store: Store) -> float:
    """Return the beta with the best validation score at another number of formulas."""
    scored = []
    for config in choose_grid("dnf-net", "full"):
        if config["n_formulas"] != n_formulas:
            continue
        other = Trial(trial.dataset, trial.model, {**trial.config, **_size(config)}, trial.partition, trial.seed)
        record = store.get(other.key)
        if record and record["status"] == OK:
            sign = 1 if METRICS[record["metric"]].greater_is_better else -1
            scored.append((sign * record["validation"], config["beta"]))
    if not scored:
        raise InvalidParameterError(
            f"--betas best:{n_formulas} needs finished trials with {n_formulas} formulas first: "
            f"there are none for {trial.dataset}, partition {trial.partition}, seed {trial.seed}."
        )
    return max(scored)[1]


def _size(config: dict) -> dict:
    return {"n_formulas": config["n_formulas"], "beta": config["beta"]}
