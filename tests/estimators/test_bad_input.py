"""What users pass by mistake gives one clear sentence; what is merely unusual works."""

import numpy as np
import pandas as pd
import pytest

from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.exceptions import (
    DNFNetError,
    InvalidParameterError,
    InvalidTableError,
    InvalidTargetError,
    SchemaMismatchError,
    TableWarning,
)

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"age": RNG.normal(50, 9, 80), "city": RNG.choice(["Rom", "Oslo"], 80)})
LABELS = np.where(FRAME["age"] > 50, "old", "young")
SMALL = {"n_formulas": 8, "max_epochs": 3, "random_state": 0}


def classifier(**options):
    return DNFNetClassifier(**{**SMALL, **options})


def regressor(**options):
    return DNFNetRegressor(**{**SMALL, **options})


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([None] + ["a", "b"] * 3 + ["a"], "Input y contains NaN .* in 1 of 8 rows, first in row 0 .*: drop those rows"),
        ([np.nan] + ["a", "b"] * 3 + ["a"], "in 1 of 8 rows, first in row 0"),
        (pd.Series(["a", None, "b", "a"] * 2, dtype="string"), "in 2 of 8 rows, first in row 1"),
        (pd.Series([True, pd.NA, False, True] * 2, dtype="boolean"), "in 2 of 8 rows, first in row 1"),
        (pd.Series([1, 2, None, 1] * 2, dtype="Int64"), "in 2 of 8 rows, first in row 2"),
        (np.ma.array([1, 2] * 4, mask=[0, 0, 1, 0] * 2), "in 2 of 8 rows, first in row 2"),
        (pd.Series(pd.to_datetime(["2026-01-01", None] * 4)), "in 4 of 8 rows, first in row 1"),
        ([1, "a"] * 4, "one kind, but y has a number in row 0 and a text in row 1: make them text by"),
        (np.array([True, True, 2, 3] * 2, dtype=object), "a truth value in row 0 and a number in row 2"),
        ([1.0, np.inf] * 4, "Input y contains infinity in 4 of 8 rows, first in row 1"),
        ([1j, 2] * 4, "Complex data not supported"),
        ([(1, 2), (2, 3)] * 4, "must hold only 0 and 1"),
        ([{"a": 1}, {"b": 2}] * 4, "must be hashable, but y has a dict"),
        ([0.5, 1.5] * 4, "Unknown label type: continuous"),
        (["a"] * 8, "only one class, .*'a'"),
        (["a", "b"], "inconsistent numbers of samples: X has 8, y has 2"),
        ("ab", "a value for each row of X, but is the text 'ab'"),
        ((i for i in range(8)), "but is of type generator"),
        (None, "requires y to be passed"),
    ],
)
def test_labels_that_cannot_be_learned(y, message):
    with pytest.raises(InvalidTargetError, match=message):
        classifier().fit(FRAME[:8], y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.nan] * 4, "Input y contains NaN .* in 4 of 8 rows, first in row 1 .*: drop those rows first"),
        ([1.0, None] * 4, "Input y contains NaN .* in 4 of 8 rows"),
        (pd.Series([1, None] * 4, dtype="Int64"), "Input y contains NaN .* in 4 of 8 rows"),
        (pd.Series([True, None] * 4, dtype="boolean"), "Input y contains NaN .* in 4 of 8 rows"),
        ([1.0, np.inf] * 4, "Input y contains infinity in 4 of 8 rows"),
        (["1", "2"] * 4, "must hold numbers for a regressor, but holds text: for labels use DNFNetClassifier"),
        (np.zeros((8, 2, 2)), r"one or two dimensions, however: y.shape=\(8, 2, 2\)"),
        (np.zeros((8, 0)), r"y.shape=\(8, 0\)"),
        ([1j, 2] * 4, "Complex data not supported"),
        (3.0, "a value for each row of X, but is of type float"),
    ],
)
def test_values_that_cannot_be_learned(y, message):
    with pytest.raises(InvalidTargetError, match=message):
        regressor().fit(FRAME[:8], y)


@pytest.mark.parametrize("model", [classifier(), regressor()])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (FRAME[:0], r"Found array with 0 sample\(s\)"),
        (np.zeros((3, 0)), r"Found array with 0 feature\(s\)"),
        (np.zeros(3), "Expected 2D array, got 1D array"),
        (pd.DataFrame({"empty": [None] * 3}), "No column has anything to learn from"),
        (pd.DataFrame({"when": pd.date_range("2026-01-01", periods=3)}), 'pass datetimes="expand"'),
        (pd.DataFrame({"a": [[1], [2], [3]]}), "Column 'a'"),
    ],
)
def test_tables_that_cannot_be_learned(model, X, message):
    with pytest.raises(InvalidTableError, match=message):
        model.fit(X, [0, 1, 1][: len(X)])


def test_one_row():
    assert regressor().fit(FRAME[:1], [3.0]).predict(FRAME[:1]) == pytest.approx([3.0])
    with pytest.raises(InvalidTargetError, match="only one class"):
        classifier().fit(FRAME[:1], ["a"])


def test_two_rows_of_two_classes():
    model = classifier().fit(FRAME[:2], ["a", "b"])
    assert set(model.predict(FRAME)) <= {"a", "b"}


def test_targets_of_every_frame_library_are_the_same_target():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    expected = classifier().fit(FRAME, LABELS).predict_proba(FRAME)
    odd_index = pd.Series(LABELS, index=[7] * 80)
    forms = [LABELS.tolist(), odd_index, odd_index.astype("category"), pl.Series(LABELS), pa.array(LABELS.tolist())]
    for y in forms:
        assert np.array_equal(classifier().fit(FRAME.set_index(odd_index.index), y).predict_proba(FRAME), expected)
    values = FRAME["age"].to_numpy()
    expected = regressor().fit(FRAME, values).predict(FRAME)
    for y in (pl.Series(values), pa.chunked_array([values]), FRAME["age"].astype("Float64"), values.tolist()):
        assert np.array_equal(regressor().fit(FRAME, y).predict(FRAME), expected)


def test_a_frame_of_one_column_is_a_target_with_scikit_learns_warning():
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        assert regressor().fit(FRAME, FRAME[["age"]]).predict(FRAME).shape == (80,)


def test_truth_values_come_back_as_such():
    predicted = classifier().fit(FRAME, pd.Series(LABELS == "old", dtype="boolean")).predict(FRAME)
    assert predicted.dtype == bool
    assert regressor().fit(FRAME, LABELS == "old").predict(FRAME).dtype == np.float64


def test_numbers_as_objects_are_numbers():
    model = classifier().fit(FRAME, np.array([3, 5] * 40, dtype=object))
    assert model.classes_.tolist() == [3, 5]
    assert model.classes_.dtype == np.int64


def test_prediction_names_what_is_wrong_with_the_columns():
    model = classifier().fit(FRAME, LABELS)
    with pytest.raises(SchemaMismatchError, match="yet now missing:\n- city"):
        model.predict(FRAME[["age"]])
    with pytest.raises(SchemaMismatchError, match='unseen at fit time:\n- new\nextra_columns="ignore" leaves them out'):
        model.predict(FRAME.assign(new=1))
    with pytest.raises(SchemaMismatchError, match="Column 'age' was numeric in fit and is text"):
        model.predict(FRAME.astype({"age": str}))
    assert np.array_equal(model.predict(FRAME[["city", "age"]]), model.predict(FRAME))


def test_extra_columns_are_ignored_on_request():
    model = classifier(extra_columns="ignore").fit(FRAME, LABELS)
    assert np.array_equal(model.predict_proba(FRAME.assign(new=1)), model.predict_proba(FRAME))


def test_dates_are_expanded_on_request():
    dated = FRAME.assign(when=pd.date_range("2026-01-01", periods=80, freq="D"))
    model = classifier(datetimes="expand").fit(dated, LABELS)
    assert model.schema_["when"].parts == ("month", "day", "weekday")
    with pytest.raises(ValueError, match="The 'datetimes' parameter"):
        classifier(datetimes="guess").fit(dated, LABELS)


def test_values_that_fit_never_saw_warn_and_predict():
    model = classifier().fit(FRAME, LABELS)
    strange = pd.DataFrame({"age": [np.inf, -np.inf, np.nan, 50], "city": ["Rom", None, "Paris", "Oslo"]})
    with pytest.warns(TableWarning, match="'age'|'city'"):
        probabilities = model.predict_proba(strange)
    assert np.isfinite(probabilities).all()


@pytest.mark.parametrize("eval_set", [FRAME, (FRAME,), [(FRAME, LABELS)]])
def test_eval_set_of_another_form(eval_set):
    with pytest.raises(ValueError, match="eval_set must be a tuple"):
        classifier().fit(FRAME, LABELS, eval_set=eval_set)


def test_eval_set_with_a_class_that_training_lacks():
    with pytest.raises(InvalidTargetError, match=r"labels that the training rows do not have: \['dead'\]"):
        classifier().fit(FRAME, LABELS, eval_set=(FRAME[:1], ["dead"]))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), r"sample_weight must have shape \(80,\)"),
        (np.zeros(80), "zero for every row"),
        (-np.ones(80), "finite and not negative"),
    ],
)
def test_weights_that_cannot_be(weight, message):
    with pytest.raises(InvalidTableError, match=message):
        classifier().fit(FRAME, LABELS, sample_weight=weight)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((FRAME[:2], [np.nan, "old"]), "^eval_set: Input y contains NaN"),
        ((FRAME[:2], ["old", "ancient"]), "^eval_set: y has labels that the training rows do not have"),
        ((FRAME[["age"]][:2], ["old", "young"]), "^eval_set: The feature names should match"),
        ((FRAME[:2], ["old", "young"], [0, 0]), "^eval_set: sample_weight is zero"),
    ],
)
def test_errors_of_the_rows_to_stop_by_say_so(rows, message):
    with pytest.raises(DNFNetError, match=message):
        classifier().fit(FRAME, LABELS, eval_set=rows)


def test_a_metric_that_cannot_be_is_told_as_such():
    with pytest.raises(InvalidParameterError, match=r"^metric must be one of"):
        classifier(metric="r2").fit(FRAME, LABELS)


def test_weights_of_classes_that_are_no_numbers():
    with pytest.raises(InvalidParameterError, match="class_weight must have numbers"):
        classifier(class_weight={"old": "1"}).fit(FRAME, LABELS)


def test_quantiles_that_are_no_numbers():
    with pytest.raises(InvalidParameterError, match="quantiles must be increasing numbers"):
        regressor(loss="quantile", quantiles=["low"]).fit(FRAME, FRAME["age"])
