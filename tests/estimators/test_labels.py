"""Labels of any hashable type: learned, predicted, scored and stored, or refused with a sentence."""

import datetime
import enum
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import dnfnet
from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.exceptions import ModelFileError, TableWarning, TrainingWarning

N = 40
X = pd.DataFrame({"age": np.linspace(20, 60, N), "city": ["Rom", "Oslo"] * (N // 2)})
HALF = X["age"].to_numpy() > 40
SMALL = {"n_formulas": 8, "max_epochs": 60, "learning_rate": 0.2, "random_state": 0}


class Colour(enum.Enum):
    RED = 2
    BLUE = 1


def labelled(first, second):
    """Labels as an array of objects, also if they are tuples."""
    labels = np.empty(N, dtype=object)
    for i, half in enumerate(HALF):
        labels[i] = second if half else first
    return labels


PAIRS = {
    "date": (datetime.date(2026, 1, 1), datetime.date(2026, 2, 1)),
    "aware": tuple(pd.to_datetime(["2026-01-01", "2026-02-01"]).tz_localize("Europe/Berlin")),
    "interval": (pd.Interval(0, 1), pd.Interval(1, 2)),
    "period": (pd.Period("2026-01"), pd.Period("2026-02")),
    "tuple": ((1, "a"), (1, "b")),
    "bytes": (b"a", b"b"),
    "huge": (10**30, 10**31),
}
STORED = {
    "category": pd.Series(pd.Categorical(np.where(HALF, "lo", "hi"), categories=["lo", "hi", "none"], ordered=True)),
    "category of numbers": pd.Series(pd.Categorical(np.where(HALF, 7, 3))),
    "Int64": pd.Series(np.where(HALF, 7, 3), dtype="Int64"),
    "Float64": pd.Series(np.where(HALF, 7.0, 3.0), dtype="Float64"),
    "boolean": pd.Series(HALF, dtype="boolean"),
    "string": pd.Series(np.where(HALF, "lo", "hi"), dtype="string"),
    "float16": np.where(HALF, 7, 3).astype(np.float16),
    "dates": pd.Series(np.where(HALF, "2026-02-01", "2026-01-01")).astype("datetime64[ns]"),
    "days": np.where(HALF, "2026-02-01", "2026-01-01").astype("datetime64[D]"),
    "durations": pd.Series(pd.to_timedelta(np.where(HALF, 7, 3), unit="h")),
}


@pytest.mark.parametrize("kind", STORED)
def test_labels_of_every_column_type_come_back_from_a_file(kind, tmp_path):
    y = STORED[kind]
    model = DNFNetClassifier(**SMALL).fit(X, y)
    assert model.classes_.tolist() == sorted(set(np.asarray(y).tolist()))
    assert model.score(X, y) > 0.9
    assert np.mean(model.predict(X) == np.asarray(y)) == model.score(X, y)
    model.save(tmp_path / "m.dnfnet")
    again = dnfnet.load(tmp_path / "m.dnfnet")
    assert again.classes_.dtype == model.classes_.dtype
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("kind", PAIRS)
def test_any_hashable_is_a_label(kind, tmp_path):
    first, second = PAIRS[kind]
    y = labelled(first, second)
    model = DNFNetClassifier(**SMALL, class_weight={first: 1.0, second: 2.0}).fit(X, y, eval_set=(X, y))
    assert model.classes_.tolist() == [first, second]
    assert {type(label) for label in model.predict(X).tolist()} == {type(first)}
    assert model.score(X, y) > 0.9
    assert model.score(X[:4], labelled("another", "label")[:4]) == 0
    assert pickle.loads(pickle.dumps(model)).classes_.tolist() == [first, second]
    with pytest.raises(ModelFileError, match=r"and these are .*: fit on \[str\(label\) for label in y\], or .*pickle"):
        model.save(tmp_path / "m.dnfnet")
    assert not (tmp_path / "m.dnfnet").exists()


def test_labels_without_an_order_are_in_that_of_their_texts():
    model = DNFNetClassifier(**SMALL).fit(X, labelled(Colour.RED, Colour.BLUE))
    assert model.classes_.tolist() == [Colour.BLUE, Colour.RED]
    assert model.score(X, labelled(Colour.RED, Colour.BLUE)) > 0.9


def test_dates_are_the_same_labels_in_every_unit():
    model = DNFNetClassifier(**SMALL).fit(X, STORED["days"], eval_set=(X, STORED["dates"]))
    assert model.score(X, STORED["dates"]) == model.score(X, STORED["days"]) > 0.9


def test_the_row_without_a_label_is_the_one_of_the_users_table():
    """Rows of weight 0 are left out first, and still count in the number of the row."""
    y = [None, *["a", "b"] * 3, None, *["a", "b"] * 16]
    weight = np.r_[0, 0, np.ones(N - 2)]
    with pytest.raises(ValueError, match="in 1 of 40 rows, first in row 7"):
        DNFNetClassifier(**SMALL).fit(X, y, sample_weight=weight)


def told(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [(w.category, str(w.message)) for w in caught]


def test_a_fit_says_everything_once():
    infinite = X.assign(age=np.where(X.index % 10 == 0, np.inf, X["age"]))
    y = pd.DataFrame({"y": np.arange(N)})
    found = told(lambda: DNFNetClassifier(n_formulas=4, max_epochs=1, random_state=0).fit(infinite, y))
    assert len(found) == 3
    assert "column-vector y was passed" in found[0][1]
    assert found[1] == (TrainingWarning, "y has 40 classes in 40 rows: if it is a quantity, use DNFNetRegressor.")
    ending = "largest or smallest finite value of fit in column 'age' (4 rows)."
    assert found[2][0] is TableWarning
    assert found[2][1].endswith(ending)


@pytest.mark.parametrize("seed", range(8))
def test_a_value_that_only_the_rows_to_stop_by_lack_is_no_news(seed):
    gap = X.assign(age=X["age"].where(X.index != 3))
    assert told(lambda: DNFNetRegressor(n_formulas=4, max_epochs=1, random_state=seed).fit(gap, X["age"])) == []


def test_new_rows_of_a_warm_start_and_of_an_eval_set_are_told_of():
    model = DNFNetRegressor(n_formulas=4, max_epochs=1, random_state=0, warm_start=True).fit(X, X["age"])
    gap = X.assign(age=X["age"].where(X.index != 3))
    expected = "Values are missing that the training rows never lacked, and became the mean, in column 'age' ({} rows)."
    found = told(lambda: model.fit(gap, X["age"], eval_set=(gap, X["age"])))
    assert found == [(TableWarning, expected.format(2))]


def test_a_long_table_is_predicted_with_one_warning_per_reason(monkeypatch):
    monkeypatch.setattr("dnfnet.estimators.predicting.ROWS_PER_CHUNK", 16)
    model = DNFNetRegressor(n_formulas=4, max_epochs=1, random_state=0).fit(X, X["age"])
    found = told(lambda: model.predict(X.assign(age=np.nan, city="Paris")))
    assert [message.partition(" in column ")[2] for _, message in found] == [
        "'age' (40 rows).",
        "'city' (40 rows, such as 'Paris').",
    ]
    arrays = DNFNetRegressor(n_formulas=4, max_epochs=1, random_state=0).fit(X.to_numpy(), X["age"])
    assert len(told(lambda: arrays.predict(X))) == 1
