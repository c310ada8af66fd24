"""DNF-Net for classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from dnfnet.estimators.base import BaseDNFNet
from dnfnet.estimators.targets import Labels, label_array
from dnfnet.training import Objective, classification

if TYPE_CHECKING:
    from typing_extensions import Self


class DNFNetClassifier(ClassifierMixin, BaseDNFNet):
    """A classifier for tables: an ensemble of soft formulas in disjunctive normal form, trained end to end.

    Two classes have one logit, more have one each.

    Parameters
    ----------
    n_formulas : int
        Number of formulas.
    beta : float or None
        Strength of the trainable feature selection, lower is sparser; ``None`` leaves it out.
    conjunctions, lengths : sequence of int
        Conjunctions per formula and literals per conjunction, cyclically.
    keep_probs : sequence of float or None
        Probabilities that a formula's random mask keeps a feature, cyclically; ``None`` leaves the mask out.
    localization : {"gaussian", "uniform"} or None
        The paper's localization, a constant 1/n in its place, or nothing.
    structure : {"dnf", "dense"}
        Formulas, or dense layers of the same widths.
    learning_rate : float
    batch_size : int
    max_epochs : int
    patience : int or "auto"
        Epochs without a strictly better validation score until training stops. "auto" is the paper's 30, or 120 steps
        where an epoch has fewer than 4 of them.
    lr_patience : int or "auto"
        Epochs without a lower training loss until the learning rate is halved. "auto" is the paper's 10, or 40 steps.
    validation_fraction : float
        Share of the rows to stop by when ``fit`` gets no ``eval_set``; with 0 the training loss decides.
    metric : {"log_loss", "roc_auc", "accuracy", "paper"}, Metric or None
        The validation score; ``None`` is log-loss, "paper" is ROC AUC for two classes and log-loss for more.
    time_limit : float or None
        Seconds after which training stops, with the best weights so far.
    callbacks : sequence of dnfnet.training.Callback
    warm_start : bool
        Whether ``fit`` goes on from the weights of the last ``fit``.
    random_state : int, RandomState or None
        The same number gives the same model, bit for bit, on the same machine.
    verbose : bool
        Whether to show a progress bar.
    device : str or torch.device

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    network_ : DNFNet
    encoder_ : TableEncoder
    schema_ : Schema
        What each column of the table became.
    history_ : History
        One dict per epoch.
    n_iter_ : int
        Number of epochs.
    best_score_, best_epoch_ : float, int
        Validation score of the weights that were kept, and their epoch.
    stop_reason_ : str
    feature_selection_ : ndarray of bool, shape (n_formulas, inputs)
        What each formula kept.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DNFNetClassifier(n_formulas=16, random_state=0).fit(X, y)
    >>> model.predict_proba(X[:2]).shape
    (2, 3)
    """

    _stratify = True

    @classmethod
    def paper(cls, *, n_formulas: int, beta: float, random_state: int | None = None) -> Self:
        """The paper's settings; the two arguments are what its grid search varies.

        Pass the paper's validation rows to ``fit`` as ``eval_set``.
        """
        return cls(
            n_formulas=n_formulas,
            beta=beta,
            conjunctions=(6, 9, 12, 15),
            lengths=(2, 4, 6),
            keep_probs=(0.1, 0.3, 0.5, 0.7, 0.9),
            localization="gaussian",
            structure="dnf",
            learning_rate=0.05,
            batch_size=2048,
            max_epochs=1000,
            patience=30,
            lr_patience=10,
            validation_fraction=0.125,
            metric="paper",
            random_state=random_state,
        )

    def _learn_target(self, y: Any, weight: NDArray | None) -> None:  # noqa: ARG002
        self.classes_ = Labels.learn(y).classes

    def _target_numbers(self, y: Any) -> NDArray:
        return np.unique(label_array(y), return_inverse=True)[1]

    def _encode_target(self, y: Any) -> NDArray:
        numbers = Labels(self.classes_).encode(y)
        return numbers.astype(np.float32) if len(self.classes_) == 2 else numbers

    def _objective(self) -> Objective:
        return classification(len(self.classes_), self.metric)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, in the order of ``classes_``: (rows, classes)."""
        probabilities = self._predictions(X)
        if probabilities.ndim == 1:
            return np.column_stack([1 - probabilities, probabilities])
        return probabilities

    def predict(self, X: Any) -> NDArray:
        """The most probable class of each row."""
        chosen = self.predict_proba(X).argmax(axis=1)
        return self.classes_[chosen]
