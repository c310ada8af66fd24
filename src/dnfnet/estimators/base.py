"""What the classifier and the regressor share: table in, trained network, outputs."""

from __future__ import annotations

import math
from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from dnfnet.estimators.building import build_network
from dnfnet.estimators.fitting import train_networks
from dnfnet.estimators.guarding import all_or_nothing
from dnfnet.estimators.merging import distinct_rows, first_of_each, total_weights
from dnfnet.estimators.parameters import (
    SHARED,
    check_parameters,
    refuse_lost_functions,
    refuse_new_structure,
    require_fitted,
)
from dnfnet.estimators.predicting import table_predictions
from dnfnet.estimators.rows import Rows, used_rows
from dnfnet.estimators.settings import Settings, choose_settings, is_one_batch
from dnfnet.estimators.split import split_kinds
from dnfnet.estimators.streaming import one_pass
from dnfnet.exceptions import InvalidParameterError, naming
from dnfnet.nn import Beta, DNFNet, Ensemble, nets_of
from dnfnet.table import Schema, Source, TableEncoder, gathered_notes, telling_columns
from dnfnet.training import Callback, CustomLoss, History, MetricChoice, Objective

if TYPE_CHECKING:
    from typing_extensions import Self


class BaseDNFNet(BaseEstimator, metaclass=ABCMeta):
    """The common part of `DNFNetClassifier` and `DNFNetRegressor`; not for use by itself."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = SHARED

    def __init__(
        self,
        *,
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
        self.n_formulas = n_formulas
        self.n_groups = n_groups
        self.n_ensemble = n_ensemble
        self.pieces = pieces
        self.single_values = single_values
        self.value_means = value_means
        self.screening = screening
        self.beta = beta
        self.conjunctions = conjunctions
        self.lengths = lengths
        self.keep_probs = keep_probs
        self.localization = localization
        self.structure = structure
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.shared_steps = shared_steps
        self.dropout = dropout
        self.together = together
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.lr_patience = lr_patience
        self.validation_fraction = validation_fraction
        self.metric = metric
        self.datetimes = datetimes
        self.extra_columns = extra_columns
        self.time_limit = time_limit
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.device = device

    loss: Any
    target_: Any
    settings_: Settings
    network_: DNFNet | Ensemble
    _structure: dict[str, Any]  # the parameters that the network was built with

    # What the two kinds of task differ in.

    @abstractmethod
    def _learn_target(self, y: Any, weight: NDArray | None) -> None:
        """Learn the classes or the scale from the rows whose weight is not 0."""

    @abstractmethod
    def _target_numbers(self, y: Any) -> NDArray:
        """Targets as numbers that tell them apart, before anything was learned."""

    def _set_target(self, target: Any) -> None:
        """Take over a learned target."""
        self.target_ = target

    def _check_target(self, y: Any) -> None:
        """An error if training cannot go on with the parameters as they are now, or with this target."""

    def _strata(self, numbers: NDArray) -> NDArray | None:  # noqa: ARG002
        """The group of each row that gives its share to the validation rows."""
        return None

    def _n_classes(self, numbers: NDArray) -> int:  # noqa: ARG002
        """How many classes exclude each other; none of a real target, nor of labels that a row may have several of."""
        return 0

    def _calibrates(self) -> bool:
        """Whether outputs are made as sure as the validation rows bear out."""
        return False

    def _share_together(self) -> float:
        """How many epochs the groups may go on together, as a share of those of the plan."""
        return self.together

    def _weigh(self, y: Any, weight: NDArray | None, *, learn: bool, classes: Any = None) -> NDArray | None:  # noqa: ARG002
        """Weights of rows with those of their classes in them; ``classes`` if y may lack some."""
        return weight

    # Fitting.

    @all_or_nothing
    def fit(self, X: Any, y: Any, *, eval_set: Any = None, sample_weight: Any = None) -> Self:
        """Train on a table.

        Parameters
        ----------
        X : table of shape (rows, columns)
            A data frame or an array, as it is.
        y : array-like of shape (rows,) or (rows, outputs)
        eval_set : tuple (X, y) or (X, y, sample_weight), optional
            Rows to stop by. Without it ``validation_fraction`` of the rows is set aside for that, at random. Rows that
            belong together (a patient's, a day's) must not be on both sides: split them by
            `sklearn.model_selection.GroupShuffleSplit` and pass one side here.
        sample_weight : array-like of shape (rows,), optional
            A row of weight 0 counts as absent, one of weight 2 as two rows.

        Returns
        -------
        The fitted estimator.
        """
        check_parameters(self)
        refuse_lost_functions(self)
        fresh = not (self.warm_start and hasattr(self, "network_"))
        if not fresh:
            refuse_new_structure(self)
        random = check_random_state(self.random_state)
        with gathered_notes():
            parts = self._parts(X, y, eval_set, sample_weight, random, fresh)
        generator = torch.Generator().manual_seed(int(random.randint(2**31 - 1)))
        if fresh:
            self._start(generator)
        self.__dict__.pop("_stream", None)
        train_networks(self, parts, generator)
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """One pass; the first one starts the model, whose target is known already if there are ``classes``."""
        check_parameters(self)
        refuse_lost_functions(self)
        fresh = not hasattr(self, "network_")
        if not fresh:
            refuse_new_structure(self)
        random = check_random_state(self.random_state)
        rows = self._all_rows(X, y, sample_weight, fresh, classes)
        generator = torch.Generator().manual_seed(int(random.randint(2**31 - 1)))
        if fresh:
            self._start(generator)
        stream = self.__dict__.get("_stream", {"generator": generator.get_state()})
        self._stream = one_pass(self, rows, stream)
        return self

    def _parts(
        self, X: Any, y: Any, eval_set: Any, sample_weight: Any, random: np.random.RandomState, fresh: bool
    ) -> Iterator[tuple[Rows, Rows]]:
        """Encoded training and validation rows of each network; learns target and encoding first if ``fresh``."""
        table, y, weight = used_rows(X, y, sample_weight)
        n_rows, numbers = table.shape[0], self._target_numbers(y)
        one_batch = is_one_batch(self.batch_size, n_rows)
        kinds = distinct_rows(table, numbers) if one_batch else np.arange(n_rows)
        n_distinct = len(np.unique(kinds))
        self._set_settings(table.shape, numbers, fresh, n_distinct=n_distinct)
        weight = self._weigh(y, weight, learn=True)
        fraction = self.settings_.validation_fraction if eval_set is None else 0.0
        splits = [split_kinds(kinds, fraction, random, self._strata(numbers)) for _ in range(self.n_ensemble)]
        valid = splits[0]  # what all networks share is learned without these rows
        # A row that is not for training has weight 0 there, which is the same as being absent.
        train_weight = np.where(valid, 0, 1.0 if weight is None else weight) if valid.any() else weight
        if fresh:
            # One row of each kind, so that no order of adding up makes another scale.
            self._learn_target(y[first_of_each(kinds)], total_weights(kinds, train_weight))
            self._objective()  # a metric that cannot be is told of before the table is encoded
            target, columns = self.target_.encode(y), None
            if self.screening and self.settings_.pieces > 1:
                columns = telling_columns(table, train_weight, target)
                if len(columns) < table.shape[1]:
                    self._set_settings((n_rows, len(columns)), numbers, fresh, n_distinct=n_distinct)
            self._learn_table(table, train_weight, target, columns)
        else:
            self._check_target(y)
        # What only the rows to stop by have is no news to the user.
        with gathered_notes(["infinite"]) if fresh else nullcontext():
            target = self.target_.encode(y)
            rows = Rows(self.encoder_.transform(table, train_weight, target), target, weight)
        given = None if eval_set is None else self._eval_rows(eval_set)

        def part(chosen: NDArray[np.bool_]) -> Rows:
            taken = rows.take(chosen)
            return taken.merged(kinds[chosen]) if one_batch else taken

        return ((part(~valid), part(valid) if given is None else given) for valid in splits)

    def _set_settings(
        self, shape: tuple[int, int], numbers: NDArray, fresh: bool, classes: Any = None, **options: Any
    ) -> None:
        """Numbers for every "auto"; what a network was built with stays."""
        n_classes = self._n_classes(numbers) if classes is None else len(classes)
        settings = choose_settings(self, *shape, n_classes, math.prod(numbers.shape[1:]), **options)
        self.settings_ = settings if fresh else settings.with_network_of(self.settings_)

    def _all_rows(self, X: Any, y: Any, sample_weight: Any, fresh: bool, classes: Any) -> Rows:
        """Encoded rows of a stream, all for training."""
        table, y, weight = used_rows(X, y, sample_weight)
        self._set_settings(table.shape, self._target_numbers(y), fresh, classes, stream=True)
        weight = self._weigh(y, weight, learn=True, classes=classes)
        if not fresh:
            self._check_target(y)
        elif classes is None:
            self._learn_target(y, weight)
        target = self.target_.encode(y)
        if not fresh:
            return Rows(self.encoder_.transform(table), target, weight)
        self._learn_table(table, weight, target)
        return Rows(self.encoder_.transform(table, weight, target), target, weight)

    def _eval_rows(self, eval_set: Any) -> Rows:
        if not isinstance(eval_set, tuple) or len(eval_set) not in (2, 3):
            raise InvalidParameterError("eval_set must be a tuple (X, y) or (X, y, sample_weight).")
        with naming("eval_set"):
            table, y, weight = used_rows(*eval_set)
            target = self.target_.encode(y)
            return Rows(self.encoder_.transform(table), target, self._weigh(y, weight, learn=False))

    def _learn_table(
        self, table: Source, weight: NDArray | None, target: NDArray, columns: NDArray[np.intp] | None = None
    ) -> None:
        encoder = TableEncoder(
            pieces=self.settings_.pieces,
            single_values=self.single_values,
            value_means=self.value_means,
            datetimes=self.datetimes,
            extra_columns=self.extra_columns,
        )
        with gathered_notes([]):  # of the same table tells its transform
            self.encoder_ = encoder.fit(table, weight, target, columns)
        self._set_names()

    def _start(self, generator: torch.Generator) -> None:
        """An untrained network and an empty history."""
        self.history_ = History()
        self.network_ = build_network(self, generator)

    def _objective(self) -> Objective:
        """What to train by: the loss and the metric of the parameters."""
        objective = self.target_.objective(self.metric)
        return objective if isinstance(self.loss, str) else CustomLoss(objective, self.loss)

    def _set_names(self) -> None:
        self.n_features_in_ = self.encoder_.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(self.encoder_, "feature_names_in_"):
            self.feature_names_in_ = self.encoder_.feature_names_in_

    # What a fitted model gives.

    def _predictions(self, X: Any) -> NDArray[np.float64]:
        """What the objective makes of the network's outputs."""
        require_fitted(self)
        self.encoder_.extra_columns = self.extra_columns
        # Not by the parameters, which may have been changed since the fit.
        return table_predictions(self.network_, self.encoder_, self.target_.objective(None), X)

    @property
    def schema_(self) -> Schema:
        """What each column of the table became."""
        require_fitted(self)
        return self.encoder_.schema

    @property
    def feature_selection_(self) -> NDArray[np.bool_]:
        """Which encoded inputs each formula kept: (n_formulas, inputs); their names are ``encoder_.encoded_names``."""
        require_fitted(self)
        return np.concatenate([net.block.selected().cpu().numpy() for net in nets_of(self.network_)])

    def save(self, path: str | Path) -> None:
        """Write the model to one file, which `dnfnet.load` reads; the old file stays until the new one is whole."""
        from dnfnet.estimators.saving import save  # saving knows the estimators, so it cannot be imported first

        require_fitted(self)
        save(self, path)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
