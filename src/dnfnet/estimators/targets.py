"""What the network learns to give: labels as class numbers, real targets standardised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from dnfnet.exceptions import InvalidTargetError


@dataclass(frozen=True)
class Labels:
    """Classes in sorted order; a label is encoded as its position among them."""

    classes: NDArray

    @classmethod
    def learn(cls, y: Any) -> Labels:
        """Find the classes."""
        classes = np.unique(label_array(y))
        if len(classes) < 2:
            only = "no class" if not len(classes) else f"only one class, {classes[0]!r}"
            raise InvalidTargetError(f"A classifier needs rows of at least two classes, but y has {only}.")
        return cls(classes)

    def encode(self, y: Any) -> NDArray[np.int64]:
        """Class numbers; a label that ``learn`` did not see is an error."""
        labels = label_array(y)
        try:
            unknown = ~np.isin(labels, self.classes)
        except TypeError:
            unknown = np.array([label not in self.classes for label in labels.tolist()])
        if unknown.any():
            names = np.unique(labels[unknown])[:5].tolist()
            raise InvalidTargetError(f"y has labels that the training rows do not have: {names}.")
        return np.searchsorted(self.classes, labels)


@dataclass(frozen=True)
class Scale:
    """Mean and deviation of each real output over the training rows."""

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    flat: bool

    @classmethod
    def learn(cls, y: Any, weight: NDArray[np.float64] | None) -> Scale:
        """Measure the training rows; ``weight`` is 0 for the others."""
        values = real_array(y)
        matrix = values.reshape(len(values), -1)
        mean = np.average(matrix, axis=0, weights=weight)
        variance = np.average(np.square(matrix - mean), axis=0, weights=weight)
        deviation = np.sqrt(variance)
        # A constant target has nothing but rounding errors for a deviation: every prediction is the constant.
        deviation[deviation <= 1e-12 * np.abs(mean)] = 0
        return cls(mean, deviation, values.ndim == 1)

    def encode(self, y: Any) -> NDArray[np.float32]:
        """Standardised targets, always with a column per output."""
        values = real_array(y)
        matrix = values.reshape(len(values), -1)
        if matrix.shape[1] != len(self.mean):
            raise InvalidTargetError(f"y has {matrix.shape[1]} outputs, but {len(self.mean)} in the first fit.")
        return ((matrix - self.mean) / np.where(self.deviation > 0, self.deviation, 1)).astype(np.float32)


def label_array(y: Any) -> NDArray:
    """Labels as an array, none of them missing."""
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    if labels.dtype.kind == "O" and any(label is None or label != label for label in labels.tolist()):
        missing = sum(label is None or label != label for label in labels.tolist())
        raise InvalidTargetError(f"y has {missing} missing labels: drop those rows, or give them a class of their own.")
    return labels


def real_array(y: Any) -> NDArray[np.float64]:
    """Real targets as an array, all of them finite; a single column is flat."""
    values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", ensure_all_finite=True)
    if values.ndim > 2:
        raise InvalidTargetError(f"y must have one or two dimensions, however: y.ndim={values.ndim}")
    return column_or_1d(values, warn=True) if values.ndim == 2 and values.shape[1] == 1 else values
