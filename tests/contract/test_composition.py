"""The estimators inside scikit-learn's own tools."""

import copy
import pickle

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.ensemble import VotingClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dnfnet import DNFNetClassifier, DNFNetRegressor

SMALL = {"n_formulas": 16, "max_epochs": 30, "random_state": 0}
X, NUMBERS = make_classification(n_samples=300, n_features=4, n_redundant=0, class_sep=2, random_state=0)
LABELS = np.array(["no", "yes"])[NUMBERS]


def test_clone_takes_every_parameter_and_nothing_fitted():
    model = DNFNetClassifier(class_weight={"no": 2.0}, datetimes="expand", extra_columns="ignore", **SMALL)
    model.fit(X, LABELS)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "network_")
    assert np.array_equal(twin.fit(X, LABELS).predict_proba(X), model.predict_proba(X))


def test_cross_validation_by_roc_auc_with_text_labels():
    scores = cross_val_score(DNFNetClassifier(**SMALL), X, LABELS, scoring="roc_auc", cv=3)
    assert scores.min() > 0.9


def test_grid_search_in_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), DNFNetClassifier(**SMALL))
    search = GridSearchCV(pipeline, {"dnfnetclassifier__n_formulas": [2, 16]}, cv=2, scoring="roc_auc")
    search.fit(X, LABELS)
    assert search.best_score_ > 0.9
    assert search.cv_results_["mean_test_score"].shape == (2,)


def test_calibration_and_voting():
    calibrated = CalibratedClassifierCV(DNFNetClassifier(**SMALL), cv=2).fit(X, LABELS)
    vote = VotingClassifier([("dnf", DNFNetClassifier(**SMALL)), ("lr", LogisticRegression())], voting="soft")
    for model in (calibrated, vote.fit(X, LABELS)):
        assert model.score(X, LABELS) > 0.9
        assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


def test_set_output_hands_named_columns_to_the_model():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    scaler = ColumnTransformer([("scaled", StandardScaler(), ["a", "b"])], remainder="passthrough")
    pipeline = make_pipeline(scaler, DNFNetClassifier(**SMALL)).set_output(transform="pandas")
    pipeline.fit(frame, LABELS)
    assert pipeline[-1].feature_names_in_.tolist() == ["scaled__a", "scaled__b", "remainder__c", "remainder__d"]
    assert pipeline[-1].schema_["scaled__a"].kind == "numeric"


def test_metadata_routing_brings_sample_weight_to_fit():
    weight = np.where(NUMBERS == 1, 1.0, 0.01)
    with sklearn.config_context(enable_metadata_routing=True):
        model = DNFNetClassifier(**SMALL).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model)
        routed = pipeline.fit(X, LABELS, sample_weight=weight).predict_proba(X)
    direct = DNFNetClassifier(**SMALL).fit(StandardScaler().fit_transform(X), LABELS, sample_weight=weight)
    assert np.array_equal(routed, direct.predict_proba(StandardScaler().fit_transform(X)))


def test_permutation_importance_finds_the_column_that_matters():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 3))
    model = DNFNetRegressor(**SMALL).fit(table, 3 * table[:, 1])
    importance = permutation_importance(model, table, 3 * table[:, 1], n_repeats=2, random_state=0)
    assert importance.importances_mean.argmax() == 1


@pytest.mark.parametrize("copied", ["pickle", "joblib", "deepcopy"])
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (DNFNetClassifier(**SMALL), LABELS),
        (DNFNetClassifier(**SMALL), np.column_stack([NUMBERS, 1 - NUMBERS, X[:, 0] > 0])),
        (DNFNetRegressor(loss="quantile", **SMALL), X[:, 0]),
        (DNFNetRegressor(loss="poisson", **SMALL), NUMBERS),
    ],
    ids=["labels", "label sets", "quantiles", "counts"],
)
def test_copies_predict_the_same_bits(copied, model, y, tmp_path):
    model = clone(model).fit(X, y)
    if copied == "joblib":
        joblib.dump(model, tmp_path / "model.joblib")
        twin = joblib.load(tmp_path / "model.joblib")
    else:
        twin = copy.deepcopy(model) if copied == "deepcopy" else pickle.loads(pickle.dumps(model))
    assert np.array_equal(twin.predict(X), model.predict(X))
    assert twin.history_ == model.history_
