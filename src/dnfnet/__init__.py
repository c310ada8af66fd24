"""DNF-Net: a neural network for tables whose units are formulas in disjunctive normal form."""

from dnfnet._version import __version__
from dnfnet.estimators import DNFNetClassifier, DNFNetRegressor, load

__all__ = ["DNFNetClassifier", "DNFNetRegressor", "__version__", "load"]
