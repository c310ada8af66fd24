"""What the results say about the paper's claims, in sentences with their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from dnfnet.paper.aggregate import Cell, Results, difference_in_sems
from dnfnet.paper.datasets import DATASETS, PAPER_DATASETS
from dnfnet.paper.grids import ABLATION_FORMULAS, synthetic_grid
from dnfnet.paper.synthetic import DIMENSIONS, PAPER_TASKS, bayes_accuracy
from dnfnet.paper.tables import MODEL_NAMES, comparison_cell, experiment_cell, experiment_target, pm
from dnfnet.paper.targets import COMPARISON_TARGETS, EXPERIMENT_TARGETS

_AGREES = 2.0


def agreement(results: Results) -> list[str]:
    """Sort all figures that the paper has too into those that agree, are better and are worse."""
    groups: dict[str, list[str]] = {"agrees": [], "better": [], "worse": []}
    for name, cell, difference, greater in _compared(results):
        better = difference > 0 if greater else difference < 0
        group = "agrees" if abs(difference) <= _AGREES else "better" if better else "worse"
        reasons = "" if group == "agrees" or cell.is_complete else f"; rests on {cell.part}"
        groups[group].append(f"  - {name} ({difference:+.1f} sems{reasons})")
    titles = {
        "agrees": "Within two sems of the paper",
        "better": "Better than the paper by more than two sems",
        "worse": "Worse than the paper by more than two sems",
    }
    blocks = ["\n".join([f"- {titles[group]}: {len(lines)}", *lines]) for group, lines in groups.items() if lines]
    return ["\n".join(blocks), _WHY] if blocks else ["Nothing was run yet that the paper has too."]


_WHY = (
    "A figure that rests on a part of a grid chooses among fewer configurations than the paper did, so for Table 3 "
    "it is expected to be somewhat worse; fewer seeds widen the error beyond the sem over partitions, which does not "
    "count the variation between seeds. Partitions were drawn by the paper's recipe but need not be the authors' rows."
)


def _compared(results: Results) -> Iterator[tuple[str, Cell, float, bool]]:
    """Go through the figures that both this study and the paper have, on the paper's own data sets."""
    for number, dataset, n in product(EXPERIMENT_TARGETS, ("eye", "gesture", "gas"), ABLATION_FORMULAS):
        cell, target = experiment_cell(results, number, dataset, n), experiment_target(number, dataset, n)
        # Experiment 6 is Experiment 3 under another name.
        if cell is not None and isinstance(target, tuple) and number != 6:
            yield f"Exp {number}, {dataset}, {n} formulas", cell, difference_in_sems(cell, target), False
    for dataset, (model, title) in product(PAPER_DATASETS, MODEL_NAMES.items()):
        compared = comparison_cell(results, dataset, model)
        if compared is not None:
            difference = difference_in_sems(compared, COMPARISON_TARGETS[dataset][model], 100.0)
            yield f"Table 3, {title} on {dataset}", compared, difference, DATASETS[dataset].metric == "roc_auc"


def ablation_order(results: Results) -> list[str]:
    """Hold the order of the paper's means, Experiment 4 < 5, 6, 7 < 1 (log-loss), against the results."""
    lines = []
    for dataset, n in product(("eye", "gesture", "gas", "gas-drift"), ABLATION_FORMULAS):
        cells = {number: experiment_cell(results, number, dataset, n) for number in (4, 5, 6, 7, 1)}
        means = {number: cell.mean for number, cell in cells.items() if cell is not None}
        if len(means) > 1:
            order = " < ".join(f"{number} ({means[number]:.4f})" for number in sorted(means, key=means.__getitem__))
            broken = [f"{a} < {b}" for a, b in _EXPECTED if a in means and b in means and means[a] >= means[b]]
            verdict = f"does not hold: {', '.join(broken)}" if broken else "holds"
            absent = [str(number) for number in cells if number not in means]
            lines.append(
                f"- {dataset}, {n} formulas: {order}. The order {verdict}"
                + (f"; not run: {', '.join(absent)}." if absent else ".")
            )
    if not lines:
        return []
    expected = (
        "By the paper's means of the test log-loss, Experiment 4 is below 5, 6 and 7, and these are below 1 (but for "
        "gesture with 128 formulas, where 5 is 0.001 below 4). Means over the partitions that were run:"
    )
    return [expected, "\n".join(lines)]


_EXPECTED = ((4, 5), (4, 6), (4, 7), (5, 1), (6, 1), (7, 1))


def localization_question(results: Results) -> list[str]:
    """Compare the localization with a constant 1/n in its place, partition by partition."""
    lines = []
    for dataset, n in product(("eye", "gesture", "gas", "gas-drift"), ABLATION_FORMULAS):
        cells = [experiment_cell(results, number, dataset, n) for number in (4, 8, 6)]
        full, constant, without = cells
        if full is not None and constant is not None:
            lines.append(f"- {dataset}, {n} formulas: {_three(full, constant, without)}")
    if not lines:
        return []
    question = (
        "The softmax over σ(τ)·loc never gives one formula more than e times another's weight, so at the start it is "
        "almost exactly 1/n. Experiment 8 puts the constant 1/n in its place (test log-loss, lower is better):"
    )
    return [question, "\n".join(lines)]


def _three(full: Cell, constant: Cell, without: Cell | None) -> str:
    text = f"with localization {pm(full.mean, full.sem, 4)}, with 1/n {pm(constant.mean, constant.sem, 4)}"
    difference, error = _paired(constant, full)
    text += f"; 1/n minus localization, paired over partitions, {pm(difference, error, 4)}"
    if without is None:
        return text + "."
    gain = without.mean - full.mean
    text += f"; without either {pm(without.mean, without.sem, 4)}"
    if gain > 0:
        share = (without.mean - constant.mean) / gain
        text += f", so the constant alone brings {share:.0%} of the localization's gain"
    return text + "."


def _paired(first: Cell, second: Cell) -> tuple[float, float]:
    """Return mean and sem of the difference over the partitions and seeds that both have."""
    from scipy.stats import sem

    one, two = ({(r["seed"], r["partition"]): r["test"] for r in cell.chosen} for cell in (first, second))
    differences = [one[part] - two[part] for part in sorted(one.keys() & two.keys())]
    if not differences:
        return float("nan"), float("nan")
    return float(np.mean(differences)), float(sem(differences)) if len(differences) > 1 else float("nan")


def synthetic_findings(results: Results) -> list[str]:
    """Say for each synthetic task what each mask reaches with the most features that were run."""
    lines = []
    for task in PAPER_TASKS:
        run = [d for d in DIMENSIONS if f"{task}-d{d}" in results.datasets]
        cells = (
            [(mask, results.cell(f"{task}-d{run[-1]}", "synthetic-fcn", synthetic_grid(mask))) for mask in _MASKS]
            if run
            else []
        )
        reached = ", ".join(f"{_MASKS[mask]} {pm(cell.mean, cell.sem, 3)}" for mask, cell in cells if cell is not None)
        if reached:
            lines.append(f"- {task}, d = {run[-1]}: {reached}; Bayes accuracy {bayes_accuracy(task).value:.3f}.")
    return ["Test accuracy with the most features that were run:", "\n".join(lines)] if lines else []


_MASKS = {"none": "no selection", "learned": "learned mask", "oracle": "oracle mask"}
