"""What importing the package brings, and what it does not; each in a process of its own."""

import subprocess
import sys

import pytest

import dnfnet

HEAVY = ("torch", "sklearn", "scipy", "pandas", "polars", "pyarrow", "narwhals", "xgboost", "matplotlib")


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize(
    ("statement", "brought"),
    [
        ("import dnfnet", set()),
        ("import dnfnet; dir(dnfnet); dnfnet.__version__", set()),
        ("import dnfnet.nn", {"torch"}),
        ("import dnfnet.ops", {"torch"}),
        ("import dnfnet; dnfnet.nn.DNFNet", {"torch"}),
        ("from dnfnet import load", {"torch", "sklearn", "scipy", "narwhals"}),
    ],
)
def test_only_what_is_needed_is_imported(statement, brought):
    """What torch or scikit-learn bring by themselves is theirs; ``None`` in sys.modules would bar it altogether."""
    theirs = set(run(f"import sys, {', '.join(brought) or 'json'}; print(*[m for m in {HEAVY} if m in sys.modules])"))
    found = set(run(f"import sys; {statement}; print(*[m for m in {HEAVY} if m in sys.modules])"))
    assert found == brought | theirs


def test_the_network_runs_without_scikit_learn_and_tables():
    barred = [name for name in HEAVY if name != "torch"]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({barred})); import torch; from dnfnet.nn import DNFNet; "
        "print(DNFNet(5, 3, n_formulas=4, beta=0.7)(torch.randn(2, 5)).shape[1])"
    )
    assert run(code) == ["3"]


def test_every_public_name_is_there_and_listed():
    assert set(dnfnet.__all__) | {"nn", "ops", "training", "table"} <= set(dir(dnfnet))
    assert run("from dnfnet import *; print(DNFNetClassifier.__name__, DNFNetRegressor.__name__, load.__name__)") == [
        "DNFNetClassifier",
        "DNFNetRegressor",
        "load",
    ]
    with pytest.raises(AttributeError, match="module 'dnfnet' has no attribute 'DNFNetClasifier'"):
        dnfnet.DNFNetClasifier  # noqa: B018
