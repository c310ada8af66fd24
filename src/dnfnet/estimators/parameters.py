"""Which values the parameters of the estimators may have, and what stands for a function that no file can keep."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import torch
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._param_validation import InvalidParameterError as SklearnInvalidParameterError

from dnfnet.exceptions import InvalidParameterError, NotFittedError
from dnfnet.training import Callback, Metric

if TYPE_CHECKING:
    from dnfnet.estimators.base import BaseDNFNet

SHARED: dict[str, list[Any]] = {
    "n_formulas": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "n_groups": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
    "n_ensemble": [Interval(Integral, 1, None, closed="left")],
    "pieces": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "single_values": ["boolean"],
    "value_means": ["boolean"],
    "screening": ["boolean"],
    "beta": [Interval(Real, 0, None, closed="neither"), "array-like", None],
    "conjunctions": ["array-like"],
    "lengths": ["array-like"],
    "keep_probs": ["array-like", None],
    "localization": [StrOptions({"gaussian", "uniform"}), None],
    "structure": [StrOptions({"dnf", "dense"})],
    "learning_rate": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
    "schedule": [StrOptions({"cosine", "plateau"})],
    "weight_decay": [Interval(Real, 0, None, closed="left"), "array-like", StrOptions({"auto"})],
    "shared_steps": ["boolean", "array-like", StrOptions({"auto"})],
    "dropout": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
    "together": [Interval(Real, 0, 1, closed="both")],
    "batch_size": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "max_epochs": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "patience": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "lr_patience": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "validation_fraction": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
    "metric": [str, Metric, callable, None],
    "datetimes": [StrOptions({"refuse", "expand"})],
    "extra_columns": [StrOptions({"refuse", "ignore"})],
    "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    "callbacks": [list, tuple],
    "warm_start": ["boolean"],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
    "device": [str, torch.device],
}
CLASSIFIER: dict[str, list[Any]] = {
    **SHARED,
    "loss": [StrOptions({"log_loss"}), callable],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "calibrate": ["boolean"],
}
REGRESSOR: dict[str, list[Any]] = {
    **SHARED,
    "loss": [StrOptions({"squared_error", "quantile", "poisson"}), callable],
    "quantiles": ["array-like"],
}


# The largest whose square the penalty's numbers can hold.
MOST_BETA = float(np.finfo(np.float32).max) ** 0.5

# What a network is built from, and cannot be changed once it is there.
STRUCTURE = (
    *("n_formulas", "n_groups", "n_ensemble", "pieces", "single_values", "value_means", "screening", "beta"),
    *("conjunctions", "lengths", "keep_probs", "localization", "structure"),
)


def check_parameters(model: BaseDNFNet) -> None:
    """An error if a parameter has a value that it may not have."""
    try:
        model._validate_params()
    except SklearnInvalidParameterError as error:
        raise InvalidParameterError(str(error)) from None
    plain_beta(model.beta)
    _check_each("weight_decay", model.weight_decay, "numbers that are not negative", _is_decay)
    _check_each("shared_steps", model.shared_steps, "truth values", lambda value: isinstance(value, bool | np.bool_))
    refuse_device(model.device)
    for callback in model.callbacks:
        if not isinstance(callback, Callback):
            raise InvalidParameterError(f"callbacks must be of dnfnet.training.Callback, however: {callback!r}")


def _check_each(name: str, values: Any, what: str, is_one: Callable[[Any], bool]) -> None:
    """An error if several values, for groups to take in turn, are not all such ones."""
    array = np.asarray(values, dtype=object)
    if array.ndim and not (array.ndim == 1 and array.size and all(map(is_one, array))):
        raise InvalidParameterError(f"Several values of {name} must be {what}, however: {values!r}")


def _is_decay(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < np.inf


def plain_beta(beta: Any) -> float | tuple[float | None, ...] | None:
    """``beta`` as plain numbers; an error if it is no positive number, None, or several of these."""
    several = not isinstance(beta, Real | None) and np.ndim(np.asarray(beta, dtype=object)) == 1
    values = tuple(beta) if several else (beta,)
    numbers = [v for v in values if v is not None]
    if not values or not all(isinstance(v, Real) and 0 < v <= MOST_BETA for v in numbers):  # type: ignore[operator]
        raise InvalidParameterError(f"beta must be a positive number, None, or a sequence of these, however: {beta!r}")
    plain = tuple(None if v is None else float(v) for v in values)
    return plain if several else plain[0]


def structure_of(model: BaseDNFNet) -> dict[str, Any]:
    """The parameters that a network is built from, in a form that can be compared and stored."""
    values = {name: getattr(model, name) for name in STRUCTURE}
    values["beta"] = plain_beta(model.beta)
    return {name: tuple(v) if isinstance(v, list | tuple | np.ndarray) else v for name, v in values.items()}


def refuse_new_structure(model: BaseDNFNet) -> None:
    """An error if a parameter was changed that the network cannot follow."""
    now = structure_of(model)
    changed = [name for name, value in model._structure.items() if now[name] != value]
    if changed:
        raise InvalidParameterError(
            f"{', '.join(changed)} changed since the network was built, which cannot follow: "
            "set warm_start=False, or begin with a new estimator."
        )


def refuse_device(device: str | torch.device) -> None:
    """An error if nothing can be computed on a device."""
    try:
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise InvalidParameterError(
            f"device={str(device)!r} cannot be used here: {reason}. 'cpu' always can."
        ) from error


def require_fitted(model: BaseDNFNet) -> None:
    """An error if there is nothing to predict with."""
    if not hasattr(model, "network_"):
        raise NotFittedError(f"This {type(model).__name__} is not fitted yet: call fit first.")


class LostFunction:
    """In a loaded model, the place of a loss or a metric that was a function of the user's.

    Model files hold no code, so the function is not in them. Prediction does not need it; training does.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *_: Any) -> NoReturn:
        """Say what is missing."""
        raise InvalidParameterError(f"The function {self.__name__!r} is not in the model file: pass it again.")

    def __repr__(self) -> str:
        return f"<function {self.__name__!r}, not in the model file>"


def function_name(function: Any) -> str:
    """What to call a function in a file or a message."""
    return str(getattr(function, "__name__", type(function).__name__))


def refuse_lost_functions(model: BaseDNFNet) -> None:
    """An error if ``model`` came from a file without a function that training needs."""
    for name in ("loss", "metric"):
        value = getattr(model, name)
        if isinstance(value, LostFunction):
            raise InvalidParameterError(
                f"{name} was the function {value.__name__!r}, which model files do not keep: "
                f"pass it again by model.set_params({name}=...) before training."
            )
