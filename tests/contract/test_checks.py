"""Every check that scikit-learn has for estimators, without an exemption."""

import torch
from sklearn.utils.estimator_checks import parametrize_with_checks

from dnfnet import DNFNetClassifier, DNFNetRegressor

SMALL = {"n_formulas": 16, "max_epochs": 150}


def squared_logit_error(output, target):
    """A loss of the user's that works for any number of classes and labels."""
    if output.ndim == 2 and target.ndim == 1:
        target = torch.nn.functional.one_hot(target, output.shape[1])
    errors = (torch.sigmoid(output) - target).square()
    return errors if errors.ndim == 1 else errors.mean(-1)


@parametrize_with_checks(
    [
        DNFNetClassifier(**SMALL),
        DNFNetRegressor(**SMALL),
        DNFNetRegressor(loss="quantile", quantiles=(0.5,), **SMALL),
        DNFNetRegressor(loss="poisson", **SMALL),
        DNFNetClassifier(loss=squared_logit_error, **SMALL),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
