"""A fit that is refused or interrupted changes nothing; a partial fit that diverges neither."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.exceptions import InvalidTargetError, NonFiniteLossError, SchemaMismatchError
from dnfnet.training import Callback

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(80, 3)), np.arange(80) % 2
SMALL = {"n_formulas": 8, "max_epochs": 5, "random_state": 0}


class InterruptAtOnce(Callback):
    def on_step_end(self, trainer):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"eval_set": (X[:, :2], Y)}, SchemaMismatchError),
        ({"eval_set": (X, Y + 5)}, InvalidTargetError),
    ],
)
def test_a_refused_second_fit_leaves_the_first(options, error):
    model = DNFNetClassifier(**SMALL).fit(X, Y)
    before = model.predict_proba(X)
    with pytest.raises(error):
        model.fit(X * 100 + 7, np.arange(80) % 3, **options)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.classes_.tolist() == [0, 1]


def test_an_interrupted_first_epoch_leaves_no_half_model():
    model = DNFNetClassifier(**SMALL, callbacks=[InterruptAtOnce()])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    fitted = DNFNetClassifier(**SMALL).fit(X, Y)
    before = fitted.predict_proba(X)
    with pytest.raises(KeyboardInterrupt):
        fitted.set_params(callbacks=[InterruptAtOnce()]).fit(-X[:, :2], Y)
    np.testing.assert_array_equal(fitted.predict_proba(X), before)
    assert len(fitted.history_) == fitted.n_iter_ == 5


def test_partial_fit_has_callbacks_and_a_time_limit():
    events = []

    class Spy(Callback):
        def on_fit_start(self, trainer):
            events.append("start")

        def on_fit_end(self, trainer):
            events.append("end")

    DNFNetClassifier(**SMALL, time_limit=100.0, callbacks=[Spy()]).partial_fit(X, Y, classes=[0, 1])
    assert events == ["start", "end"]


def test_a_diverging_partial_fit_keeps_the_weights():
    model = DNFNetRegressor(**SMALL).partial_fit(X, Y.astype(float))
    before = model.predict(X)
    with pytest.raises(NonFiniteLossError):
        model.set_params(learning_rate=1e38, batch_size=4).partial_fit(X, Y.astype(float))
    np.testing.assert_array_equal(model.predict(X), before)


def test_roc_auc_needs_both_classes_to_stop_by():
    with pytest.raises(InvalidTargetError, match="ROC AUC is not defined where the validation rows are all of one"):
        DNFNetClassifier.paper(n_formulas=8, beta=0.7).fit(X, Y, eval_set=(X[Y == 1], Y[Y == 1]))


def test_two_rows_of_a_class_are_enough_to_stop_by_roc_auc():
    rare = (np.arange(80) < 2).astype(int)
    model = DNFNetClassifier(**SMALL, metric="roc_auc").fit(X, rare)
    assert 0 <= model.best_score_ <= 1


def test_another_default_dtype():
    import torch

    torch.set_default_dtype(torch.float64)
    try:
        model = DNFNetClassifier(**SMALL).fit(X, Y)
    finally:
        torch.set_default_dtype(torch.float32)
    assert model.predict_proba(X).shape == (80, 2)
