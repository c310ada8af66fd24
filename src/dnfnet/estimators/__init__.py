"""The scikit-learn faces of DNF-Net."""

from dnfnet.estimators.classifier import DNFNetClassifier
from dnfnet.estimators.regressor import DNFNetRegressor

__all__ = ["DNFNetClassifier", "DNFNetRegressor"]
