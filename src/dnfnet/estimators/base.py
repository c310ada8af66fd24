"""What the classifier and the regressor share: table in, trained network, outputs."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._param_validation import InvalidParameterError as SklearnInvalidParameterError
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from dnfnet.estimators.merging import distinct_rows, first_of_each
from dnfnet.estimators.rows import Rows, used_rows
from dnfnet.estimators.split import validation_split
from dnfnet.exceptions import InvalidParameterError
from dnfnet.nn import DNFNet
from dnfnet.table import Schema, TableEncoder, open_table
from dnfnet.training import Callback, History, Metric, Objective, ProgressBar, TimeLimit, Trainer

if TYPE_CHECKING:
    from typing_extensions import Self

ROWS_PER_CHUNK = 2**16
ROWS_PER_BATCH = 512


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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_formulas": [Interval(Integral, 1, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="neither"), None],
        "conjunctions": ["array-like"],
        "lengths": ["array-like"],
        "keep_probs": ["array-like", None],
        "localization": [StrOptions({"gaussian", "uniform"}), None],
        "structure": [StrOptions({"dnf", "dense"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "lr_patience": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "validation_fraction": [Interval(Real, 0, 1, closed="left")],
        "metric": [str, Metric, None],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "callbacks": [list, tuple],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "device": [str, torch.device],
    }

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
        metric: str | Metric | None = None,
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
        self.time_limit = time_limit
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.device = device

    # What the two kinds of task differ in.

    @abstractmethod
    def _learn_target(self, y: Any, weight: NDArray | None) -> None:
        """Learn the classes or the scale from the rows whose weight is not 0."""

    @abstractmethod
    def _target_numbers(self, y: Any) -> NDArray:
        """Targets as numbers that tell them apart, before anything was learned."""

    @abstractmethod
    def _encode_target(self, y: Any) -> NDArray:
        """Targets as the network learns them."""

    @abstractmethod
    def _objective(self) -> Objective:
        """The objective for what ``_learn_target`` learned."""

    _stratify = False

    # Fitting.

    def fit(self, X: Any, y: Any, *, eval_set: Any = None, sample_weight: Any = None) -> Self:
        """Train on a table.

        Parameters
        ----------
        X : table of shape (rows, columns)
            A data frame or an array, as it is.
        y : array-like of shape (rows,)
        eval_set : tuple (X, y) or (X, y, sample_weight), optional
            Rows to stop by. Without it ``validation_fraction`` of the rows is set aside for that.
        sample_weight : array-like of shape (rows,), optional
            A row of weight 0 counts as absent.

        Returns
        -------
        The fitted estimator.
        """
        self._check_params()
        fresh = not (self.warm_start and hasattr(self, "network_"))
        random = check_random_state(self.random_state)
        train, valid = self._rows(X, y, eval_set, sample_weight, random, fresh)
        generator = torch.Generator().manual_seed(int(random.randint(2**31 - 1)))
        if fresh:
            self.history_ = History()
            self.network_ = self._network(generator)
        trainer = self._trainer(generator, steps_per_epoch=-(-train.n_rows // self.batch_size))
        trainer.fit(train.source(self.batch_size), valid.source(ROWS_PER_BATCH) if valid.n_rows else None)
        self._keep(trainer)
        return self

    def _check_params(self) -> None:
        try:
            self._validate_params()
        except SklearnInvalidParameterError as error:
            raise InvalidParameterError(str(error)) from None

    def _rows(
        self, X: Any, y: Any, eval_set: Any, sample_weight: Any, random: np.random.RandomState, fresh: bool
    ) -> tuple[Rows, Rows]:
        """Encoded training and validation rows; learns target and encoding first if ``fresh``."""
        table, y, weight = used_rows(X, y, sample_weight)
        n_rows, numbers = table.shape[0], self._target_numbers(y)
        one_batch = n_rows <= self.batch_size
        kinds = distinct_rows(table, numbers, weight) if one_batch else np.arange(n_rows)
        valid = np.zeros(n_rows, dtype=bool)
        if eval_set is None:
            valid = self._validation_kinds(kinds, numbers, random)[kinds]
        if fresh:
            # A row that is not for training has weight 0 there, which is the same as being absent.
            train_weight = np.where(valid, 0, 1.0 if weight is None else weight) if valid.any() else weight
            self._learn_target(y, train_weight)
            self.encoder_ = self._encoder().fit(table, train_weight)
            self._set_names()
        rows = Rows(self.encoder_.transform(table), self._encode_target(y), weight)
        if one_batch:
            rows, valid = rows.merged(kinds), valid[first_of_each(kinds)]
        return rows.take(~valid), rows.take(valid) if eval_set is None else self._eval_rows(eval_set)

    def _validation_kinds(
        self, kinds: NDArray[np.intp], numbers: NDArray, random: np.random.RandomState
    ) -> NDArray[np.bool_]:
        """Which kinds of rows to stop by; rows that are the same go to the same side."""
        first = first_of_each(kinds)
        strata = numbers[first] if self._stratify else None
        return validation_split(len(first), self.validation_fraction, random, strata)

    def _eval_rows(self, eval_set: Any) -> Rows:
        if not isinstance(eval_set, tuple) or len(eval_set) not in (2, 3):
            raise InvalidParameterError("eval_set must be a tuple (X, y) or (X, y, sample_weight).")
        table, y, weight = used_rows(*eval_set)
        return Rows(self.encoder_.transform(table), self._encode_target(y), weight)

    def _network(self, generator: torch.Generator) -> DNFNet:
        return DNFNet(
            len(self.encoder_.encoded_names),
            self._objective().n_outputs,
            n_formulas=self.n_formulas,
            beta=self.beta,
            conjunctions=tuple(self.conjunctions),
            lengths=tuple(self.lengths),
            keep_probs=None if self.keep_probs is None else tuple(self.keep_probs),
            localization=self.localization,
            structure=self.structure,
            generator=generator,
        ).to(self.device)

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

    def _encoder(self) -> TableEncoder:
        return TableEncoder()

    def _set_names(self) -> None:
        self.n_features_in_ = self.encoder_.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(self.encoder_, "feature_names_in_"):
            self.feature_names_in_ = self.encoder_.feature_names_in_

    # What a fitted model gives.

    def _predictions(self, X: Any) -> NDArray[np.float64]:
        """What the objective makes of the network's outputs."""
        outputs = self._outputs(X)
        return self._objective().predictions(outputs)

    def _outputs(self, X: Any) -> Tensor:
        """Outputs of the network, computed in chunks so that memory stays bounded."""
        check_is_fitted(self, "network_")
        table = open_table(X)
        n_rows = table.shape[0]
        starts = range(0, max(n_rows, 1), ROWS_PER_CHUNK)
        return torch.cat([self._encoded_outputs(table.slice(i, i + ROWS_PER_CHUNK)) for i in starts])

    @torch.no_grad()
    def _encoded_outputs(self, table: Any) -> Tensor:
        device = next(self.network_.parameters()).device
        x = torch.from_numpy(self.encoder_.transform(table))
        return torch.cat([self.network_(part.to(device)).cpu() for part in x.split(ROWS_PER_BATCH)])

    @property
    def schema_(self) -> Schema:
        """What each column of the table became."""
        check_is_fitted(self, "network_")
        return self.encoder_.schema

    @property
    def feature_selection_(self) -> NDArray[np.bool_]:
        """Which encoded inputs each formula kept: (n_formulas, inputs); their names are ``encoder_.encoded_names``."""
        check_is_fitted(self, "network_")
        gate = self.network_.block.gate()
        if gate is None:
            return np.ones((self.network_.block.layout.n_formulas, self.network_.block.d_in), dtype=bool)
        return gate.detach().cpu().numpy() > 0

    def save(self, path: str | Path) -> None:
        """Write the model to one file, which `dnfnet.load` reads; the old file stays until the new one is whole."""
        from dnfnet.estimators.saving import save  # saving knows the estimators, so it cannot be imported first

        check_is_fitted(self, "network_")
        save(self, path)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
