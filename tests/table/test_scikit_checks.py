"""Estimators that leave their table to the encoder pass scikit-learn's checks, without an exemption."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from dnfnet.table import TableEncoder


class Encoded(BaseEstimator):
    """A linear model on the encoded table."""

    def fit(self, X, y, sample_weight=None):
        """Fit encoder and model."""
        encoder = TableEncoder().fit(X, sample_weight)
        y = self._checked_target(y)
        if len(y) != len(encoded := encoder.transform(X)):
            raise ValueError(f"X has {len(encoded)} rows and y has {len(y)}")
        self.encoder_ = encoder
        self.n_features_in_ = encoder.n_features_in_
        if hasattr(encoder, "feature_names_in_"):
            self.feature_names_in_ = encoder.feature_names_in_
        self.model_ = self._new_model().fit(encoded.astype(np.float64), y, sample_weight)
        return self

    def predict(self, X):
        """Predict the target."""
        check_is_fitted(self)
        return self.model_.predict(self.encoder_.transform(X).astype(np.float64))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class EncodedRegressor(RegressorMixin, Encoded):
    """Ridge on the encoded table."""

    def _new_model(self):
        return Ridge(1e-6)

    def _checked_target(self, y):
        if y is None:
            raise ValueError("This estimator requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True, dtype=np.float64)
        if not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity")
        return y


class EncodedClassifier(ClassifierMixin, Encoded):
    """Logistic regression on the encoded table."""

    def _new_model(self):
        return LogisticRegression(max_iter=2000, tol=1e-8)

    def _checked_target(self, y):
        if y is None:
            raise ValueError("This estimator requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity")
        check_classification_targets(y)
        return y

    @property
    def classes_(self):
        """Labels in order."""
        return self.model_.classes_


@parametrize_with_checks([EncodedRegressor(), EncodedClassifier()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_columns_are_matched_by_name_in_a_pipeline():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.choice(["x", "y"], 60)})
    model = EncodedRegressor().fit(frame, frame["a"] * 2 + (frame["b"] == "x"))
    assert np.array_equal(model.predict(frame[["b", "a"]]), model.predict(frame))
    assert model.score(frame, frame["a"] * 2 + (frame["b"] == "x")) > 0.999
