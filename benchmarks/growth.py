"""How time and memory of a training step grow with rows, features and formulas: a figure for docs/benchmarks.md.

python benchmarks/growth.py docs/images/kernel-growth.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt

from measure import measure_apart

USUAL = {"rows": 2048, "formulas": 512, "features": 32}
RANGES = {
    "rows": [512, 2048, 8192],
    "features": [16, 64, 256],
    "formulas": [128, 512, 2048],
}
LABELS = {"fused": "fused kernel", "torch": "torch eager"}


def measure(backend: str, varied: str) -> tuple[list[float], list[float]]:
    """Seconds and peak megabytes along one range; time and memory from runs of their own."""
    seconds, peaks = [], []
    for value in RANGES[varied]:
        size = {**USUAL, varied: value}
        sizes = size["rows"], size["formulas"], size["features"]
        seconds.append(measure_apart(backend, *sizes, returning=False)[0])
        peaks.append(measure_apart(backend, *sizes)[1])
        print(f"{backend:>6} {size}: {seconds[-1] * 1e3:.1f} ms, {peaks[-1]:.0f} MB", flush=True)
    return seconds, peaks


def main(path: Path) -> None:
    figure, axes = plt.subplots(2, 3, figsize=(10, 5.4), sharey="row", layout="constrained")
    for column, varied in enumerate(RANGES):
        for backend, label in LABELS.items():
            for row, values in enumerate(measure(backend, varied)):
                axes[row, column].loglog(RANGES[varied], values, marker="o", label=label)
        axes[1, column].set_xlabel(varied)
        for row in range(2):
            axes[row, column].set_xticks(RANGES[varied], [str(value) for value in RANGES[varied]], minor=False)
            axes[row, column].minorticks_off()
            axes[row, column].grid(alpha=0.3)
    axes[0, 0].set_ylabel("processor seconds a step")
    axes[1, 0].set_ylabel("peak memory, MB")
    axes[0, 0].legend()
    usual = ", ".join(f"{value} {name}" for name, value in USUAL.items())
    figure.suptitle(f"Training step of the paper's preset; where nothing else is said: {usual}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", metavar="PNG", type=Path, help="the file to draw to")
    main(parser.parse_args().figure)
