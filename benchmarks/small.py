"""How good the defaults are on small tables: those that scikit-learn brings, and made ones. No file is needed.

    python -m benchmarks.small [--tables wine friedman1] [--splits 5] [--variant no-masks beta=None]

Each split takes 70% of the rows to learn from. Losses are log-loss, or 1 - R2 of a real target, as means over the
splits; the line below them has the geometric mean of what they are of the defaults' losses.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import train_test_split
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from tqdm import tqdm

from benchmarks.accuracy.variants import Variant, parse_variant
from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.exceptions import InvalidParameterError

Arrays = tuple[np.ndarray, np.ndarray]


class Table(NamedTuple):
    """A way to get a table, and whether its target is real."""

    rows: Callable[[], Arrays]
    real: bool = False


def exclusive_or() -> Arrays:
    """Two of six columns matter, each by a threshold; a tenth of the labels is wrong."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(700, 6))
    return X, (X[:, 0] > 0.5) ^ (X[:, 1] > 0.3) ^ (rng.random(700) < 0.1)


def useless() -> Arrays:
    """Four of 40 columns matter, two of them by their product; the labels are drawn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 40))
    logit = 4 * np.sin(2 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + 3 * (X[:, 3] > 0) - 1.5
    return X, rng.random(1500) < 1 / (1 + np.exp(-logit))


def wide() -> Arrays:
    """Four of 300 columns matter, in 500 rows; the labels are drawn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 300))
    return X, rng.random(500) < 1 / (1 + np.exp(-1.5 * (1.5 * X[:, 0] + X[:, 1] - X[:, 2] + (X[:, 3] > 0))))


def heavy_tails() -> Arrays:
    """Lognormal columns, three of eight matter; noise of Student's t."""
    rng = np.random.default_rng(0)
    X = rng.lognormal(sigma=2, size=(700, 8))
    return X, np.log(X[:, 0] * X[:, 1] + 1) + 0.3 * (X[:, 2] > 2) + 0.3 * rng.standard_t(3, size=700)


def linear() -> Arrays:
    """All of 30 columns matter, linearly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 30))
    return X, X @ rng.normal(size=30) + 3 * rng.normal(size=500)


def ten_targets() -> Arrays:
    """Ten real targets, each another sum of the same twelve smooth functions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 12))
    hidden = np.tanh(X @ rng.normal(size=(12, 12)))
    return X, hidden @ rng.normal(size=(12, 10)) + 0.3 * rng.normal(size=(1500, 10))


TABLES = {
    "breast_cancer": Table(lambda: datasets.load_breast_cancer(return_X_y=True)),
    "wine": Table(lambda: datasets.load_wine(return_X_y=True)),
    "iris": Table(lambda: datasets.load_iris(return_X_y=True)),
    "clusters": Table(lambda: datasets.make_classification(700, 20, n_informative=8, n_classes=4, random_state=0)),
    "digits": Table(lambda: datasets.load_digits(return_X_y=True)),
    "ten_kinds": Table(lambda: datasets.make_classification(1500, 20, n_informative=10, n_classes=10, random_state=0)),
    "hastie": Table(lambda: datasets.make_hastie_10_2(1500, random_state=0)),
    "exclusive_or": Table(exclusive_or),
    "useless": Table(useless),
    "wide": Table(wide),
    "diabetes": Table(lambda: datasets.load_diabetes(return_X_y=True), real=True),
    "friedman1": Table(lambda: datasets.make_friedman1(700, noise=1, random_state=0), real=True),
    "friedman1_wide": Table(lambda: datasets.make_friedman1(1500, 40, noise=1, random_state=0), real=True),
    "sparse": Table(lambda: datasets.make_regression(1000, 100, noise=20, random_state=0), real=True),
    "friedman2": Table(lambda: datasets.make_friedman2(700, noise=50, random_state=0), real=True),
    "heavy_tails": Table(heavy_tails, real=True),
    "linear": Table(linear, real=True),
    "ten_targets": Table(ten_targets, real=True),
}


def contenders(real: bool, variants: Sequence[Variant]) -> dict[str, Any]:
    """The defaults, their variants, and what scikit-learn has for such a target."""
    kind = DNFNetRegressor if real else DNFNetClassifier
    own = {variant.name: kind(**variant.parameters) for variant in (Variant("default"), *variants)}
    rivals = (
        {"boosting": HistGradientBoostingRegressor(), "forest": RandomForestRegressor(), "linear": RidgeCV()}
        if real
        else {
            "boosting": HistGradientBoostingClassifier(),
            "forest": RandomForestClassifier(),
            "linear": LogisticRegression(max_iter=2000),
        }
    )
    return {**own, **rivals, "linear": make_pipeline(StandardScaler(), rivals["linear"])}


def loss(model: Any, table: Table, split: int) -> float:
    """The loss of a fresh copy of the model on the rows that it did not learn from."""
    X, y = table.rows()
    train, test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, random_state=split, stratify=None if table.real else y
    )
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=split)
    if y.ndim == 2 and not get_tags(model).target_tags.multi_output:
        model = MultiOutputRegressor(model)
    model.fit(train, y_train)
    return 1 - r2_score(y_test, model.predict(test)) if table.real else log_loss(y_test, model.predict_proba(test))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), metavar="NAME")
    parser.add_argument("--splits", type=int, default=5, metavar="N")
    parser.add_argument("--variant", nargs="+", action="append", default=[], metavar=("NAME", "key=value"))
    options = parser.parse_args()
    try:
        variants = [parse_variant(words) for words in options.variant]
        names = list(contenders(True, variants))
    except (InvalidParameterError, TypeError) as error:
        parser.error(str(error))
    if options.splits < 1 or len(names) != len(contenders(True, [])) + len(variants):
        parser.error("--splits must be at least 1, and a --variant must have a name of its own")
    losses = np.empty((len(options.tables), len(names), options.splits))
    seconds = np.zeros(len(names))
    with tqdm(total=losses.size, unit="fit") as bar:
        for i, table in enumerate(TABLES[name] for name in options.tables):
            for j, model in enumerate(contenders(table.real, variants).values()):
                for split in range(options.splits):
                    started = time.process_time()
                    losses[i, j, split] = loss(model, table, split)
                    seconds[j] += time.process_time() - started
                    bar.update()
    means = losses.mean(axis=2)
    ratios = np.exp(np.log(means / means[:, :1]).mean(axis=0))
    print(f"| | {' | '.join(names)} |")
    print("|---|" + "---:|" * len(names))
    for name, row in zip(options.tables, means, strict=True):
        print(f"| {name} | {' | '.join(f'{value:.3f}' for value in row)} |")
    print(f"| *of the default's* | {' | '.join(f'{ratio:.3f}' for ratio in ratios)} |")
    fits = len(options.tables) * options.splits
    print(f"| *processor seconds a fit* | {' | '.join(f'{second / fits:.2f}' for second in seconds)} |")


if __name__ == "__main__":
    main()
