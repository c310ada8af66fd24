"""Weights of classes, as factors of the weights of rows."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dnfnet.estimators.arrays import distinct_labels, label_array, target_array
from dnfnet.estimators.targets import has_label_sets
from dnfnet.exceptions import InvalidParameterError

ClassWeight = Literal["balanced"] | Mapping[Any, float] | None


class ClassFactors:
    """The factor of each class, one table of them per column of labels.

    Parameters
    ----------
    factors : list of dict
        Label to factor; one dict for one label per row. With several labels the factors of a row are multiplied, as
        in scikit-learn.
    """

    def __init__(self, factors: list[dict[Any, float]]) -> None:
        self.factors = factors

    @classmethod
    def learn(
        cls, class_weight: ClassWeight, y: Any, weight: NDArray[np.float64] | None, classes: Any = None
    ) -> ClassFactors:
        """Take the given factors, or make the classes weigh the same; ``classes`` are those of y without it."""
        columns = _columns(y)
        if isinstance(class_weight, Mapping):
            if len(columns) > 1:
                raise InvalidParameterError('class_weight must be None or "balanced" for several labels per row.')
            return cls([_given(class_weight, columns[0] if classes is None else label_array(classes))])
        return cls([_balanced(labels, weight) for labels in columns])

    def apply(self, y: Any, weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Weights of rows times the factors of their classes; equal ones are none."""
        total = np.ones(len(y)) if weight is None else weight
        for labels, factors in zip(_columns(y), self.factors, strict=True):
            names, numbers = distinct_labels(labels)
            # A label that was not there in training is an error elsewhere, which knows its name.
            total = total * np.array([factors.get(name, 1.0) for name in names.tolist()])[numbers]
        if not total.any():
            raise InvalidParameterError("class_weight is zero for the class of every row: one must be positive.")
        return None if (total == total[0]).all() else total


def _columns(y: Any) -> list[NDArray]:
    return list(target_array(y).T) if has_label_sets(y) else [label_array(y)]


def _given(class_weight: Mapping[Any, float], labels: NDArray) -> dict[Any, float]:
    """The given factors, 1 for the others; a key that is no label is most likely a slip."""
    known = distinct_labels(labels)[0].tolist()
    strange = [key for key in class_weight if key not in known]
    if strange and len(class_weight) - len(strange) < len(known):
        raise InvalidParameterError(f"class_weight has keys {strange[:5]}, which are no labels of y: {known[:10]}.")
    bad = {key: value for key, value in class_weight.items() if not (isinstance(value, Real) and 0 <= value < np.inf)}
    if bad:
        raise InvalidParameterError(f"class_weight must have numbers that are finite and not negative, however: {bad}")
    return {label: float(class_weight.get(label, 1.0)) for label in known}


def _balanced(labels: NDArray, weight: NDArray[np.float64] | None) -> dict[Any, float]:
    """Rows over classes times rows of the class, counted by their weights so that weight two is the row twice."""
    known, numbers = distinct_labels(labels)
    counts = np.bincount(numbers, weights=weight).astype(np.float64)
    return dict(zip(known.tolist(), (counts.sum() / (len(known) * counts)).tolist(), strict=True))
