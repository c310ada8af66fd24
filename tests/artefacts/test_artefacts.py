"""Model files of every released version still load, and predict what they did."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dnfnet import __version__, load
from dnfnet.cli import main

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*/*.dnfnet"))


def read(path):
    record = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    frame = pd.DataFrame(record["rows"])
    frame["when"] = pd.to_datetime(frame["when"])
    return record, frame if record["named"] else frame[["age", "größe"]].to_numpy(dtype=float)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_predictions_are_what_they_were(path):
    record, X = read(path)
    model = load(path)
    for method in ("predict", "predict_proba"):
        if method not in record:
            continue
        expected, found = np.array(record[method]), getattr(model, method)(X)
        if expected.dtype.kind == "f":
            # Another processor or torch may round in another way.
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
        else:
            assert found.dtype.kind == expected.dtype.kind
            assert np.array_equal(found, expected)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_they_can_be_described(path, capsys):
    assert main(["describe", str(path)]) == 0
    assert f"written by dnfnet {path.parent.name}" in capsys.readouterr().out


@pytest.mark.parametrize("argument", ["calibrate", "value_means", "screening", "together", "dropout"])
def test_a_file_from_before_an_argument_is_trained_on_as_it_was(argument):
    """These files have no such argument; a new model has it."""
    model = load(FOLDER / "0.1.0" / "multiclass-text.dnfnet")
    assert not getattr(model, argument)
    assert getattr(type(model)(), argument)


def test_this_version_has_a_file_of_each_kind():
    kinds = {"binary", "multiclass-text", "mixed-regression", "multilabel", "quantile", "poisson", "several-outputs"}
    kinds |= {"ensemble"}
    assert {path.stem for path in FILES if path.parent.name == __version__} == kinds
    assert all(path.stat().st_size < 50_000 for path in FILES)
