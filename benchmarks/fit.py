"""How long a fit with every default takes on a made table, beside XGBoost with early stopping.

    python benchmarks/fit.py [--rows 10000] [--columns 30] [--classes 5] [--rounds 1]

Wall and processor seconds on as many threads as torch has; the best round counts. ``--classes 0`` is a real target.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch is loaded: idle threads sleep

import numpy as np
import torch
from sklearn.datasets import make_classification, make_regression
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier, XGBRegressor

from dnfnet import DNFNetClassifier, DNFNetRegressor

Arrays = tuple[np.ndarray, np.ndarray]


def made(rows: int, columns: int, classes: int) -> Arrays:
    """A table of numbers, half of which tell something of the target."""
    if classes == 0:
        return make_regression(rows, columns, n_informative=columns // 2, random_state=0)
    return make_classification(rows, columns, n_informative=columns // 2, n_classes=classes, random_state=0)


def fit_dnfnet(X: np.ndarray, y: np.ndarray, classes: int) -> None:
    (DNFNetClassifier if classes else DNFNetRegressor)(random_state=0).fit(X, y)


def fit_xgboost(X: np.ndarray, y: np.ndarray, classes: int) -> None:
    X, X_stop, y, y_stop = train_test_split(X, y, test_size=0.1, random_state=0)
    kind = XGBClassifier if classes else XGBRegressor
    kind(n_estimators=2000, early_stopping_rounds=50, n_jobs=torch.get_num_threads()).fit(
        X, y, eval_set=[(X_stop, y_stop)], verbose=False
    )


def seconds(run: Callable[[], None]) -> tuple[float, float]:
    """Wall and processor seconds of a call."""
    wall, processor = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - processor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--classes", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    X, y = made(options.rows, options.columns, options.classes)
    print(f"{options.rows} x {options.columns}, {options.classes} classes, {torch.get_num_threads()} threads")
    for name, fit in (("dnfnet", fit_dnfnet), ("xgboost", fit_xgboost)):
        rounds = [seconds(lambda fit=fit: fit(X, y, options.classes)) for _ in range(options.rounds)]
        wall, processor = np.min(rounds, axis=0)
        print(f"{name:8} {wall:8.1f} s wall {processor:8.1f} s processor")


if __name__ == "__main__":
    main()
