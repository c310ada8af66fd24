"""The options of the command that choose what is learned."""

import decimal

import numpy as np
import pytest

from dnfnet import DNFNetClassifier, DNFNetRegressor, load
from dnfnet.cli import main
from dnfnet.cli.predict import columns

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
FAST = ["--n-formulas", "8", "--max-epochs", "5", "--quiet"]


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    columns = {
        "x": x,
        "when": np.datetime64("2026-01-01T00:00:00")
        + rng.integers(0, 5000, 200).astype("timedelta64[h]").astype("timedelta64[s]"),
        "y": 2 * x + rng.normal(size=200),
        "class": rng.choice(["a", "b"], 200, p=[0.9, 0.1]),
    }
    parquet.write_table(pa.table(columns), tmp_path / "table.parquet")
    return tmp_path / "table.parquet"


def fit(table, *options):
    model = table.parent / "model.dnfnet"
    return main(["fit", str(table), "--out", str(model), *FAST, *options]), model


def test_dates_are_expanded_on_request(table, capsys):
    code, _ = fit(table, "--target", "y", "--drop", "class")
    assert code == 1
    err = capsys.readouterr().err
    assert "Column 'when' of" in err
    assert "--datetimes expand learns" in err
    assert "--drop when leaves" in err
    code, model = fit(table, "--target", "y", "--drop", "class", "--datetimes", "expand")
    assert code == 0
    assert load(model).schema_["when"].parts == ("month", "day", "weekday", "hour")


def test_quantiles_are_columns_that_never_cross(table, capsys):
    code, model = fit(
        table, "--target", "y", "--drop", "class", "when", "--loss", "quantile", "--quantiles", "0.2", "0.8"
    )
    assert code == 0
    out = table.parent / "out.parquet"
    assert main(["predict", str(model), str(table), "--out", str(out), "--ignore-extra", "--quiet"]) == 0
    predicted = parquet.read_table(out)
    assert predicted.column_names == ["quantile 0.2", "quantile 0.8"]
    assert (predicted["quantile 0.8"].to_numpy() >= predicted["quantile 0.2"].to_numpy()).all()
    assert main(["describe", str(model)]) == 0
    assert "target: 1 real, loss quantile 0.2, 0.8" in capsys.readouterr().out


def test_balanced_classes(table):
    code, model = fit(table, "--target", "class", "--drop", "when", "--class-weight", "balanced")
    assert code == 0
    assert load(model).class_weight == "balanced"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--quantiles", "0.5"], "--quantiles needs --loss quantile"),
        (["--class-weight", "balanced", "--loss", "poisson"], "--class-weight is for classification"),
        (["--task", "classification", "--loss", "poisson"], "--loss and --quantiles are for regression"),
        (["--loss", "poisson"], "needs y >= 0"),
    ],
)
def test_options_that_do_not_go_together(table, capsys, options, message):
    code, model = fit(table, "--target", "y", "--drop", "class", "when", *options)
    assert code == 1
    assert message in capsys.readouterr().err
    assert not model.exists()


def test_label_sets_are_columns():
    X = np.random.default_rng(0).normal(size=(60, 1))
    model = DNFNetClassifier(n_formulas=4, max_epochs=2, random_state=0).fit(X, np.column_stack([X > 0, X > 1]))
    named = columns(model, X)
    assert list(named) == ["prediction 0", "prediction 1", "p(0)", "p(1)"]
    assert np.array_equal(named["prediction 1"], named["p(1)"] > 0.5)


def test_decimal_targets_are_numbers(tmp_path, capsys):
    columns = {"x": list(range(40)), "y": [decimal.Decimal(i) / 4 for i in range(40)]}
    parquet.write_table(pa.table(columns), tmp_path / "table.parquet")
    code, model = fit(tmp_path / "table.parquet", "--target", "y")
    assert code == 0, capsys.readouterr().err
    assert isinstance(load(model), DNFNetRegressor)


@pytest.mark.parametrize(
    ("words", "beta"), [("0.5", 0.5), ("None", None), ("none,0.4", (None, 0.4)), (None, (None, 0.7))]
)
def test_formulas_select_as_they_are_told(table, words, beta):
    options = [] if words is None else ["--beta", words]
    model = table.parent / "model.dnfnet"
    assert (
        main(["fit", *options, str(table), "--out", str(model), *FAST, "--target", "y", "--drop", "class", "when"]) == 0
    )
    assert load(model).beta == beta


def test_a_beta_that_is_none_is_told(table, capsys):
    with pytest.raises(SystemExit):
        fit(table, "--target", "y", "--beta", "none;0.7")
    assert "--beta: must be numbers or none, such as none,0.7, however: 'none;0.7'" in capsys.readouterr().err
