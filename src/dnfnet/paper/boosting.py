"""XGBoost as the paper ran it: histogram trees, at most 2500, stopped 50 after the best (Appendix D.2)."""

from __future__ import annotations

from typing import Any

from dnfnet.compat import require
from dnfnet.paper.clock import Clock
from dnfnet.paper.outcome import Predictions
from dnfnet.paper.split import Rows, Split
from dnfnet.paper.trial import Trial

N_TREES = 2500
_PATIENCE = 50


def train_xgboost(trial: Trial, split: Split, clock: Clock, threads: int = 1) -> Predictions:
    """Boost until the validation score has not improved for 50 trees, and predict with the best number."""
    xgboost = require("xgboost", "paper")
    train, validation, test = (_matrix(xgboost, part, threads) for part in (split.train, split.validation, split.test))
    model = xgboost.train(
        _parameters(trial, split, threads),
        train,
        num_boost_round=N_TREES,
        evals=[(validation, "validation")],
        early_stopping_rounds=_PATIENCE,
        callbacks=[_watch(xgboost, clock)],
        verbose_eval=False,
    )
    best = (0, model.best_iteration + 1)
    return Predictions(
        validation=model.predict(validation, iteration_range=best),
        test=model.predict(test, iteration_range=best),
        facts={"trees": model.num_boosted_rounds(), "best_tree": model.best_iteration + 1},
    )


def _parameters(trial: Trial, split: Split, threads: int) -> dict[str, Any]:
    binary = split.n_classes == 2
    task = {"objective": "binary:logistic"} if binary else {"objective": "multi:softprob", "num_class": split.n_classes}
    metric = {"roc_auc": "auc", "accuracy": "error", "log_loss": "logloss" if binary else "mlogloss"}[split.metric]
    fixed = {"tree_method": "hist", "eval_metric": metric, "seed": trial.seed, "nthread": threads, "verbosity": 0}
    return {**task, **fixed, **trial.config}


def _matrix(xgboost: Any, rows: Rows, threads: int) -> Any:
    return xgboost.DMatrix(rows.x, label=rows.y, nthread=threads)


def _watch(xgboost: Any, clock: Clock) -> Any:
    """Return a callback that lets the clock end a trial between two trees."""

    class Watch(xgboost.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:  # noqa: ARG002
            clock.check()
            return False

    return Watch()
