"""Tables of more than 128 columns: what tells nothing of the target is left out, and the rest has fewer pieces."""

import numpy as np
import pandas as pd
import pytest

import dnfnet
from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.estimators.settings import choose_settings
from dnfnet.table import telling_columns

SMALL = {"n_formulas": 8, "max_epochs": 2, "random_state": 0}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 200))
Y = X[:, 3] + 0.1 * RNG.normal(size=300) > 0


def used(model):
    return [i for i, column in enumerate(model.schema_) if column.kind != "unused"]


def test_a_fit_leaves_out_what_tells_nothing_and_predicts_without_it():
    model = DNFNetClassifier(**SMALL).fit(X, Y)
    assert len(used(model)) == 128
    assert 3 in used(model)
    assert model.settings_.pieces == 2
    other = np.where(np.isin(np.arange(200), used(model)), X, 1e9)
    np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(X))


def test_rows_to_stop_by_do_not_choose(monkeypatch):
    asked = []

    def asking(table, weight, target):
        asked.append(weight)
        return telling_columns(table, weight, target)

    monkeypatch.setattr("dnfnet.estimators.base.telling_columns", asking)
    DNFNetClassifier(**SMALL).fit(X, Y)
    DNFNetClassifier(**SMALL).fit(X, Y, eval_set=(X, Y))
    assert (asked[0] == 0).sum() == 38  # an eighth of 300
    assert asked[1] is None


@pytest.mark.parametrize("model", [DNFNetClassifier(screening=False, **SMALL), DNFNetClassifier(pieces=1, **SMALL)])
def test_all_columns_stay_if_wanted(model):
    assert len(used(model.fit(X, Y))) == 200


def test_the_papers_preset_and_streams_use_all():
    paper = DNFNetClassifier.paper(n_formulas=8, beta=0.7).set_params(max_epochs=1)
    assert len(used(paper.fit(X, Y))) == 200
    assert len(used(DNFNetClassifier(**SMALL).partial_fit(X, Y))) == 200


def test_a_real_target_an_ensemble_and_a_file(tmp_path):
    model = DNFNetRegressor(n_ensemble=2, **SMALL).fit(X, X[:, 3])
    assert len(used(model)) == 128
    model.save(tmp_path / "m")
    again = dnfnet.load(tmp_path / "m")
    assert again.schema_ == model.schema_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert "left out: tells nothing of the target" in str(model.schema_)


def test_a_column_that_is_left_out_may_change_its_type():
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(200)])
    model = DNFNetClassifier(**SMALL).fit(frame, Y)
    unused = next(f"c{i}" for i in range(200) if i not in used(model))
    expected = model.predict_proba(frame)
    np.testing.assert_array_equal(model.predict_proba(frame.assign(**{unused: "text"})), expected)
    with pytest.raises(dnfnet.exceptions.SchemaMismatchError, match=unused):
        model.predict_proba(frame.drop(columns=unused))


def test_training_goes_on_with_the_same_columns():
    model = DNFNetClassifier(warm_start=True, **SMALL).fit(X, Y)
    before = used(model)
    model.fit(X, X[:, 9] > 0)
    assert used(model) == before
    assert model.settings_.pieces == 2


def test_pieces_of_many_columns():
    def pieces(rows, columns):
        return choose_settings(DNFNetRegressor(), rows, columns, 0).pieces

    assert [pieces(10**5, n) for n in (16, 17, 127, 128, 129, 170, 171, 257, 5000)] == [32, 30, 4, 4, 3, 3, 2, 2, 2]
    assert [pieces(300, n) for n in (5, 20, 127, 128, 200, 5000)] == [15, 4, 4, 2, 2, 2]
    assert pieces(1536, 128) == 3


def test_pieces_are_those_of_the_columns_that_stay():
    table = np.random.default_rng(1).normal(size=(2000, 400))
    model = DNFNetRegressor(**{**SMALL, "max_epochs": 1}).fit(table, table[:, 3])
    assert len(used(model)) == 128
    assert model.settings_.pieces == 3
    assert choose_settings(model, 2000, 400, 0).pieces == 2
