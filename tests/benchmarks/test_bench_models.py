"""What DNF-Net and its rivals are fitted on."""

import math

import numpy as np
import pandas as pd
import pytest

from benchmarks.accuracy.data import load_split
from benchmarks.accuracy.models import Fitted, Job, evaluate
from benchmarks.accuracy.rivals import Categories, fit_bagged
from benchmarks.accuracy.variants import find_variant
from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.paper.clock import Clock
from dnfnet.paper.sources import DataSources
from dnfnet.paper.trial import Trial


def test_categories_are_those_of_the_training_rows():
    categories = Categories.learn(pd.DataFrame({"t": ["b", "a", None], "n": [1, 2, 3]}))
    later = categories(pd.DataFrame({"t": ["a", "new", None], "n": [1, 2, 3]}))
    assert later["t"].cat.categories.tolist() == ["a", "b"]
    assert later["t"].cat.codes.tolist() == [0, -1, -1]
    assert later["n"].tolist() == [1, 2, 3]


def test_codes_are_categories_where_asked_for():
    frame = pd.DataFrame(
        {"code": [1.0, 2, 3, np.nan], "two": [0, 1, 0, 1], "part": [0.5, 1, 2, 3], "text": list("abab")}
    )
    assert list(Categories.learn(frame).types) == ["text"]
    assert list(Categories.learn(frame, codes=True).types) == ["code", "text"]
    assert Categories.learn(frame, codes=True)(frame)["code"].cat.categories.tolist() == [1, 2, 3]


@pytest.mark.parametrize(("dataset", "kind"), [("titanic", DNFNetClassifier), ("diamonds", DNFNetRegressor)])
def test_bagged_networks_are_fitted_on_validation_rows_too_and_never_on_test_rows(here, monkeypatch, dataset, kind):
    split = load_split(dataset, 0, DataSources.of(), here / "parts.npz")
    seen, fit = {}, kind.fit

    def spied(self, X, y, **options):
        seen.update(names=list(X["Name"]), y=list(y), options=options)
        return fit(self, X, y, **options)

    monkeypatch.setattr(kind, "fit", spied)
    (config,) = find_variant("bagged-5").configs(dataset)
    assert config["parameters"]["n_ensemble"] == 5
    config["parameters"] |= {"n_formulas": 4, "max_epochs": 2}
    outcome = evaluate(Trial(dataset, "dnf-net-own-split", config, 0, 1), split, Clock())
    assert math.isfinite(outcome["test"])
    assert outcome["epochs"] == 10  # two for each network
    parts = (split.train, split.validation)
    assert seen == {
        "names": [name for part in parts for name in part.X["Name"]],
        "y": [y for part in parts for y in part.y],
        "options": {},
    }


def test_bagged_rivals_have_the_rows_that_bagged_networks_have(here):
    split = load_split("titanic", 0, DataSources.of(), here / "parts.npz")
    jobs = []

    def fit(job):
        jobs.append(job)
        return Fitted(lambda X: np.full(len(X), float(job.seed)))

    fitted = fit_bagged(Job({"n_bags": 4, "depth": 2}, split, 1, 1, Clock()), fit=fit)
    assert fitted.predict(split.test.X).tolist() == [2.5] * len(split.test.y)  # of seeds 1 to 4

    def rows(split):
        parts = (split.train, split.validation)
        return sorted((name, y) for part in parts for name, y in zip(part.X["Name"], part.y, strict=True))

    for job in jobs:
        assert rows(job.split) == rows(split)
        assert len(job.split.validation.y) == round(len(rows(split)) / 8)
        assert job.parameters == {"depth": 2}
    assert len({frozenset(job.split.validation.X["Name"]) for job in jobs}) == 4


def test_bagged_boosting_scores_a_table(here):
    split = load_split("titanic", 0, DataSources.of(), here / "parts.npz")
    trial = Trial("titanic", "xgboost-bagged", find_variant("xgboost-bagged-5").configs("titanic")[0], 0, 1)
    assert evaluate(trial, split, Clock())["test"] > 0.5


@pytest.mark.parametrize("model", ["lightgbm", "catboost"])
@pytest.mark.parametrize("dataset", ["titanic", "diamonds"])
def test_rivals_of_the_extra_take_the_tables(here, model, dataset):
    pytest.importorskip(model)
    split = load_split(dataset, 0, DataSources.of(), here / "parts.npz")
    trial = Trial(dataset, model, find_variant(model).configs(dataset)[0], 0, 1)
    outcome = evaluate(trial, split, Clock())
    assert math.isfinite(outcome["test"])
    assert outcome["best_tree"] >= 1
