"""The bench's results as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from benchmarks.accuracy.compare import Bench, Figure, Runs
from benchmarks.accuracy.data import TABLES
from benchmarks.accuracy.variants import RIVALS

_TITLES = {"log_loss": "log-loss (lower is better)", "roc_auc": "ROC AUC", "r2": "R²"}


def markdown(
    bench: Bench,
    datasets: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    reference: str = "default",
) -> str:
    """An overview, and a table for each data set."""
    datasets = datasets or [name for name in TABLES if name in bench.datasets]
    names = names or bench.names
    tables = [list(_overview(bench, datasets, names))] if len(datasets) > 1 else []
    tables += [list(_dataset(bench, dataset, names, reference)) for dataset in datasets]
    return "\n\n".join("\n".join(lines) for lines in tables if lines) + "\n"


def _overview(bench: Bench, datasets: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Mean scores, a line per variant."""
    yield "| | " + " | ".join(datasets) + " |"
    yield "|---|" + "---:|" * len(datasets)
    for name in names:
        cells = [bench.runs(dataset, name) for dataset in datasets]
        if any(cells):
            yield f"| {name} | " + " | ".join(_number(runs.figure.mean) if runs else "–" for runs in cells) + " |"


def _dataset(bench: Bench, dataset: str, names: Sequence[str], reference: str) -> Iterator[str]:
    """Mean, sem and gains on one data set, a line per variant."""
    rows = [runs for name in names if (runs := bench.runs(dataset, name))]
    if not rows:
        return
    rivals = [runs for runs in rows if runs.name.partition(":")[0] in RIVALS and runs.chosen]
    base = bench.runs(dataset, reference)
    others = [base, *(runs for runs in rivals if runs.name != reference)] if base else rivals
    titles = [f"gain on {runs.name}" for runs in others]
    yield f"**{dataset}**, {_TITLES[TABLES[dataset]]}; a gain is positive where the line is better"
    yield ""
    yield "| | " + " | ".join(["mean", *titles, "fit s", "fit CPU s", "rests on"]) + " |"
    yield "|---|" + "---:|" * (len(titles) + 3) + "---|"
    yield from (_line(runs, others) for runs in rows)


def _line(runs: Runs, others: Sequence[Runs]) -> str:
    gains = ["" if other.name == runs.name else _gain(runs, other) for other in others]
    times = [_seconds(runs.seconds(kind)) for kind in ("fit_seconds", "fit_cpu_seconds")]
    return f"| {' | '.join([runs.name, _figure(runs.figure), *gains, *times, runs.basis])} |"


def _gain(runs: Runs, other: Runs) -> str:
    """A gain, with the number of partitions behind it where the line has more."""
    gain = runs.gain(other)
    return _figure(gain, sign="+") + (f" (of {gain.n})" if 0 < gain.n < runs.figure.n else "")


def _figure(figure: Figure, sign: str = "") -> str:
    if not figure.n:
        return "–"
    sem = f" ± {figure.sem:.4f}" if not math.isnan(figure.sem) else ""
    return f"{_number(figure.mean, sign)}{sem}"


def _number(value: float, sign: str = "") -> str:
    return "–" if math.isnan(value) else f"{value:{sign}.4f}"


def _seconds(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3g}" if value < 100 else f"{value:.0f}"
