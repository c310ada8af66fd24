"""Every check that scikit-learn has for estimators, without an exemption."""

import torch
from sklearn.utils.estimator_checks import parametrize_with_checks

from dnfnet import DNFNetClassifier, DNFNetRegressor

SMALL = {"n_formulas": 16, "max_epochs": 150, "patience": 30}
SMALLER = {"n_formulas": 8, "max_epochs": 200, "learning_rate": 0.05}


class SquaredLogitError:
    """A loss of the user's that works for any number of classes and labels; it has the same name in every process."""

    def __call__(self, output, target):
        if output.ndim == 2 and target.ndim == 1:
            target = torch.nn.functional.one_hot(target, output.shape[1])
        errors = (torch.sigmoid(output) - target).square()
        return errors if errors.ndim == 1 else errors.mean(-1)

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return "SquaredLogitError()"


@parametrize_with_checks(
    [
        DNFNetClassifier(**SMALL),
        DNFNetRegressor(**SMALL),
        DNFNetRegressor(loss="quantile", quantiles=(0.5,), **SMALLER),
        DNFNetRegressor(loss="poisson", **SMALLER),
        DNFNetClassifier(loss=SquaredLogitError(), **SMALLER),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
