"""DNF-Net: a neural network for tables whose units are formulas in disjunctive normal form."""

from dnfnet.estimators import DNFNetClassifier, DNFNetRegressor, load

__version__ = "0.1.0"
__all__ = ["DNFNetClassifier", "DNFNetRegressor", "__version__", "load"]
