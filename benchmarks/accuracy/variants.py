"""The registry: what each name stands for. A variant of DNF-Net is a dict of arguments of its estimators."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.accuracy.data import has_classes, training_shape
from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.estimators.base import BaseDNFNet
from dnfnet.estimators.parameters import check_parameters
from dnfnet.estimators.settings import choose_settings
from dnfnet.exceptions import InvalidParameterError
from dnfnet.paper.grids import draw, xgboost_grid

DNF_NET = "dnf-net"
# The same estimators, fitted on the validation rows as well: each network sets rows of its own aside to stop by.
DNF_NET_OWN_SPLIT = "dnf-net-own-split"
# How to run, not what to learn: no part of a trial's identity.
_RUN_TIME = ("callbacks", "device", "extra_columns", "random_state", "time_limit", "verbose", "warm_start")
# What has no effect where the validation rows are given.
_OF_OWN_SPLIT = ("validation_fraction",)

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Variant:
    """A model and its arguments; ``for_classes`` are those that only a target of classes has."""

    name: str
    model: str = DNF_NET
    parameters: Parameters = field(default_factory=dict)
    for_classes: Parameters = field(default_factory=dict)

    def configs(self, dataset: str) -> list[dict[str, Any]]:
        """The configurations of its trials on a data set: name, parameters in full, and what "auto" is there."""
        classes = has_classes(dataset)
        parameters = {**self.parameters, **self.for_classes} if classes else dict(self.parameters)
        if self.model not in (DNF_NET, DNF_NET_OWN_SPLIT):
            return [{"variant": self.name, "parameters": parameters}]
        kind = DNFNetClassifier if classes else DNFNetRegressor
        full = _full(parameters, kind, _RUN_TIME if self.model == DNF_NET_OWN_SPLIT else (*_RUN_TIME, *_OF_OWN_SPLIT))
        chosen = _chosen(kind(**full), self._shape(dataset))
        return [{"variant": self.name, "parameters": full, "auto": {n: v for n, v in chosen.items() if n in full}}]

    def _shape(self, dataset: str) -> tuple[int, int, int]:
        """Rows to fit on, features and classes."""
        n_rows, n_features, n_classes = training_shape(dataset)
        if self.model == DNF_NET_OWN_SPLIT:
            n_rows = round(n_rows * 8 / 7)
        return n_rows, n_features, n_classes


@dataclass(frozen=True)
class Tuned:
    """The first ``n`` of the study's random configurations of XGBoost, to choose from by the validation score."""

    n: int | None
    name: str = "xgboost-tuned"
    model: str = "xgboost"

    def configs(self, dataset: str) -> list[dict[str, Any]]:  # noqa: ARG002 (the same for all)
        """One for each draw; a larger number contains the smaller ones."""
        grid = xgboost_grid()
        draws = draw(grid, len(grid) if self.n is None else self.n)
        return [{"variant": self.name, "parameters": {**_MANY_TREES, **config}} for config in draws]


_MANY_TREES = {"n_estimators": 2500, "early_stopping_rounds": 50}
_GOOD = {"max_depth": 11, "learning_rate": 0.05, "colsample_bytree": 0.5, "subsample": 0.75}


def _paper() -> Variant:
    settings = DNFNetClassifier.paper(n_formulas=512, beta=0.7).get_params()
    shared = {name: value for name, value in settings.items() if name in DNFNetRegressor().get_params()}
    for name in ("loss", "metric", *_RUN_TIME, *_OF_OWN_SPLIT):
        shared.pop(name)
    own = {name: settings[name] for name in ("metric", "calibrate")}
    return Variant("paper", parameters=shared, for_classes=own)


# Every rival stops by the data set's own score on the validation rows; what is not said here is the library's default.
_RIVALS = (
    Variant("xgboost", "xgboost", {"n_estimators": 2000, "early_stopping_rounds": 50}),
    Variant("xgboost-codes", "xgboost", {"n_estimators": 2000, "early_stopping_rounds": 50, "codes": True}),
    Variant("xgboost-good", "xgboost", {**_MANY_TREES, **_GOOD}),
    Variant("lightgbm", "lightgbm", {"n_estimators": 2000, "early_stopping_rounds": 50}),
    Variant("catboost", "catboost", {"iterations": 2000, "early_stopping_rounds": 50}),
    Variant("histgradientboosting", "histgradientboosting", {"max_iter": 2000, "n_iter_no_change": 50}),
    # No label smoothing: what its authors advise where probabilities are scored.
    Variant("realmlp", "realmlp", for_classes={"use_ls": False}),
    Variant("tabm", "tabm"),
    # With the rows that `bagged-5` has.
    Variant("xgboost-bagged-5", "xgboost-bagged", {"n_bags": 5, "n_estimators": 2000, "early_stopping_rounds": 50}),
    Variant("lightgbm-bagged-5", "lightgbm-bagged", {"n_bags": 5, "n_estimators": 2000, "early_stopping_rounds": 50}),
    Variant("catboost-bagged-5", "catboost-bagged", {"n_bags": 5, "iterations": 2000, "early_stopping_rounds": 50}),
)
_DNF_NETS = (
    Variant("default"),
    Variant("own-split", DNF_NET_OWN_SPLIT),
    Variant("bagged-5", DNF_NET_OWN_SPLIT, {"n_ensemble": 5}),
    _paper(),
)
VARIANTS = {variant.name: variant for variant in (*_DNF_NETS, *_RIVALS)}
RIVALS = (*(variant.name for variant in _RIVALS), Tuned.name)


def find_variant(word: str) -> Variant | Tuned:
    """The variant of a name of the registry, or ``xgboost-tuned:N``."""
    name, _, number = word.partition(":")
    if name == Tuned.name and number.isdigit() and int(number) > 0:
        return Tuned(int(number))
    if word not in VARIANTS:
        known = ", ".join([*VARIANTS, f"{Tuned.name}:N"])
        raise InvalidParameterError(f"variant must be one of {known}, or given by --variant, however: {word!r}")
    return VARIANTS[word]


def parse_variant(words: Sequence[str]) -> Variant:
    """A variant of DNF-Net given as ``NAME key=value ...``; one with ``own_split=True`` sets its own rows aside.

    >>> parse_variant(["wide", "n_formulas=1024", "keep_probs=None"]).parameters
    {'n_formulas': 1024, 'keep_probs': None}
    """
    name, *settings = words
    if name in VARIANTS or name == Tuned.name or "=" in name or ":" in name:
        raise InvalidParameterError(f"--variant must begin with a new name without = and :, however: {name!r}")
    pairs = [setting.partition("=") for setting in settings]
    if not all(key and equals for key, equals, _ in pairs):
        raise InvalidParameterError(f"--variant must be NAME key=value ..., however: {' '.join(words)}")
    parameters = {key: _value(text) for key, _, text in pairs}
    return Variant(name, DNF_NET_OWN_SPLIT if parameters.pop("own_split", False) else DNF_NET, parameters)


def _value(text: str) -> Any:
    """Read a Python literal; what is none is a text."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def _full(parameters: Parameters, kind: type[BaseDNFNet], left_out: Sequence[str]) -> dict[str, Any]:
    """All arguments of the estimator, so that a new default is a new configuration."""
    known = {name: value for name, value in kind().get_params().items() if name not in left_out}
    unknown = [name for name in parameters if name not in known]
    if unknown:
        raise InvalidParameterError(f"{kind.__name__} has no {', '.join(unknown)} for a variant to set.")
    return {name: list(v) if isinstance(v, tuple) else v for name, v in {**known, **parameters}.items()}


def _chosen(model: BaseDNFNet, shape: tuple[int, int, int]) -> dict[str, Any]:
    """What the rules choose for each "auto", so that a new rule is a new configuration where it makes a difference."""
    try:
        check_parameters(model)
    except InvalidParameterError:
        return {}  # the trial will say it
    settings = choose_settings(model, *shape).to_dict()
    return {name: value for name, value in settings.items() if getattr(model, name) == "auto"}
