"""``dnfnet demo``: DNF-Net beside XGBoost and an FCN on a table that ships with scikit-learn."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from dnfnet.compat import require
from dnfnet.estimators import DNFNetClassifier
from dnfnet.exceptions import TrainingWarning
from dnfnet.table import TableEncoder, write_table
from dnfnet.training import METRICS, BinaryClassification, History, ProgressBar, TensorSource, Trainer

EXAMPLE = """example:
  dnfnet demo --out my-demo
"""
SEED = 0
SHOWN_METRICS = ("log_loss", "roc_auc", "accuracy")


class Split(NamedTuple):
    """Rows of a table with labels."""

    x: NDArray[np.float64]
    y: NDArray[np.int64]


class Result(NamedTuple):
    """What one model gave: probabilities of class 1 on the test rows, its curve of validation log-loss, seconds."""

    name: str
    probabilities: NDArray[np.float64]
    validation_curve: list[float]
    seconds: float


def register(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser("demo", help="train on a small table beside XGBoost and an FCN", epilog=EXAMPLE)
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("dnfnet-demo"), help="default: dnfnet-demo")
    parser.add_argument("--quiet", action="store_true", help="no progress bars")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Train three models on one split, print their scores and write everything to a folder."""
    drawing, xgboost = require("matplotlib.figure", "paper"), require("xgboost", "paper")
    warnings.filterwarnings("ignore", "Training was interrupted", TrainingWarning)  # it says that weights are kept
    train, valid, test = load_splits()
    print(
        f"breast cancer (scikit-learn): {train.x.shape[1]} columns; "
        f"{len(train.y)} training, {len(valid.y)} validation and {len(test.y)} test rows\n"
    )
    model = DNFNetClassifier(random_state=SEED, verbose=not args.quiet)
    results = [
        timed("DNF-Net", lambda: fit_dnfnet(model, train, valid, test)),
        timed("XGBoost", lambda: fit_xgboost(xgboost, train, valid, test)),
        timed("FCN", lambda: fit_fcn(train, valid, test, quiet=args.quiet)),
    ]
    print("\n" + score_table(results, test.y) + "\n")
    args.out.mkdir(parents=True, exist_ok=True)
    files = write_all(args.out, model, results, test.y, drawing.Figure)
    print("\n".join(f"{what:13}{path}" for what, path in files.items()))
    return 0


def load_splits() -> tuple[Split, Split, Split]:
    """60 % to train, 20 % to stop by, 20 % to test, with the same share of each class."""
    X, y = load_breast_cancer(return_X_y=True)
    rest, test, y_rest, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=SEED)
    train, valid, y_train, y_valid = train_test_split(rest, y_rest, test_size=0.25, stratify=y_rest, random_state=SEED)
    return Split(train, y_train), Split(valid, y_valid), Split(test, y_test)


def timed(name: str, fit: Callable[[], tuple[NDArray[np.float64], list[float]]]) -> Result:
    """Run one model with a clock."""
    started = time.perf_counter()
    probabilities, curve = fit()
    return Result(name, probabilities, curve, time.perf_counter() - started)


def fit_dnfnet(
    model: DNFNetClassifier, train: Split, valid: Split, test: Split
) -> tuple[NDArray[np.float64], list[float]]:
    """The estimator with its defaults."""
    model.fit(train.x, train.y, eval_set=valid)
    leave_if_interrupted(model.stop_reason_)
    return model.predict_proba(test.x)[:, 1], model.history_.column("valid_score")


def fit_xgboost(xgboost: Any, train: Split, valid: Split, test: Split) -> tuple[NDArray[np.float64], list[float]]:
    """XGBoost with its defaults, stopped by the validation rows."""
    model = xgboost.XGBClassifier(n_estimators=1000, early_stopping_rounds=50, eval_metric="logloss", random_state=SEED)
    model.fit(train.x, train.y, eval_set=[valid], verbose=False)
    return model.predict_proba(test.x)[:, 1].astype(np.float64), model.evals_result()["validation_0"]["logloss"]


def fit_fcn(train: Split, valid: Split, test: Split, *, quiet: bool) -> tuple[NDArray[np.float64], list[float]]:
    """The paper's FCN, [128, 64] with dropout, by the same training rules."""
    from dnfnet.paper.networks import FCN

    torch.manual_seed(SEED)
    encoder, objective = TableEncoder().fit(train.x), BinaryClassification()
    x_train, x_valid, x_test = (torch.from_numpy(encoder.transform(part.x)) for part in (train, valid, test))
    net = FCN(x_train.shape[1], 1, widths=(128, 64), dropout=0.25, generator=torch.Generator().manual_seed(SEED))
    trainer = Trainer(net, objective, learning_rate=0.005, callbacks=[] if quiet else [ProgressBar("FCN")])
    trainer.fit(TensorSource(x_train, torch.from_numpy(train.y)), TensorSource(x_valid, torch.from_numpy(valid.y)))
    leave_if_interrupted(trainer.stop_reason)
    with torch.no_grad():
        return objective.predictions(net(x_test)), trainer.history.column("valid_score")


def leave_if_interrupted(stop_reason: str | None) -> None:
    """Pass Ctrl-C on: training keeps the best weights and ends, but a comparison cut short says nothing."""
    if stop_reason == "interrupted":
        raise KeyboardInterrupt


def score_table(results: list[Result], y: NDArray[np.int64]) -> str:
    """Test scores, a line per model."""
    header = f"{'test score':10}" + "".join(f"{name:>12}" for name in SHOWN_METRICS) + f"{'seconds':>10}"
    lines = [header, "-" * len(header)]
    for result in results:
        scores = [METRICS[name](result.probabilities, y) for name in SHOWN_METRICS]
        lines.append(f"{result.name:10}" + "".join(f"{s:12.4f}" for s in scores) + f"{result.seconds:10.1f}")
    return "\n".join(lines)


def write_all(
    folder: Path, model: DNFNetClassifier, results: list[Result], y: NDArray[np.int64], new_figure: Any
) -> dict[str, Path]:
    """Model, predictions and curves; where each of them is."""
    files = {
        "model": folder / "model.dnfnet",
        "predictions": folder / "predictions.csv",
        "curves": folder / "training-curves.png",
    }
    model.save(files["model"])
    columns = {f"p({result.name})": result.probabilities for result in results}
    write_table(files["predictions"], [{"truth": y, **columns}])
    draw_curves(files["curves"], model.history_, model.best_epoch_, results, new_figure)
    return files


def draw_curves(path: Path, history: History, best_epoch: int, results: list[Result], new_figure: Any) -> None:
    """DNF-Net's training loss and validation log-loss on the left, the three validation curves on the right."""
    figure = new_figure(figsize=(10, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(history.column("epoch"), history.column("train_loss"), label="training loss")
    left.plot(history.column("epoch"), history.column("valid_score"), label="validation log-loss")
    left.axvline(best_epoch, color="grey", linestyle=":", label=f"best epoch, {best_epoch}")
    left.set(title="DNF-Net", xlabel="epoch", yscale="log")
    for result in results:
        right.plot(range(1, len(result.validation_curve) + 1), result.validation_curve, label=result.name)
    right.set(title="validation log-loss", xlabel="epoch (trees for XGBoost)", yscale="log")
    for axes in (left, right):
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
