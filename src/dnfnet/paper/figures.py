"""Figure 1 (VC dimensions) and Figure 2 (the six synthetic tasks), drawn for print."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dnfnet.compat import require
from dnfnet.paper.aggregate import Results
from dnfnet.paper.grids import synthetic_grid
from dnfnet.paper.synthetic import DIMENSIONS, PAPER_TASKS, TASKS, bayes_accuracy, parse_name
from dnfnet.paper.vc import vc_bound_dnf, vc_dim_trees

# Sizes of formulas and ranks of trees in Figure 1; the paper's plot shows large formulas and small ranks.
FIGURE1_SIZES = (16, 32, 64)
FIGURE1_RANKS = (2, 3, 4, 5)
_STYLE = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
}
# Colours that stay apart in print and for the colour-blind (Okabe and Ito), and markers that do without.
_MASKS = {
    "oracle": ("FCN with oracle mask", "#009E73", "s"),
    "learned": ("FCN with feature selection", "#0072B2", "o"),
    "none": ("FCN", "#D55E00", "^"),
}


def draw_figures(results: Results, folder: Path) -> list[Path]:
    """Write both figures, each as PDF and PNG; returns the files. Other forms of Syn3 get a figure too if run."""
    folder.mkdir(parents=True, exist_ok=True)
    with _style() as pyplot:
        files = _save(figure1(pyplot), folder / "figure1")
        files += _save(figure2(pyplot, results, PAPER_TASKS), folder / "figure2")
        others = tuple(task for task in TASKS if task not in PAPER_TASKS and _dimensions(results, task))
        if others:
            files += _save(figure2(pyplot, results, others), folder / "figure2-printed")
        pyplot.close("all")
    return files


def figure1(pyplot: Any) -> Any:
    """VC dimension of small-rank trees, and the bound for large formulas, against the number of variables."""
    figure, axes = pyplot.subplots(figsize=(4.2, 3.1), layout="constrained")
    n = np.arange(5, 501)
    for shade, rank in zip(np.linspace(0.45, 0.95, len(FIGURE1_RANKS)), FIGURE1_RANKS, strict=True):
        exact = [vc_dim_trees(int(i), rank) for i in n]
        axes.plot(n, exact, color=pyplot.cm.Oranges(shade), linestyle="--", label=f"trees of rank {rank}")
    for shade, k in zip(np.linspace(0.45, 0.95, len(FIGURE1_SIZES)), FIGURE1_SIZES, strict=True):
        bound = [vc_bound_dnf(int(i), k) for i in n]
        axes.plot(n, bound, color=pyplot.cm.Blues(shade), label=f"DNF, {k} conjunctions (bound)")
    axes.set(yscale="log", xlabel="input dimension $n$", ylabel="VC dimension", xlim=(5, 500))
    axes.legend(fontsize=6.5, ncols=2, loc="lower right")
    return figure


def figure2(pyplot: Any, results: Results, tasks: tuple[str, ...]) -> Any:
    """Test accuracy against the number of features, a panel for each task, with the Bayes accuracy as a line."""
    rows = -(-len(tasks) // 3)
    figure, axes = pyplot.subplots(rows, 3, figsize=(7.0, 2.15 * rows + 0.5), layout="constrained", squeeze=False)
    for axis, task in zip(axes.flat, tasks, strict=False):
        _panel(axis, results, task)
    for axis in axes.flat[len(tasks) :]:
        axis.set_axis_off()
    for axis in axes[-1]:
        axis.set_xlabel("input dimension $d$")
    for axis in axes[:, 0]:
        axis.set_ylabel("test accuracy")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure


def _panel(axis: Any, results: Results, task: str) -> None:
    if not _dimensions(results, task):
        axis.text(0.5, 0.4, "not run", transform=axis.transAxes, ha="center", color="gray")
    for mask, (label, color, marker) in _MASKS.items():
        d, means, errors = _series(results, task, mask)
        axis.errorbar(d, means, yerr=errors, label=label, color=color, marker=marker, markersize=3, capsize=2)
    axis.axhline(bayes_accuracy(task).value, color="black", linestyle=":", linewidth=1, label="Bayes accuracy")
    axis.set(title=task.capitalize(), xlim=(0, DIMENSIONS[-1] + 11), xticks=(11, 100, 200, 300))


def _series(results: Results, task: str, mask: str) -> tuple[list[int], list[float], list[float]]:
    """Return the dimensions that were run, with mean accuracy and sem."""
    cells = [
        (d, results.cell(f"{task}-d{d}", "synthetic-fcn", synthetic_grid(mask))) for d in _dimensions(results, task)
    ]
    found = [(d, cell) for d, cell in cells if cell is not None]
    return [d for d, _ in found], [cell.mean for _, cell in found], [cell.sem for _, cell in found]


def _dimensions(results: Results, task: str) -> list[int]:
    names = (parse_name(name) for name in results.datasets)
    return sorted(name[1] for name in names if name and name[0] == task)


@contextmanager
def _style() -> Iterator[Any]:
    """Draw to files only, in the figures' style, and leave the user's own settings alone."""
    matplotlib = require("matplotlib", "paper")
    pyplot = require("matplotlib.pyplot", "paper")
    with matplotlib.rc_context(_STYLE):
        yield pyplot


def _save(figure: Any, path: Path) -> list[Path]:
    files = [path.with_suffix(ending) for ending in (".pdf", ".png")]
    for file in files:
        figure.savefig(file)
    return files
