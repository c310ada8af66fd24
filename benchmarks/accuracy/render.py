"""The bench's results as Markdown."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.compare import Bench, Figure, Part, Runs
from benchmarks.accuracy.data import TABLES
from benchmarks.accuracy.variants import RIVALS

LEAST_LOSS = 0.001
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


def losses(
    bench: Bench,
    datasets: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    reference: str = "default",
) -> str:
    """A line for each data set with the loss of each variant, and how the losses are to the reference's on the whole.

    The loss is log-loss, 1 - ROC AUC or 1 - R², on the partitions and seeds that a variant and the reference both have.
    The mean of ratios is a geometric one, in which a loss of less than 0.001 counts as 0.001.
    """
    names = [name for name in names or bench.names if name != reference]
    datasets = [name for name in datasets or TABLES if bench.runs(name, reference)]
    pairs = {name: [_losses(bench, dataset, name, reference) for dataset in datasets] for name in names}
    names = [name for name in names if any(pairs[name])]
    lines = [f"| | {' | '.join([reference, *names])} |", "|---|" + "---:|" * (len(names) + 1)]
    for i, dataset in enumerate(datasets):
        own = _loss(bench.runs(dataset, reference), TABLES[dataset])  # type: ignore[arg-type]  # it has runs
        cells = [_number(pair[0]) if (pair := pairs[name][i]) else "–" for name in names]
        lines.append(f"| {dataset} | {' | '.join([_number(own), *cells])} |")
    found = {name: np.array([pair for pair in pairs[name] if pair]) for name in names}
    ratios = [f"{_mean_ratio(found[name]):.3f}" for name in names]
    behind = [f"{(found[name][:, 0] > found[name][:, 1]).sum()} of {len(found[name])}" for name in names]
    lines.append(f"| *of the loss of {reference}* | {' | '.join(['1.000', *ratios])} |")
    lines.append(f"| *behind {reference}* | {' | '.join(['', *behind])} |")
    return "\n".join(lines) + "\n"


def _mean_ratio(pairs: NDArray[np.float64]) -> float:
    """Geometric mean of the ratios of losses; one below `LEAST_LOSS` says no more than that."""
    ours, theirs = np.maximum(pairs, LEAST_LOSS).T
    return float(np.exp(np.log(ours / theirs).mean()))


def _losses(bench: Bench, dataset: str, name: str, reference: str) -> tuple[float, float] | None:
    """The mean losses of a variant and of the reference where both were run."""
    ours, theirs = bench.runs(dataset, name), bench.runs(dataset, reference)
    common = ours.scores.keys() & theirs.scores.keys() if ours and theirs else set()
    if not common or ours is None or theirs is None:
        return None
    metric = TABLES[dataset]
    return _loss(ours, metric, common), _loss(theirs, metric, common)


def _loss(runs: Runs, metric: str, parts: Collection[Part] | None = None) -> float:
    score = Figure.of({part: score for part, score in runs.scores.items() if parts is None or part in parts}).mean
    return score if metric == "log_loss" else 1 - score


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
