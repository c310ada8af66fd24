"""DNF-Net for classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from dnfnet.estimators.arrays import distinct_labels, label_array
from dnfnet.estimators.base import BaseDNFNet
from dnfnet.estimators.class_weights import ClassFactors, ClassWeight
from dnfnet.estimators.guarding import all_or_nothing
from dnfnet.estimators.parameters import CLASSIFIER
from dnfnet.estimators.presets import PAPER
from dnfnet.estimators.targets import Labels, LabelSets, class_numbers, class_strata, has_label_sets, learn_labels
from dnfnet.exceptions import InvalidParameterError, InvalidTargetError
from dnfnet.nn import Beta
from dnfnet.training import Callback, LossFunction, MetricChoice, MulticlassClassification

if TYPE_CHECKING:
    from typing_extensions import Self


class DNFNetClassifier(ClassifierMixin, BaseDNFNet):
    """A classifier for tables: an ensemble of soft formulas in disjunctive normal form, trained end to end.

    Two classes have one logit, more have one each. A target with several columns of 0 and 1 is for rows that can have
    several labels; each label then has a logit of its own.

    Parameters
    ----------
    loss : "log_loss" or callable
        Cross-entropy, or a function ``(output, target) -> losses`` in torch that gives one loss per row. Two classes:
        logits and 0/1, both of shape (rows,). More: logits (rows, classes) and positions in ``classes_``. Several
        labels: logits and 0/1, both (rows, labels).
    class_weight : dict, "balanced" or None
        Factor of the weights of each class's rows, in the loss, the validation score and the standardisation;
        "balanced" makes all classes weigh the same.
    calibrate : bool
        Whether, after training, all logits of more than two classes are multiplied by the number that makes the
        probabilities of the validation rows as sure as they turn out, if these rows tell it; not with a ``loss`` of
        your own, nor in ``partial_fit``.
    n_formulas : int or "auto"
        Number of formulas; "auto" is 128 below 4,000 rows, else 256, or 512 for more than two classes.
    n_groups : int, "auto" or None
        Groups of formulas with an output layer each, which learn independently and whose predictions are averaged.
        "auto" makes groups of 16, of 32 from 6 classes on, of 64 from 12 on, and of 16 for each label or real target up
        to 64, or of the nearest size that divides ``n_formulas``; ``None`` is the paper's single output layer.
    n_ensemble : int
        Networks that are trained one after the other, each from another draw and, without ``eval_set``, with other rows
        to stop by; their probabilities are averaged, or the logarithms of these if they are calibrated.
    pieces : int or "auto"
        Inputs that a numeric column becomes, one for each range between two quantiles: how far the value has come
        through that range, standardised. "auto" makes 512 of all columns, or a quarter of the number of rows, at
        least 4 (from 128 columns on 2) and at most 32 of each; 1 is plain standardisation, without what follows.
    single_values : bool
        Whether, beside its pieces, a column of codes or amounts gets an input for each of its frequent values: of
        whole numbers if they are few, else where these tell of the target what finer pieces would not.
    value_means : bool
        Whether a column of more values than get inputs, such as an identifier or a name, also gets pieces of the mean
        target of other rows with its value, where these tell of the target; for two classes, and for a real target.
    screening : bool
        Whether, of more than 128 columns, those are left out that tell nothing of the target by themselves; 128 stay at
        the least, and in ``partial_fit`` all do.
    beta : float, sequence of float or None, or None
        Strength of the trainable feature selection, lower is sparser; ``None`` leaves it out. Of several, the ``i``-th
        group of formulas takes the ``i``-th, cyclically: with ``(None, 0.7)`` every second group selects, and a network
        of one group does not.
    conjunctions, lengths : sequence of int
        Conjunctions per formula and literals per conjunction, cyclically.
    keep_probs : sequence of float or None
        Probabilities that a formula's random mask keeps a feature, cyclically; ``None`` leaves the mask out.
    localization : {"gaussian", "uniform"} or None
        The paper's localization, a constant 1/n in its place, or nothing.
    structure : {"dnf", "dense"}
        Formulas, or dense layers of the same widths.
    learning_rate : float or "auto"
        The highest rate; "auto" is 0.02.
    schedule : {"cosine", "plateau"}
        Whether the rate falls along a cosine over all ``max_epochs``, or is halved when the training loss stays.
    weight_decay : float, sequence of float, or "auto"
        The share of each literal's weights that a step at rate 1 takes away. Of several, groups of formulas take each
        one in turn (groups that differ in ``beta`` the same), and those groups predict in the end, all or of one kind,
        that the validation rows find better. "auto" is 8 divided by the steps of an epoch, at most 2, and at most 0.5
        in ``partial_fit``; below 4,000 rows that and a twentieth of it.
    shared_steps : bool, sequence of bool, or "auto"
        Whether all weights of a literal share the scale of their steps, so that those of useless inputs hardly move;
        otherwise each weight has its own, as in Adam. Several are taken in turn like those of ``weight_decay``. "auto"
        is ``(True, False)`` below 4,000 rows, and not to share from there on and in ``partial_fit``.
    dropout : float or "auto"
        The share of its numbers that a row is trained without, others in each epoch: all pieces of such a number are at
        their means. "auto" is 0.05 of more than two classes from 4,000 rows and 20 columns on, else 0, and 0 in
        ``partial_fit``.
    together : float
        Epochs after ``max_epochs``, as a share of these, in which the groups go on together, by the loss of their
        average. They do so only after a best epoch in the last fifth of the plan, as on tables with little noise. Only
        of more than two classes (or of a real target), with the cosine schedule, several groups, and at least 50
        validation rows; 0 is never.
    batch_size : int or "auto"
        "auto" is all rows up to 1,024 of them, 512 up to 65,536, and beyond about a 64th of them, at most 4,096.
    max_epochs : int or "auto"
        "auto" is as many as make 600 steps, at least 20 and at most 400; with the 512 formulas of several classes 1,050
        steps, at least 36. Those in which groups go on ``together`` come on top.
    patience : int or "auto"
        Epochs without a strictly better validation score until training stops. "auto" is never with the cosine
        schedule, which has its end; else the paper's 30, or 120 steps where an epoch has fewer than 4 of them.
    lr_patience : int or "auto"
        Epochs without a lower training loss until ``schedule="plateau"`` halves the rate. "auto" is the paper's 10, or
        40 steps.
    validation_fraction : float or "auto"
        Share of the rows to stop by when ``fit`` gets no ``eval_set``; with 0 the training loss decides. "auto" is an
        eighth up to 20,000 rows, beyond 2,500 rows, and a 32nd from 80,000 rows on.
    metric : {"log_loss", "roc_auc", "accuracy", "paper"}, Metric, callable or None
        The validation score; ``None`` is log-loss, "paper" is ROC AUC for two classes and log-loss for more. Of a
        function ``(prediction, target, weight) -> float`` lower is better; `dnfnet.training.Metric` says its direction.
    datetimes : {"refuse", "expand"}
        Whether a column of dates is an error or becomes year, month, day, weekday and time.
    extra_columns : {"refuse", "ignore"}
        What to do, when predicting, with columns that ``fit`` did not see.
    time_limit : float or None
        Seconds after which training stops, with the best weights so far.
    callbacks : sequence of dnfnet.training.Callback
    warm_start : bool
        Whether ``fit`` goes on from the weights of the last ``fit``.
    random_state : int, RandomState or None
        The same number gives the same model, bit for bit, on the same machine with the same number of threads.
    verbose : bool
        Whether to show a progress bar.
    device : str or torch.device

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    network_ : DNFNet, or Ensemble with ``n_ensemble`` above 1
    settings_ : Settings
        The numbers that "auto" became.
    encoder_ : TableEncoder
    schema_ : Schema
        What each column of the table became.
    history_ : History
        One dict per epoch.
    n_iter_ : int
        Number of epochs.
    best_score_, best_epoch_ : float, int
        Validation score of the weights that were kept, and their epoch; of an ensemble the mean, and the last one's.
    stop_reason_ : str
    feature_selection_ : ndarray of bool, shape (n_formulas, inputs)
        What each formula kept, the networks of an ensemble one after the other. ``network_.head.votes`` tells which
        groups of formulas predict.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DNFNetClassifier(n_formulas=16, random_state=0).fit(X, y)
    >>> model.predict_proba(X[:2]).shape
    (2, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CLASSIFIER

    def __init__(
        self,
        *,
        loss: Literal["log_loss"] | LossFunction = "log_loss",
        class_weight: ClassWeight = None,
        calibrate: bool = True,
        n_formulas: int | Literal["auto"] = "auto",
        n_groups: int | Literal["auto"] | None = "auto",
        n_ensemble: int = 1,
        pieces: int | Literal["auto"] = "auto",
        single_values: bool = True,
        value_means: bool = True,
        screening: bool = True,
        beta: Beta = (None, 0.7),
        conjunctions: Sequence[int] = (6, 9, 12, 15),
        lengths: Sequence[int] = (2, 4, 6),
        keep_probs: Sequence[float] | None = (0.1, 0.3, 0.5, 0.7, 0.9),
        localization: Literal["gaussian", "uniform"] | None = None,
        structure: Literal["dnf", "dense"] = "dnf",
        learning_rate: float | Literal["auto"] = "auto",
        schedule: Literal["cosine", "plateau"] = "cosine",
        weight_decay: float | Sequence[float] | Literal["auto"] = "auto",
        shared_steps: bool | Sequence[bool] | Literal["auto"] = "auto",
        dropout: float | Literal["auto"] = "auto",
        together: float = 0.5,
        batch_size: int | Literal["auto"] = "auto",
        max_epochs: int | Literal["auto"] = "auto",
        patience: int | Literal["auto"] = "auto",
        lr_patience: int | Literal["auto"] = "auto",
        validation_fraction: float | Literal["auto"] = "auto",
        metric: MetricChoice = None,
        datetimes: Literal["refuse", "expand"] = "refuse",
        extra_columns: Literal["refuse", "ignore"] = "refuse",
        time_limit: float | None = None,
        callbacks: Sequence[Callback] = (),
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
        device: str | torch.device = "cpu",
    ) -> None:
        super().__init__(
            n_formulas=n_formulas,
            n_groups=n_groups,
            n_ensemble=n_ensemble,
            pieces=pieces,
            single_values=single_values,
            value_means=value_means,
            screening=screening,
            beta=beta,
            conjunctions=conjunctions,
            lengths=lengths,
            keep_probs=keep_probs,
            localization=localization,
            structure=structure,
            learning_rate=learning_rate,
            schedule=schedule,
            weight_decay=weight_decay,
            shared_steps=shared_steps,
            dropout=dropout,
            together=together,
            batch_size=batch_size,
            max_epochs=max_epochs,
            patience=patience,
            lr_patience=lr_patience,
            validation_fraction=validation_fraction,
            metric=metric,
            datetimes=datetimes,
            extra_columns=extra_columns,
            time_limit=time_limit,
            callbacks=callbacks,
            warm_start=warm_start,
            random_state=random_state,
            verbose=verbose,
            device=device,
        )
        self.loss = loss
        self.class_weight = class_weight
        self.calibrate = calibrate

    @classmethod
    def paper(cls, *, n_formulas: int, beta: float, random_state: int | None = None) -> Self:
        """The paper's settings; the two arguments are what its grid search varies.

        Pass the paper's validation rows to ``fit`` as ``eval_set``.
        """
        return cls(n_formulas=n_formulas, beta=beta, random_state=random_state, **PAPER)

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on training with new rows: one pass over them.

        The first call on a model without a fit fixes what later calls cannot change: columns and their encoding,
        classes, and the network. Each call takes one pass in batches of ``batch_size``, cut short by ``time_limit``,
        at the constant rate ``learning_rate``, and goes on with the running state of the optimiser (which pickle keeps
        and a model file does not). There are no validation rows and no early stopping. After ``fit`` it goes on from
        the fitted weights; ``fit`` itself always starts afresh, unless ``warm_start`` is set.

        Parameters
        ----------
        X : table of shape (rows, columns)
        y : array-like of shape (rows,) or (rows, labels)
        classes : array-like, optional
            All labels that will ever come; without it, those of the first call.
        sample_weight : array-like of shape (rows,), optional
            Relative to the other rows of the same call.

        Returns
        -------
        The estimator.
        """
        if self.class_weight == "balanced":
            raise InvalidParameterError(
                'class_weight="balanced" needs all rows at once: pass partial_fit a dict of class_weight.'
            )
        if not hasattr(self, "network_"):
            if classes is not None:
                self._set_first_classes(classes, y)
        elif classes is None:
            classes = self.classes_
        elif not np.array_equal(distinct_labels(label_array(classes))[0], self.classes_):
            raise InvalidTargetError("classes must be the same in every call of partial_fit, or left out.")
        return self._partial_fit(X, y, sample_weight, classes)

    def _set_first_classes(self, classes: Any, y: Any) -> None:
        if has_label_sets(y):
            raise InvalidParameterError("classes must be left out for several labels per row: y has a column for each.")
        self._set_target(Labels.learn(classes))

    def _set_target(self, target: Labels | LabelSets) -> None:
        self.target_, self.classes_ = target, target.classes

    def _learn_target(self, y: Any, weight: NDArray | None) -> None:  # noqa: ARG002
        self._set_target(learn_labels(y))

    def _target_numbers(self, y: Any) -> NDArray:
        return class_numbers(y)

    def _strata(self, numbers: NDArray) -> NDArray:
        return class_strata(numbers)

    def _n_classes(self, numbers: NDArray) -> int:
        return len(np.unique(numbers)) if numbers.ndim == 1 else 0

    # Of two classes neither of these gains anything on the whole, and loses where few rows are all predicted right.

    def _calibrates(self) -> bool:
        return self.calibrate and isinstance(self._objective(), MulticlassClassification)

    def _share_together(self) -> float:
        return self.together if isinstance(self._objective(), MulticlassClassification) else 0.0

    def _weigh(self, y: Any, weight: NDArray | None, *, learn: bool, classes: Any = None) -> NDArray | None:
        if self.class_weight is None:
            return weight
        if learn:
            self._class_factors = ClassFactors.learn(self.class_weight, y, weight, classes)
        return self._class_factors.apply(y, weight)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, in the order of ``classes_``: (rows, classes); of several labels, of each."""
        probabilities = self._predictions(X)
        if probabilities.ndim == 1:
            return np.column_stack([1 - probabilities, probabilities])
        return probabilities

    def predict(self, X: Any) -> NDArray:
        """The most probable class of each row; of several labels, a matrix of 0 and 1."""
        probabilities = self.predict_proba(X)
        return self.target_.decode(probabilities)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; of several labels, the share of rows with all of them right."""
        # By numbers: scikit-learn's own knows only numbers and text, and fails for dates or gaps in a nullable column.
        truth, predicted = (self.target_.indicate(labels) for labels in (y, self.predict(X)))
        return float(accuracy_score(truth, predicted, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
