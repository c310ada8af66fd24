"""The scikit-learn faces of DNF-Net."""

from dnfnet.estimators.classifier import DNFNetClassifier
from dnfnet.estimators.regressor import DNFNetRegressor
from dnfnet.estimators.saving import load

__all__ = ["DNFNetClassifier", "DNFNetRegressor", "load"]
