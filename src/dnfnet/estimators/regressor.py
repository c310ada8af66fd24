"""DNF-Net for real targets: the first item of the paper's future work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_pinball_score, r2_score

from dnfnet.estimators.arrays import real_array
from dnfnet.estimators.base import BaseDNFNet
from dnfnet.estimators.guarding import all_or_nothing
from dnfnet.estimators.parameters import REGRESSOR
from dnfnet.estimators.real_targets import Reals
from dnfnet.exceptions import InvalidParameterError
from dnfnet.nn import Beta
from dnfnet.training import Callback, LossFunction, MetricChoice, RealLoss

if TYPE_CHECKING:
    from typing_extensions import Self


class DNFNetRegressor(RegressorMixin, BaseDNFNet):
    """A regressor for tables: means of one or several outputs, quantiles that never cross, or counts.

    The target is scaled inside; predictions and scores are on its own scale.

    Parameters
    ----------
    loss : {"squared_error", "quantile", "poisson"} or callable
        "quantile" predicts the ``quantiles`` of one target, "poisson" the means of counts (y >= 0). A function
        ``(output, target) -> losses`` in torch takes the place of the squared error: it gives one loss per row, and
        both its arguments are standardised (mean 0, deviation 1), of shape (rows,) for one output and (rows, outputs)
        for more.
    quantiles : sequence of float
        Levels in (0, 1), increasing; used by ``loss="quantile"``.
    metric : {"rmse", "mae", "r2", "pinball", "poisson_deviance"}, Metric, callable or None
        The validation score; ``None`` is RMSE, pinball loss for quantiles, and Poisson deviance for counts. Of a
        function ``(prediction, target, weight) -> float`` lower is better; `dnfnet.training.Metric` says its direction.
    n_formulas, n_groups, n_ensemble, pieces, single_values, value_means, screening, beta, conjunctions, lengths, \
keep_probs, localization, structure, learning_rate, schedule, weight_decay, shared_steps, dropout, together, \
batch_size, max_epochs, patience, lr_patience, validation_fraction, datetimes, extra_columns, time_limit, callbacks, \
warm_start, random_state, verbose, device
        As in `DNFNetClassifier`.

    Attributes
    ----------
    network_, encoder_, schema_, settings_, history_, n_iter_, best_score_, best_epoch_, stop_reason_, \
feature_selection_
        As in `DNFNetClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DNFNetRegressor(n_formulas=16, random_state=0).fit(X, y)
    >>> model.predict(X[:2]).shape
    (2,)
    >>> ranges = DNFNetRegressor(loss="quantile", quantiles=(0.1, 0.9), n_formulas=16, random_state=0).fit(X, y)
    >>> low, high = ranges.predict(X[:2]).T
    >>> bool((low < high).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = REGRESSOR

    def __init__(
        self,
        *,
        loss: RealLoss | LossFunction = "squared_error",
        quantiles: Sequence[float] = (0.1, 0.5, 0.9),
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
        self.quantiles = quantiles

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go on training with new rows: one pass over them.

        The first call on a model without a fit fixes columns and their encoding, the scale of the target, and the
        network; the rest is as in `DNFNetClassifier.partial_fit`.

        Parameters
        ----------
        X : table of shape (rows, columns)
        y : array-like of shape (rows,) or (rows, outputs)
        sample_weight : array-like of shape (rows,), optional
            Relative to the other rows of the same call.

        Returns
        -------
        The estimator.
        """
        return self._partial_fit(X, y, sample_weight)

    def _learn_target(self, y: Any, weight: NDArray | None) -> None:
        self._set_target(Reals.learn(y, weight, self._link, self.quantiles))

    def _target_numbers(self, y: Any) -> NDArray:
        return real_array(y)

    def _check_target(self, y: Any) -> None:
        quantiles = tuple(self.quantiles) if self._link == "quantile" else ()
        if (self._link, quantiles) != (self.target_.loss, self.target_.quantiles):
            raise InvalidParameterError("loss and quantiles cannot change in a model that goes on training.")
        self.target_.check_scale(y)

    @property
    def _link(self) -> RealLoss:
        """What the outputs mean; those of a function as loss are means."""
        return "squared_error" if callable(self.loss) else self.loss

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The expected target of each row, on the scale of y, or its quantiles: (rows, quantiles), flat for one."""
        values = self._predictions(X)
        return values[:, 0] if self.target_.flat and values.shape[1] == 1 else values

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R²; for quantiles its counterpart by pinball loss (D²), averaged over them."""
        values, y = self.predict(X), real_array(y)
        if self.target_.loss != "quantile":
            return float(r2_score(y, values, sample_weight=sample_weight))
        levels = self.target_.quantiles
        columns = values.reshape(-1, len(levels)).T
        pairs = zip(columns, levels, strict=True)
        return float(np.mean([d2_pinball_score(y, q, alpha=level, sample_weight=sample_weight) for q, level in pairs]))

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect."""
        tags = super().__sklearn_tags__()
        # Several columns of counts work, too, but the tag is for targets of any sign.
        tags.target_tags.multi_output = self.loss not in ("quantile", "poisson")
        tags.target_tags.positive_only = self.loss == "poisson"
        return tags
