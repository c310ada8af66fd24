"""What the classifier and the regressor share: table in, trained network, outputs."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import InvalidParameterError as SklearnInvalidParameterError

from dnfnet.estimators.guarding import all_or_nothing
from dnfnet.estimators.merging import distinct_rows, first_of_each, total_weights
from dnfnet.estimators.parameters import (
    SHARED,
    refuse_device,
    refuse_lost_functions,
    refuse_new_structure,
    require_fitted,
    structure_of,
)
from dnfnet.estimators.predicting import ROWS_PER_BATCH, table_predictions
from dnfnet.estimators.rows import Rows, used_rows
from dnfnet.estimators.split import split_kinds
from dnfnet.estimators.streaming import one_pass
from dnfnet.exceptions import InvalidParameterError
from dnfnet.nn import DNFNet
from dnfnet.table import Schema, Source, TableEncoder, gathered_notes
from dnfnet.training import Callback, CustomLoss, History, MetricChoice, Objective, ProgressBar, TimeLimit, Trainer

if TYPE_CHECKING:
    from typing_extensions import Self


# An epoch of the paper's smallest data set.
PAPER_STEPS = 4


def epochs_to_wait(patience: int | str, paper: int, steps_per_epoch: int) -> int:
    """Epochs without improvement to wait for; "auto" waits for as many steps as the paper's rule did at the least.

    Examples
    --------
    >>> epochs_to_wait("auto", 30, steps_per_epoch=1), epochs_to_wait("auto", 30, steps_per_epoch=22)
    (120, 30)
    """
    if not isinstance(patience, str):
        return patience
    return max(paper, -(-paper * PAPER_STEPS // steps_per_epoch))


class BaseDNFNet(BaseEstimator, metaclass=ABCMeta):
    """The common part of `DNFNetClassifier` and `DNFNetRegressor`; not for use by itself."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = SHARED

    def __init__(
        self,
        *,
        n_formulas: int = 256,
        beta: float | None = 0.7,
        conjunctions: Sequence[int] = (6, 9, 12, 15),
        lengths: Sequence[int] = (2, 4, 6),
        keep_probs: Sequence[float] | None = (0.1, 0.3, 0.5, 0.7, 0.9),
        localization: Literal["gaussian", "uniform"] | None = "gaussian",
        structure: Literal["dnf", "dense"] = "dnf",
        learning_rate: float = 0.05,
        batch_size: int = 2048,
        max_epochs: int = 1000,
        patience: int | Literal["auto"] = "auto",
        lr_patience: int | Literal["auto"] = "auto",
        validation_fraction: float = 0.125,
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
        self.beta = beta
        self.conjunctions = conjunctions
        self.lengths = lengths
        self.keep_probs = keep_probs
        self.localization = localization
        self.structure = structure
        self.learning_rate = learning_rate
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
        self._check_params()
        refuse_lost_functions(self)
        fresh = not (self.warm_start and hasattr(self, "network_"))
        if not fresh:
            refuse_new_structure(self)
        random = check_random_state(self.random_state)
        with gathered_notes():
            train, valid = self._rows(X, y, eval_set, sample_weight, random, fresh)
        generator = torch.Generator().manual_seed(int(random.randint(2**31 - 1)))
        if fresh:
            self._start(generator)
        self.__dict__.pop("_stream", None)
        trainer = self._trainer(generator, steps_per_epoch=-(-train.n_rows // self.batch_size))
        trainer.fit(train.source(self.batch_size), valid.source(ROWS_PER_BATCH) if valid.n_rows else None)
        self._keep(trainer)
        return self

    @all_or_nothing
    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """One pass; the first one starts the model, whose target is known already if there are ``classes``."""
        self._check_params()
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

    def _check_params(self) -> None:
        try:
            self._validate_params()
        except SklearnInvalidParameterError as error:
            raise InvalidParameterError(str(error)) from None
        refuse_device(self.device)
        for callback in self.callbacks:
            if not isinstance(callback, Callback):
                raise InvalidParameterError(f"callbacks must be of dnfnet.training.Callback, however: {callback!r}")

    def _rows(
        self, X: Any, y: Any, eval_set: Any, sample_weight: Any, random: np.random.RandomState, fresh: bool
    ) -> tuple[Rows, Rows]:
        """Encoded training and validation rows; learns target and encoding first if ``fresh``."""
        table, y, weight = used_rows(X, y, sample_weight)
        n_rows, numbers = table.shape[0], self._target_numbers(y)
        weight = self._weigh(y, weight, learn=True)
        one_batch = n_rows <= self.batch_size
        kinds = distinct_rows(table, numbers) if one_batch else np.arange(n_rows)
        valid = np.zeros(n_rows, dtype=bool)
        if eval_set is None:
            valid = split_kinds(kinds, self.validation_fraction, random, self._strata(numbers))
        if fresh:
            # A row that is not for training has weight 0 there, which is the same as being absent.
            train_weight = np.where(valid, 0, 1.0 if weight is None else weight) if valid.any() else weight
            # One row of each kind, so that no order of adding up makes another scale.
            self._learn_target(y[first_of_each(kinds)], total_weights(kinds, train_weight))
            self._learn_table(table, train_weight)
        else:
            self._check_target(y)
        # What only the rows to stop by have is no news to the user.
        with gathered_notes(["infinite"]) if fresh else nullcontext():
            rows = Rows(self.encoder_.transform(table), self.target_.encode(y), weight)
        parts = [rows.take(part) for part in (~valid, valid)]
        if one_batch:
            parts = [part.merged(kinds[chosen]) for part, chosen in zip(parts, (~valid, valid), strict=True)]
        return parts[0], parts[1] if eval_set is None else self._eval_rows(eval_set)

    def _all_rows(self, X: Any, y: Any, sample_weight: Any, fresh: bool, classes: Any) -> Rows:
        """Encoded rows, all for training."""
        table, y, weight = used_rows(X, y, sample_weight)
        weight = self._weigh(y, weight, learn=True, classes=classes)
        if not fresh:
            self._check_target(y)
        elif classes is None:
            self._learn_target(y, weight)
        target = self.target_.encode(y)
        if fresh:
            self._learn_table(table, weight)
        return Rows(self.encoder_.transform(table), target, weight)

    def _eval_rows(self, eval_set: Any) -> Rows:
        if not isinstance(eval_set, tuple) or len(eval_set) not in (2, 3):
            raise InvalidParameterError("eval_set must be a tuple (X, y) or (X, y, sample_weight).")
        table, y, weight = used_rows(*eval_set)
        target = self.target_.encode(y)
        return Rows(self.encoder_.transform(table), target, self._weigh(y, weight, learn=False))

    def _learn_table(self, table: Source, weight: NDArray | None) -> None:
        encoder = TableEncoder(datetimes=self.datetimes, extra_columns=self.extra_columns)
        with gathered_notes([]):  # of the same table tells its transform
            self.encoder_ = encoder.fit(table, weight)
        self._set_names()

    def _start(self, generator: torch.Generator) -> None:
        """An untrained network and an empty history."""
        self.history_ = History()
        self.network_ = self._network(generator)

    def _objective(self) -> Objective:
        """What to train by: the loss and the metric of the parameters."""
        objective = self.target_.objective(self.metric)
        return objective if isinstance(self.loss, str) else CustomLoss(objective, self.loss)

    def _network(self, generator: torch.Generator, *, draw_masks: bool = True) -> DNFNet:
        """A network with these settings; one whose state is loaded afterwards need not draw its random masks."""
        self._structure = structure_of(self)
        keep_probs = None if self.keep_probs is None else tuple(self.keep_probs) if draw_masks else (1.0,)
        try:
            return DNFNet(
                len(self.encoder_.encoded_names),
                self._objective().n_outputs,
                n_formulas=self.n_formulas,
                beta=self.beta,
                conjunctions=tuple(self.conjunctions),
                lengths=tuple(self.lengths),
                keep_probs=keep_probs,
                localization=self.localization,
                structure=self.structure,
                generator=generator,
            ).to(device=self.device, dtype=torch.float32)
        except (ValueError, RuntimeError, AssertionError) as error:
            raise InvalidParameterError(f"There can be no network with these parameters: {error}") from error

    def _trainer(self, generator: torch.Generator, steps_per_epoch: int) -> Trainer:
        callbacks = [ProgressBar()] * bool(self.verbose) + list(self.callbacks)
        if self.time_limit is not None:
            callbacks.append(TimeLimit(self.time_limit))
        return Trainer(
            self.network_,
            self._objective(),
            learning_rate=self.learning_rate,
            max_epochs=self.max_epochs,
            patience=epochs_to_wait(self.patience, 30, steps_per_epoch),
            lr_patience=epochs_to_wait(self.lr_patience, 10, steps_per_epoch),
            generator=generator,
            callbacks=callbacks,
        )

    def _keep(self, trainer: Trainer) -> None:
        done = len(self.history_)
        self.history_ += [{**row, "epoch": done + row["epoch"]} for row in trainer.history]
        self.n_iter_ = len(self.history_)
        self.best_epoch_ = done + trainer.best_epoch
        self.best_score_ = trainer.best_score
        self.stop_reason_ = trainer.stop_reason

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
        gate = self.network_.block.gate()
        if gate is None:
            return np.ones((self.network_.block.layout.n_formulas, self.network_.block.d_in), dtype=bool)
        return gate.detach().cpu().numpy() > 0

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
