"""DNF-Net: a neural network for tables whose units are formulas in disjunctive normal form."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dnfnet._version import __version__

if TYPE_CHECKING:
    from dnfnet import estimators as estimators
    from dnfnet import exceptions as exceptions
    from dnfnet import nn as nn
    from dnfnet import ops as ops
    from dnfnet import table as table
    from dnfnet import training as training
    from dnfnet.estimators import DNFNetClassifier, DNFNetRegressor, load

__all__ = ["DNFNetClassifier", "DNFNetRegressor", "__version__", "load"]

# Both are fetched when first used (PEP 562), so that `import dnfnet.nn` needs torch alone.
_NAMES = frozenset({"DNFNetClassifier", "DNFNetRegressor", "load"})
_ROOMS = frozenset({"estimators", "exceptions", "nn", "ops", "table", "training"})


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.estimators"), name)
    return value


def __dir__() -> list[str]:
    return sorted(globals().keys() | _NAMES | _ROOMS)
