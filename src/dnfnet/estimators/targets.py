"""What the network learns to give for classes: labels as class numbers, label sets as zeros and ones."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dnfnet.estimators.arrays import distinct_labels, indicator_array, label_array, target_array
from dnfnet.exceptions import InvalidTargetError, TrainingWarning
from dnfnet.training import MetricChoice, MultilabelClassification, Objective, classification

MANY_ROWS = 20  # in fewer, a class per row is not suspicious


class Target(Protocol):
    """How targets become numbers for the network, and what the network's outputs mean."""

    def encode(self, y: Any) -> NDArray:
        """Targets as the network learns them."""

    def objective(self, metric: MetricChoice) -> Objective:
        """The link from outputs to predictions, with a loss and a score."""


@dataclass(frozen=True)
class Labels:
    """Classes in sorted order; a label is encoded as its position among them."""

    classes: NDArray

    @classmethod
    def learn(cls, y: Any) -> Labels:
        """Find the classes."""
        classes, _ = distinct_labels(label_array(y))
        if len(classes) < 2:
            shown = [str(label) if classes.dtype.kind in "mM" else repr(label) for label in classes.astype(object)]
            only = f"only one class, {shown[0]}" if shown else "no class"
            raise InvalidTargetError(f"A classifier needs rows of at least two classes, but y has {only}.")
        return cls(classes)

    def encode(self, y: Any) -> NDArray:
        """Class numbers; a label that ``learn`` did not see is an error."""
        numbers = self.indicate(y)
        if (numbers < 0).any():
            unknown = distinct_labels(label_array(y)[numbers < 0])[0].tolist()
            raise InvalidTargetError(f"y has labels that the training rows do not have: {unknown[:5]}.")
        return numbers.astype(np.float32) if len(self.classes) == 2 else numbers

    def indicate(self, y: Any) -> NDArray[np.intp]:
        """Class numbers, -1 for labels that ``learn`` did not see."""
        labels = label_array(y)
        if labels.dtype.kind == self.classes.dtype.kind and labels.dtype.kind in "mM":
            labels = labels.astype(self.classes.dtype)  # dates by the day and by the second have other numbers
        position = {label: i for i, label in enumerate(self.classes.tolist())}
        names, numbers = distinct_labels(labels)
        return np.array([position.get(name, -1) for name in names.tolist()], dtype=np.intp)[numbers]

    def decode(self, probabilities: NDArray[np.float64]) -> NDArray:
        """The most probable class of each row."""
        return self.classes[probabilities.argmax(axis=1)]

    def objective(self, metric: MetricChoice) -> Objective:
        """One logit for two classes, one each for more."""
        return classification(len(self.classes), metric)


@dataclass(frozen=True)
class LabelSets:
    """Any number of labels per row, as a matrix of zeros and ones; the classes are the columns' numbers."""

    n_labels: int
    dtype: np.dtype

    @classmethod
    def learn(cls, y: Any) -> LabelSets:
        """Count the columns."""
        matrix = indicator_array(y)
        return cls(matrix.shape[1], matrix.dtype)

    @property
    def classes(self) -> NDArray[np.intp]:
        """The numbers of the columns, as scikit-learn's own classifiers have it."""
        return np.arange(self.n_labels)

    def encode(self, y: Any) -> NDArray[np.float32]:
        """Zeros and ones."""
        matrix = indicator_array(y)
        if matrix.ndim != 2 or matrix.shape[1] != self.n_labels:
            raise InvalidTargetError(f"y has shape {matrix.shape}, but {self.n_labels} columns of labels in the fit.")
        return matrix.astype(np.float32)

    def indicate(self, y: Any) -> NDArray:
        """Zeros and ones as they are."""
        return indicator_array(y)

    def decode(self, probabilities: NDArray[np.float64]) -> NDArray:
        """The labels whose probability is above one half."""
        return (probabilities > 0.5).astype(self.dtype)

    def objective(self, metric: MetricChoice) -> Objective:
        """One logit per label."""
        return MultilabelClassification(self.n_labels, metric)


def has_label_sets(y: Any) -> bool:
    """Whether y has several columns, so that a row can have several labels."""
    array = target_array(y)
    return array.ndim == 2 and array.shape[1] > 1


def learn_labels(y: Any) -> Labels | LabelSets:
    """What kind of classes there are: one per row, or several."""
    return LabelSets.learn(y) if has_label_sets(y) else Labels.learn(y)


def class_numbers(y: Any) -> NDArray:
    """Numbers that tell targets of a classifier apart, before anything was learned; a warning if nearly all differ."""
    if has_label_sets(y):
        return indicator_array(y).astype(np.float64)
    classes, numbers = distinct_labels(label_array(y))
    if len(numbers) > MANY_ROWS and len(classes) > len(numbers) / 2:
        warnings.warn(
            f"y has {len(classes)} classes in {len(numbers)} rows: if it is a quantity, use DNFNetRegressor.",
            TrainingWarning,
            stacklevel=2,
        )
    return numbers


def class_strata(numbers: NDArray) -> NDArray:
    """The group to share out each row in: its class, or the rarest of its labels, so that no label leaves training."""
    if numbers.ndim == 1:
        return numbers
    order = np.argsort(numbers.sum(axis=0), kind="stable")
    by_rarity = numbers[:, order] > 0
    return np.where(by_rarity.any(axis=1), by_rarity.argmax(axis=1), numbers.shape[1])
