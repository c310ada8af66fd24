"""The rivals on the same rows: each takes categories in its own way, and stops by the data set's score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.accuracy.data import Rows, joined
from benchmarks.accuracy.models import Fit, Fitted, Job
from dnfnet.compat import require
from dnfnet.estimators.split import validation_split
from dnfnet.table.single_values import MOST_CODES
from dnfnet.training.metrics import METRICS

EXTRA = "accuracy"
PACKAGES = {
    "xgboost": "xgboost",
    "lightgbm": "lightgbm",
    "catboost": "catboost",
    "realmlp": "pytabkit",
    "tabm": "pytabkit",
}
# HistGradientBoosting takes no more.
_MAX_CATEGORIES = 255


@dataclass(frozen=True)
class Categories:
    """Texts, and codes if asked for, as categories, those of the training rows: what is new later is missing."""

    types: dict[str, pd.CategoricalDtype]

    @classmethod
    def learn(cls, X: pd.DataFrame, *, codes: bool = False) -> Categories:
        """Find the columns of texts, with ``codes`` also of whole numbers that may be names, and their values."""
        texts = {name for name in X if not pd.api.types.is_numeric_dtype(X[name])}
        chosen = [name for name in X if name in texts or (codes and _may_be_codes(X[name]))]
        return cls({name: pd.CategoricalDtype(np.unique(X[name].dropna().astype(object))) for name in chosen})

    def __call__(self, X: pd.DataFrame) -> pd.DataFrame:
        """The same table with these columns as categories."""
        # Through None, because a value outside of the categories is to be missing without a warning.
        known = {name: X[name].astype(object).where(X[name].isin(t.categories), None) for name, t in self.types.items()}
        return X.assign(**{name: values.astype(self.types[name]) for name, values in known.items()})

    @property
    def large(self) -> list[str]:
        """Columns with more categories than HistGradientBoosting takes."""
        return [name for name, t in self.types.items() if len(t.categories) > _MAX_CATEGORIES]


def _may_be_codes(column: pd.Series) -> bool:
    values = column.dropna().unique()
    return 2 < len(values) <= MOST_CODES and bool((values == np.floor(values)).all())


def fit_xgboost(job: Job) -> Fitted:
    """XGBoost with categories of its own kind; ``codes`` makes them of whole numbers, too."""
    xgboost = require("xgboost", EXTRA)
    kind = xgboost.XGBClassifier if job.classes else xgboost.XGBRegressor
    metric = {"roc_auc": "auc", "log_loss": "mlogloss", "r2": "rmse"}[job.split.metric]
    parameters = dict(job.parameters)
    to_table, train, validation = _tables(job, codes=parameters.pop("codes", False))
    model = kind(**parameters, enable_categorical=True, eval_metric=metric, n_jobs=job.threads, random_state=job.seed)
    model.fit(train, job.split.train.y, eval_set=[(validation, job.split.validation.y)], verbose=False)
    predict = model.predict_proba if job.classes else model.predict
    return Fitted(lambda X: predict(to_table(X)), {"best_tree": model.best_iteration + 1})


def fit_lightgbm(job: Job) -> Fitted:
    """LightGBM with categories of its own kind."""
    lightgbm = require("lightgbm", EXTRA)
    kind = lightgbm.LGBMClassifier if job.classes else lightgbm.LGBMRegressor
    metric = {"roc_auc": "auc", "log_loss": "multi_logloss", "r2": "rmse"}[job.split.metric]
    parameters = dict(job.parameters)
    stop = lightgbm.early_stopping(parameters.pop("early_stopping_rounds"), verbose=False)
    to_table, train, validation = _tables(job)
    model = kind(**parameters, metric=metric, n_jobs=job.threads, random_state=job.seed, verbosity=-1)
    model.fit(train, job.split.train.y, eval_X=validation, eval_y=job.split.validation.y, callbacks=[stop])
    predict = model.predict_proba if job.classes else model.predict
    return Fitted(lambda X: predict(to_table(X)), {"best_tree": model.best_iteration_})


class _Watch:
    """Ends CatBoost's training, which runs outside of Python, when the time is up."""

    def __init__(self, job: Job) -> None:
        self.clock = job.clock

    def after_iteration(self, info: Any) -> bool:  # noqa: ARG002
        """Whether to go on."""
        try:
            self.clock.check()
        except Exception:
            return False  # CatBoost lets no exception through; the trial looks at the clock again
        return True


def fit_catboost(job: Job) -> Fitted:
    """CatBoost, which wants texts for categories and none of them missing."""
    catboost = require("catboost", EXTRA)
    kind = catboost.CatBoostClassifier if job.classes else catboost.CatBoostRegressor
    metric = {"roc_auc": "AUC", "log_loss": "MultiClass", "r2": "RMSE"}[job.split.metric]
    texts = list(Categories.learn(job.split.train.X).types)

    def to_table(X: pd.DataFrame) -> pd.DataFrame:
        return X.assign(**{name: X[name].astype(object).where(X[name].notna(), "missing") for name in texts})

    model = kind(
        **job.parameters,
        eval_metric=metric,
        cat_features=texts,
        thread_count=job.threads,
        random_seed=job.seed,
        verbose=False,
        allow_writing_files=False,
    )
    train, validation = job.split.train, job.split.validation
    eval_set = (to_table(validation.X), validation.y)
    model.fit(to_table(train.X), train.y, eval_set=eval_set, callbacks=[_Watch(job)])
    predict = model.predict_proba if job.classes else model.predict
    return Fitted(lambda X: predict(to_table(X)), {"best_tree": model.get_best_iteration() + 1})


def fit_histogram(job: Job) -> Fitted:
    """HistGradientBoosting without the columns of too many categories, cut at its best number of trees.

    It stops by its loss on the validation rows, but keeps the trees after the best one.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if job.classes else HistGradientBoostingRegressor
    categories, train, validation = _tables(job)
    too_many = categories.large
    train, validation = train.drop(columns=too_many), validation.drop(columns=too_many)
    model = kind(**job.parameters, early_stopping=True, random_state=job.seed)
    model.fit(train, job.split.train.y, X_val=validation, y_val=job.split.validation.y)
    staged = model.staged_predict_proba if job.classes else model.staged_predict
    best = _best_stage(staged(validation), job)

    def predict(X: pd.DataFrame) -> NDArray:
        return next(islice(staged(categories(X).drop(columns=too_many)), best, None))

    return Fitted(predict, {"best_tree": best + 1})


def _best_stage(stages: Iterator[NDArray], job: Job) -> int:
    metric = METRICS[job.split.metric]
    sign = -1 if metric.greater_is_better else 1
    two = job.split.n_classes == 2
    scores = [sign * metric(p[:, 1] if two else p, job.split.validation.y) for p in stages]
    return int(np.argmin(scores))


def fit_realmlp(job: Job) -> Fitted:
    """RealMLP with tuned defaults."""
    return _fit_pytabkit("RealMLP_TD", job)


def fit_tabm(job: Job) -> Fitted:
    """TabM with its defaults."""
    return _fit_pytabkit("TabM_D", job)


def _fit_pytabkit(name: str, job: Job) -> Fitted:
    """A network of pytabkit; it takes no missing numbers, so they become the median of the training rows."""
    pytabkit = require("pytabkit", EXTRA)
    kind = getattr(pytabkit, f"{name}_{'Classifier' if job.classes else 'Regressor'}")
    metric = {"roc_auc": "1-auc_ovr", "log_loss": "cross_entropy", "r2": "rmse"}[job.split.metric]
    categories, train, validation = _tables(job)
    medians = job.split.train.X.median(numeric_only=True)
    model = kind(**job.parameters, device="cpu", n_threads=job.threads, random_state=job.seed, val_metric_name=metric)
    held_out = {"X_val": validation.fillna(medians), "y_val": job.split.validation.y}
    model.fit(train.fillna(medians), job.split.train.y, **held_out)
    predict = model.predict_proba if job.classes else model.predict
    return Fitted(lambda X: predict(categories(X).fillna(medians)))


def fit_bagged(job: Job, *, fit: Fit) -> Fitted:
    """``n_bags`` models on training and validation rows, of which each sets an eighth aside to stop by, averaged."""
    parameters, random = dict(job.parameters), np.random.RandomState(job.seed)
    rows = joined(job.split.train, job.split.validation)
    models = []
    for seed in range(job.seed, job.seed + parameters.pop("n_bags")):
        held_out = validation_split(len(rows.y), 1 / 8, random, rows.y if job.classes else None)
        train, validation = (Rows(rows.X[part].reset_index(drop=True), rows.y[part]) for part in (~held_out, held_out))
        split = replace(job.split, train=train, validation=validation)
        models.append(fit(replace(job, parameters=parameters, split=split, seed=seed)))
    return Fitted(lambda X: np.mean([model.predict(X) for model in models], axis=0))


def _tables(job: Job, *, codes: bool = False) -> tuple[Categories, pd.DataFrame, pd.DataFrame]:
    """What makes texts categories, and the training and validation rows with them."""
    categories = Categories.learn(job.split.train.X, codes=codes)
    return categories, categories(job.split.train.X), categories(job.split.validation.X)


FITS: dict[str, Fit] = {
    "xgboost": fit_xgboost,
    "lightgbm": fit_lightgbm,
    "catboost": fit_catboost,
    "histgradientboosting": fit_histogram,
    "realmlp": fit_realmlp,
    "tabm": fit_tabm,
}
FITS |= {f"{name}-bagged": partial(fit_bagged, fit=FITS[name]) for name in ("xgboost", "lightgbm", "catboost")}
PACKAGES |= {name: PACKAGES[name.removesuffix("-bagged")] for name in FITS if name.endswith("-bagged")}
