"""The contract of partial_fit: the first call fixes the model, each call is one pass with the running optimiser."""

import pickle

import numpy as np
import pytest
import torch

from dnfnet import DNFNetClassifier, DNFNetRegressor, load
from dnfnet.exceptions import InvalidParameterError, InvalidTargetError, SchemaMismatchError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
LABELS = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
SMALL = {"n_formulas": 16, "batch_size": 64, "random_state": 0}


def weights(model):
    return {name: value.clone() for name, value in model.network_.state_dict().items()}


def test_each_call_is_one_pass_that_moves_the_weights():
    model = DNFNetClassifier(**SMALL).partial_fit(X, LABELS)
    first = weights(model)
    model.partial_fit(X, LABELS)
    moved = {name for name, value in weights(model).items() if not torch.equal(value, first[name])}
    assert {"block.weight", "block.bias", "head.weight", "head.bias"} <= moved
    assert model.n_iter_ == len(model.history_) == 2
    assert [row["epoch"] for row in model.history_] == [1, 2]


def test_many_calls_learn():
    model = DNFNetClassifier(**SMALL)
    for start in np.tile(np.arange(0, 300, 100), 20):
        model.partial_fit(X[start : start + 100], LABELS[start : start + 100], classes=["no", "yes"])
    assert model.score(X, LABELS) > 0.9


def test_the_optimiser_goes_on_where_it_was_also_after_a_pickle():
    straight = DNFNetClassifier(**SMALL).partial_fit(X, LABELS).partial_fit(X, LABELS).partial_fit(X, LABELS)
    pickled = DNFNetClassifier(**SMALL).partial_fit(X, LABELS).partial_fit(X, LABELS)
    pickled = pickle.loads(pickle.dumps(pickled)).partial_fit(X, LABELS)
    assert np.array_equal(pickled.predict_proba(X), straight.predict_proba(X))
    forgetful = DNFNetClassifier(**SMALL).partial_fit(X, LABELS).partial_fit(X, LABELS)
    del forgetful._stream["optimizer"]
    assert not np.array_equal(forgetful.partial_fit(X, LABELS).predict_proba(X), straight.predict_proba(X))


def test_classes_of_the_first_call_stay():
    model = DNFNetClassifier(**SMALL).partial_fit(X[:50], LABELS[:50], classes=["maybe", "no", "yes"])
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    with pytest.raises(InvalidTargetError, match=r"labels that the training rows do not have: \['never'\]"):
        model.partial_fit(X[:2], ["no", "never"])
    with pytest.raises(InvalidTargetError, match="classes must be the same in every call"):
        model.partial_fit(X[:2], ["no", "yes"], classes=["no", "yes"])


def test_a_batch_of_one_class_needs_classes():
    with pytest.raises(InvalidTargetError, match="only one class"):
        DNFNetClassifier(**SMALL).partial_fit(X[:3], ["no"] * 3)
    model = DNFNetClassifier(**SMALL).partial_fit(X[:3], ["no"] * 3, classes=["no", "yes"])
    assert model.predict_proba(X).shape == (300, 2)


def test_columns_of_the_first_call_stay():
    model = DNFNetRegressor(**SMALL).partial_fit(X, X[:, 0])
    with pytest.raises(SchemaMismatchError, match="X has 2 features, but DNFNet is expecting 3"):
        model.partial_fit(X[:, :2], X[:, 0])


def test_fit_after_partial_fit_starts_afresh():
    model = DNFNetClassifier(max_epochs=3, **SMALL)
    fresh = model.fit(X, LABELS).predict_proba(X)
    again = DNFNetClassifier(max_epochs=3, **SMALL).partial_fit(X[:, ::-1], LABELS).fit(X, LABELS)
    assert np.array_equal(again.predict_proba(X), fresh)
    assert again.n_iter_ == 3


def test_partial_fit_after_fit_goes_on_from_the_fitted_weights():
    model = DNFNetClassifier(max_epochs=40, **SMALL).fit(X, LABELS)
    before = model.score(X, LABELS)
    model.partial_fit(X, LABELS)
    assert model.n_iter_ == len(model.history_)
    assert model.score(X, LABELS) > before - 0.05


def test_partial_fit_of_every_kind_and_its_file(tmp_path):
    cases = [
        (DNFNetClassifier(**SMALL), np.column_stack([X[:, 0] > 0, X[:, 1] > 0])),
        (DNFNetRegressor(loss="quantile", **SMALL), X[:, 0]),
        (DNFNetRegressor(loss="poisson", **SMALL), (X[:, 0] > 0).astype(int)),
    ]
    for model, y in cases:
        model.partial_fit(X, y).partial_fit(X, y, sample_weight=np.arange(300))
        model.save(tmp_path / "model.dnfnet")
        loaded = load(tmp_path / "model.dnfnet")
        assert np.array_equal(loaded.predict(X), model.predict(X))
        assert loaded.partial_fit(X, y).n_iter_ == 3


def test_decay_and_rate_may_change_between_calls():
    model = DNFNetClassifier(weight_decay=0.3, **SMALL).partial_fit(X, LABELS)
    model.set_params(weight_decay=0.01, learning_rate=0.001).partial_fit(X, LABELS)
    groups = model._stream["optimizer"]["param_groups"]
    assert [(group["lr"], group["weight_decay"]) for group in groups] == [(0.001, 0.01), (0.001, 0.0)]
    with pytest.raises(InvalidParameterError, match="weight_decay can neither become 0"):
        model.set_params(weight_decay=0.0).partial_fit(X, LABELS)
    with pytest.raises(InvalidParameterError, match="shared_steps cannot change"):
        model.set_params(weight_decay=0.3, shared_steps=True).partial_fit(X, LABELS)


def test_a_time_limit_cuts_a_pass_short():
    model = DNFNetClassifier(time_limit=1e-9, **SMALL).partial_fit(X, LABELS)
    assert model.stop_reason_ == "time limit of 1e-09 s reached"
    assert {int(state["step"]) for state in model._stream["optimizer"]["state"].values()} == {1}
    assert DNFNetClassifier(**SMALL).partial_fit(X, LABELS).stop_reason_ == "partial_fit"


def test_a_first_call_that_fails_leaves_nothing():
    model = DNFNetClassifier(**SMALL)
    with pytest.raises(InvalidTargetError, match="inconsistent"):
        model.partial_fit(X, LABELS[:-1], classes=["no", "yes"])
    assert not [name for name in vars(model) if name.endswith("_")]


def test_balanced_classes_need_all_rows():
    with pytest.raises(InvalidParameterError, match="needs all rows at once"):
        DNFNetClassifier(class_weight="balanced").partial_fit(X, LABELS)


def test_class_weights_of_classes_that_a_batch_lacks():
    model = DNFNetClassifier(class_weight={"yes": 5.0}, **SMALL)
    only_no = LABELS == "no"
    model.partial_fit(X[only_no], LABELS[only_no], classes=["no", "yes"])
    model.partial_fit(X[only_no], LABELS[only_no])
    assert model.n_iter_ == 2
    with pytest.raises(InvalidParameterError, match="which are no labels of y"):
        model.set_params(class_weight={"oui": 5.0}).partial_fit(X, LABELS)


def test_classes_are_not_for_label_sets():
    with pytest.raises(InvalidParameterError, match="must be left out for several labels"):
        DNFNetClassifier(**SMALL).partial_fit(X, np.column_stack([X[:, 0] > 0, X[:, 1] > 0]), classes=[0, 1])


def test_the_kind_of_target_of_the_first_call_stays():
    sets = np.column_stack([X[:, 0] > 0, X[:, 1] > 0])
    with pytest.raises(InvalidTargetError, match=r"y should be a 1d array with a label per row"):
        DNFNetClassifier(**SMALL).partial_fit(X, LABELS).partial_fit(X, sets)
    with pytest.raises(InvalidTargetError, match="but 2 columns of labels in the fit"):
        DNFNetClassifier(**SMALL).partial_fit(X, sets).partial_fit(X, sets[:, 0])
