"""Tables 1, 2 and 3 from stored results, beside the paper's own figures."""

from __future__ import annotations

from collections.abc import Sequence

from dnfnet.paper.aggregate import Cell, Results, difference_in_sems
from dnfnet.paper.datasets import DATASETS
from dnfnet.paper.grids import ABLATION_FORMULAS, ROWS, experiment_grid
from dnfnet.paper.render import Table
from dnfnet.paper.targets import COMPARISON_TARGETS, EXPERIMENT_TARGETS, STANDS_BESIDE, Target

EXPERIMENT_NAMES = {
    1: "Exp 1: fully trained FCN",
    2: "Exp 2: DNF structure",
    3: "Exp 3: and feature selection",
    4: "Exp 4: and localization (DNF-Net)",
    5: "Exp 5: without feature selection",
    6: "Exp 6: without localization",
    7: "Exp 7: without DNF structure",
    8: "Exp 8: constant 1/n for localization",
}
MODEL_NAMES = {"dnf-net": "DNF-Net", "xgboost": "XGBoost", "fcn": "FCN"}
_ABLATION_HEADER = ("Data set", "Formulas", "Experiment", "This study", "Paper", "Difference in sems", "Rests on")
_COMPARISON_HEADER = ("Data set", "Metric", "Model", "This study", "Paper", "Difference in sems", "Rests on")
_SEMS = "Difference in sems: this study minus the paper, over the root of the sum of both squared sems."
_BESIDE = "† Gas Drift (OpenML 1476) lacks the paper's 129th feature: not the same experiment as the paper's Gas."


def all_tables(results: Results) -> list[Table]:
    """Return the three tables."""
    gradual = _ablation_table(results, "table1", "Table 1: gradual study, test log-loss", (1, 2, 3, 4))
    leave_out = _ablation_table(results, "table2", "Table 2: leave one out study, test log-loss", (4, 5, 6, 7, 8))
    return [gradual, leave_out, comparison_table(results)]


def experiment_cell(results: Results, number: int, dataset: str, n_formulas: int) -> Cell | None:
    """Work out one cell of Tables 1 and 2."""
    return results.cell(dataset, "dnf-net", experiment_grid(number, (n_formulas,)))


def experiment_target(number: int, dataset: str, n_formulas: int) -> Target | str:
    """Return the paper's figure for a cell of Tables 1 and 2; text where the paper has none."""
    row = EXPERIMENT_TARGETS.get(number)
    if row is None:
        return "not in the paper"
    target = row[STANDS_BESIDE.get(dataset, dataset), n_formulas]
    return "out of memory" if target is None else target


def _ablation_table(results: Results, name: str, caption: str, numbers: Sequence[int]) -> Table:
    rows = [
        [_title(dataset), str(n), EXPERIMENT_NAMES[number], *_figures(cell, experiment_target(number, dataset, n))]
        for dataset in _shown(results, ("eye", "gesture", "gas", "gas-drift"))
        for n in ABLATION_FORMULAS
        for number in numbers
        for cell in [experiment_cell(results, number, dataset, n)]
    ]
    return Table(name, caption, _ABLATION_HEADER, rows, _notes(rows))


def comparison_cell(results: Results, dataset: str, model: str) -> Cell | None:
    """Work out one cell of Table 3."""
    return results.cell(dataset, ROWS[model][0], ROWS[model][1]())


def comparison_table(results: Results) -> Table:
    """Return Table 3, log-loss and ROC AUC times 100."""
    rows = []
    for dataset in _shown(results, tuple(DATASETS)):
        metric = "log-loss" if DATASETS[dataset].metric == "log_loss" else "ROC AUC"
        for model, title in MODEL_NAMES.items():
            target = COMPARISON_TARGETS[STANDS_BESIDE.get(dataset, dataset)][model]
            figures = _figures(comparison_cell(results, dataset, model), target, scale=100.0, digits=3)
            rows.append([_title(dataset), metric, title, *figures])
    caption = "Table 3: test log-loss (lower is better) and ROC AUC (higher is better), both times 100"
    return Table("table3", caption, _COMPARISON_HEADER, rows, _notes(rows))


def _shown(results: Results, datasets: Sequence[str]) -> list[str]:
    """Leave out a data set beside the paper's as long as nothing was run on it."""
    return [name for name in datasets if name not in STANDS_BESIDE or name in results.datasets]


def _title(dataset: str) -> str:
    return DATASETS[dataset].title + (" †" if dataset in STANDS_BESIDE else "")


def _notes(rows: Sequence[Sequence[str]]) -> list[str]:
    return [_SEMS, _BESIDE] if any("†" in row[0] for row in rows) else [_SEMS]


def _figures(cell: Cell | None, target: Target | str, scale: float = 1.0, digits: int = 4) -> list[str]:
    """Write a cell, the paper's figure, their difference, and what the cell rests on."""
    paper = target if isinstance(target, str) else pm(target[0], target[1], digits) if target else ""
    if cell is None:
        return ["not run", paper, "", ""]
    difference = f"{difference_in_sems(cell, target, scale):+.1f}" if isinstance(target, tuple) else ""
    return [pm(cell.mean * scale, cell.sem * scale, digits), paper, difference.replace("-", "−"), cell.part]


def pm(mean: float, sem: float, digits: int) -> str:
    """Write mean ± sem; without the sem where a single partition gives none."""
    return f"{mean:.{digits}f}" if sem != sem else f"{mean:.{digits}f} ± {sem:.{digits}f}"
