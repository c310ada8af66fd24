"""DNF-Net for real targets: the first item of the paper's future work."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from dnfnet.estimators.base import BaseDNFNet
from dnfnet.estimators.targets import Scale, real_array
from dnfnet.training import Objective, Regression


class DNFNetRegressor(RegressorMixin, BaseDNFNet):
    """A regressor for tables, with one or several outputs.

    The target is standardised inside; predictions and scores are on its own scale. The parameters are those of
    `DNFNetClassifier`, except that ``metric`` is "rmse" or a Metric.

    Attributes
    ----------
    network_, encoder_, schema_, history_, n_iter_, best_score_, best_epoch_, stop_reason_, feature_selection_
        As in `DNFNetClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DNFNetRegressor(n_formulas=16, random_state=0).fit(X, y)
    >>> model.predict(X[:2]).shape
    (2,)
    """

    def _learn_target(self, y: Any, weight: NDArray | None) -> None:
        self.scale_ = Scale.learn(y, weight)

    def _target_numbers(self, y: Any) -> NDArray:
        return real_array(y)

    def _encode_target(self, y: Any) -> NDArray:
        return self.scale_.encode(y)

    def _objective(self) -> Objective:
        return Regression(self.scale_.mean, self.scale_.deviation, self.metric)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The expected target of each row, on the scale of y."""
        values = self._predictions(X)
        return values[:, 0] if self.scale_.flat else values

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
