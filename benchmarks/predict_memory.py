"""Prediction of a large Parquet file by the command line: rows per second and the peak of resident memory.

    python benchmarks/predict_memory.py [--rows 10000000] [--n-formulas 256] [--folder DIR]

The file is a mixed table of random rows. The command runs as a process of its own, so the peak is its alone.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dnfnet import DNFNetClassifier
from dnfnet.table import write_table

PART = 200_000


def parts(n_rows: int) -> Iterator[dict[str, np.ndarray]]:
    """Columns of numbers, texts and truth values, a part of the file at a time."""
    rng = np.random.default_rng(0)
    cities = np.array([f"city {i}" for i in range(20)])
    for start in range(0, n_rows, PART):
        n = min(PART, n_rows - start)
        numbers = {f"x{i}": np.where(rng.random(n) < 0.02, np.nan, rng.normal(size=n)) for i in range(8)}
        yield {**numbers, "city": cities[rng.integers(0, 20, n)], "member": rng.random(n) < 0.5}


def fitted_model(n_formulas: int) -> DNFNetClassifier:
    """A model on a few of those rows; what it learned does not matter here."""
    (columns,) = parts(5000)
    y = np.nan_to_num(columns["x0"]) > 0
    return DNFNetClassifier(n_formulas=n_formulas, max_epochs=2, random_state=0).fit(pa.table(columns), y)


def run(command: list[str]) -> tuple[float, int]:
    """Seconds and peak resident bytes of a process."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peaks = [0]
    watcher = threading.Thread(target=watch, args=(process, peaks))
    watcher.start()
    code = process.wait()
    watcher.join()
    if code:
        raise SystemExit(f"{' '.join(command)} ended with code {code}")
    return time.perf_counter() - started, peaks[0]


def watch(process: subprocess.Popen[bytes], peaks: list[int]) -> None:
    """Keep the high-water mark that the kernel has of the process."""
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        marks = [int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")]
        peaks[0] = max([*peaks, *marks])
        time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--n-formulas", type=int, default=256)
    parser.add_argument("--folder", type=Path, help="where the files go (default: a temporary folder)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        fitted_model(args.n_formulas).save(folder / "model.dnfnet")
        n_rows = write_table(folder / "rows.parquet", parts(args.rows))
        files = [str(folder / name) for name in ("model.dnfnet", "rows.parquet", "out.parquet")]
        dnfnet = [sys.executable, "-m", "dnfnet.cli"]
        _, alone = run([*dnfnet, "describe", files[0]])
        seconds, peak = run([*dnfnet, "predict", *files[:2], "--out", files[2]])
        size = (folder / "rows.parquet").stat().st_size
        assert pq.read_metadata(files[2]).num_rows == n_rows
    print(f"{n_rows} rows ({size / 2**20:.0f} MiB): {seconds:.1f} s, {n_rows / seconds:.0f} rows/s, ", end="")
    print(f"peak resident memory {peak / 2**20:.0f} MiB, {alone / 2**20:.0f} MiB with the model and no rows")


if __name__ == "__main__":
    main()
