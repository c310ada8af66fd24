"""The grids of the paper (Appendix D.3 to D.5), each in one fixed order, and draws from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from dnfnet.exceptions import InvalidParameterError

FORMULAS = (64, 128, 256, 512, 1024, 2048, 3072)
ABLATION_FORMULAS = (128, 512, 2048)
BETAS = (1.6, 1.3, 1.0, 0.7, 0.4, 0.1)
SYNTHETIC_BETAS = (1.3, 1.0, 0.7, 0.4)
_DRAW_SEED = 1

Configs = list[dict[str, Any]]


def _product(**values: tuple[Any, ...]) -> Configs:
    return [dict(zip(values, point, strict=True)) for point in product(*values.values())]


def dnf_net_grid() -> Configs:
    """Return the 42 configurations of DNF-Net."""
    return _product(n_formulas=FORMULAS, beta=BETAS, structure=("dnf",), localization=("gaussian",))


def xgboost_grid() -> Configs:
    """Return the 864 configurations of XGBoost."""
    return _product(
        learning_rate=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5),
        max_depth=(2, 3, 4, 5, 7, 9, 11, 13, 15),
        colsample_bytree=(0.25, 0.5, 0.75, 1.0),
        subsample=(0.25, 0.5, 0.75, 1.0),
    )


def fcn_grid() -> Configs:
    """Return the 3300 configurations of the FCN.

    At depth 1 the two width patterns are the same network and count once: 55 shapes, not 60.
    """
    grid = _product(
        depth=(1, 2, 3, 4, 5, 6),
        width=(128, 256, 512, 1024, 2048),
        pattern=("constant", "halving"),
        l2=(1e-2, 1e-4, 1e-6, 1e-8, 0.0),
        dropout=(0.0, 0.25, 0.5, 0.75),
        learning_rate=(0.05, 0.005, 0.0005),
    )
    return [config for config in grid if config["depth"] > 1 or config["pattern"] == "constant"]


# Experiments 1 to 7 of Tables 1 and 2, and an eighth: the complete network with a constant 1/n in place of
# the localization. Each is (structure, localization, with feature selection).
EXPERIMENTS: Mapping[int, tuple[str, str | None, bool]] = {
    1: ("dense", None, False),
    2: ("dnf", None, False),
    3: ("dnf", None, True),
    4: ("dnf", "gaussian", True),
    5: ("dnf", "gaussian", False),
    6: ("dnf", None, True),
    7: ("dense", "gaussian", True),
    8: ("dnf", "uniform", True),
}


def experiment_grid(number: int, formulas: tuple[int, ...] = ABLATION_FORMULAS) -> Configs:
    """Return the configurations of one experiment: the betas where it selects features, else one per size."""
    structure, localization, selects = EXPERIMENTS[number]
    betas = BETAS if selects else (None,)
    return _product(n_formulas=formulas, beta=betas, structure=(structure,), localization=(localization,))


def synthetic_grid(mask: str) -> Configs:
    """Return the configurations of one synthetic-study model: ``"none"``, ``"learned"`` or ``"oracle"``."""
    return _product(mask=(mask,), beta=SYNTHETIC_BETAS if mask == "learned" else (None,))


def _small_dnf_net() -> Configs:
    return [c for c in dnf_net_grid() if c["n_formulas"] in (128, 512) and c["beta"] in (1.3, 0.7, 0.1)]


def _small_xgboost() -> Configs:
    wanted = {"learning_rate": (0.05, 0.1), "max_depth": (4, 7, 11), "colsample_bytree": (0.5,), "subsample": (0.75,)}
    return [c for c in xgboost_grid() if all(c[name] in values for name, values in wanted.items())]


def _small_fcn() -> Configs:
    wanted = {
        "depth": (2, 4),
        "width": (256,),
        "pattern": ("halving",),
        "l2": (1e-6,),
        "dropout": (0.25, 0.5),
        "learning_rate": (0.005, 0.0005),
    }
    return [c for c in fcn_grid() if all(c[name] in values for name, values in wanted.items())]


def _small_experiment(number: int) -> Configs:
    return [c for c in experiment_grid(number, (128,)) if c["beta"] in (None, 1.3, 0.7, 0.1)]


# The rows that --models can name: the model of the trial, the full grid, and a grid for a quick look.
Grid = Callable[[], Configs]
ROWS: Mapping[str, tuple[str, Grid, Grid]] = {
    "dnf-net": ("dnf-net", dnf_net_grid, _small_dnf_net),
    "xgboost": ("xgboost", xgboost_grid, _small_xgboost),
    "fcn": ("fcn", fcn_grid, _small_fcn),
    **{f"exp{n}": ("dnf-net", partial(experiment_grid, n), partial(_small_experiment, n)) for n in EXPERIMENTS},
    **{
        f"syn-{m}": ("synthetic-fcn", partial(synthetic_grid, m), partial(synthetic_grid, m))
        for m in ("none", "learned", "oracle")
    },
}


def draw(configs: Configs, n: int) -> Configs:
    """Draw ``n`` configurations with a fixed seed; a larger draw contains the smaller ones."""
    order = np.random.default_rng(_DRAW_SEED).permutation(len(configs))
    return [configs[i] for i in order[:n]]


def choose_grid(row: str, kind: str) -> Configs:
    """Return the configurations of a row: ``"full"``, ``"small"``, or ``"random:N"`` out of the full grid."""
    _, full, small = ROWS[row]
    if kind == "full":
        return full()
    if kind == "small":
        return small()
    name, _, number = kind.partition(":")
    if name == "random" and number.isdigit() and int(number) > 0:
        return draw(full(), int(number))
    raise InvalidParameterError(f"grid must be full, small or random:N with N above 0, however: {kind!r}")
