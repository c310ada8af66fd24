"""The command as a user types it: files in, files out, one sentence when something is wrong."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import dnfnet
from dnfnet.cli import build_parser, main
from dnfnet.training import ProgressBar

FIT = ["--n-formulas", "8", "--max-epochs", "10"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with a table of two kinds of files."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=120), "colour": rng.choice(["red", "blue"], 120)})
    frame["price"] = frame["size"] * 3 + (frame["colour"] == "red")
    frame["sold"] = np.where(frame["price"] > 0, "yes", "no")
    frame.to_csv(tmp_path / "flats.csv", index=False)
    frame.to_parquet(tmp_path / "flats.parquet")
    frame.drop(columns=["sold", "price"]).to_csv(tmp_path / "new.csv", index=False)
    frame.drop(columns=["sold", "price"]).to_parquet(tmp_path / "new.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fitted(*more):
    return main(["fit", "flats.csv", "--target", "sold", "--drop", "price", "--out", "m.dnfnet", *FIT, *more])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_fit_and_predict(folder, capsys, suffix):
    assert main(["fit", f"flats.{suffix}", "--target", "sold", "--drop", "price", "--out", "m.dnfnet", *FIT]) == 0
    out = capsys.readouterr().out
    assert re.search(r"colour\s+category\s+2 levels", out)
    assert "classification of 'sold', 2 classes" in out
    assert main(["predict", "m.dnfnet", f"new.{suffix}", "--out", f"p.{suffix}"]) == 0
    # Not by pandas, whose fast parser was off by the last bit in 2.0.
    found = (csv.read_csv("p.csv") if suffix == "csv" else pq.read_table("p.parquet")).to_pandas()
    model, new = dnfnet.load("m.dnfnet"), csv.read_csv("new.csv").to_pandas()
    np.testing.assert_array_equal(found[["p(no)", "p(yes)"]].to_numpy(), model.predict_proba(new))
    assert found["prediction"].tolist() == model.predict(new).tolist()


def test_csv_and_parquet_give_the_same_predictions(folder):
    assert fitted("--quiet") == 0
    for suffix in ("csv", "parquet"):
        assert main(["predict", "m.dnfnet", f"new.{suffix}", "--out", f"{suffix}.csv", "--quiet"]) == 0
    assert (folder / "csv.csv").read_bytes() == (folder / "parquet.csv").read_bytes()


def test_regression_is_guessed_from_the_target(folder, capsys):
    assert main(["fit", "flats.csv", "--target", "price", "--drop", "sold", "--out", "m.dnfnet", *FIT]) == 0
    assert "regression of 'price'" in capsys.readouterr().out
    assert isinstance(dnfnet.load("m.dnfnet"), dnfnet.DNFNetRegressor)


def test_describe(folder, capsys):
    fitted("--quiet")
    capsys.readouterr()
    assert main(["describe", "m.dnfnet"]) == 0
    out = capsys.readouterr().out
    for part in (
        "DNFNetClassifier",
        "classes: no, yes",
        "n_formulas           8",
        "best log_loss",
        "train_loss",
        "torch",
    ):
        assert part in out


def test_describe_of_epochs_with_and_without_a_score(folder, capsys):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = dnfnet.DNFNetClassifier(n_formulas=4, max_epochs=2, warm_start=True, random_state=0)
    model.partial_fit(X, X[:, 0] > 0).fit(X, X[:, 0] > 0).save("m.dnfnet")
    assert np.isnan(model.history_.column("valid_score")).tolist() == [True, False, False]
    assert main(["describe", "m.dnfnet"]) == 0
    out = capsys.readouterr().out
    assert "learning_rate        auto (0.02)" in out
    epochs = [line.split() for line in out.partition("history")[2].splitlines() if line.strip()[:1].isdigit()]
    assert [len(words) for words in epochs] == [4, 5, 5]


def test_validation_and_weights_from_files(folder):
    weighted = pd.read_csv("flats.csv").assign(w=lambda t: np.where(t.index < 60, 1.0, 0.0))
    weighted.to_csv("weighted.csv", index=False)
    weighted[:60].to_csv("half.csv", index=False)
    common = ["--target", "sold", "--drop", "price", *FIT, "--quiet"]
    assert main(["fit", "weighted.csv", *common, "--weight", "w", "--out", "a.dnfnet"]) == 0
    assert main(["fit", "half.csv", *common[:4], "w", *common[4:], "--out", "b.dnfnet"]) == 0
    new = pd.read_csv("new.csv")
    np.testing.assert_array_equal(
        dnfnet.load("a.dnfnet").predict_proba(new), dnfnet.load("b.dnfnet").predict_proba(new)
    )
    assert (
        main(["fit", "half.csv", *common[:4], "w", *common[4:], "--out", "c.dnfnet", "--validation", "half.csv"]) == 0
    )


def test_progress_bars_unless_quiet(folder, capsys):
    fitted()
    assert "DNF-Net" in capsys.readouterr().err
    fitted("--quiet")
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("fit absent.csv --target sold --out m", "absent.csv does not exist"),
        ("fit flats.csv --target sells --out m", "flats.csv has no column 'sells'; its columns are 'size'"),
        ("fit flats.csv --target sold --drop nothing --out m", "has no column 'nothing'"),
        ("fit flats.csv --target sold --out no/such/m", "there is no folder"),
        ("fit flats.csv --target sold --out .", "is a folder"),
        ("fit empty.csv --target sold --out m", "empty.csv is empty"),
        ("fit header.csv --target sold --out m", "header.csv has no rows"),
        (
            "fit gaps.csv --target sold --out m",
            "'sold' is missing in 1 of 3 rows of gaps.csv, first in row 2",
        ),
        ("fit one.csv --target sold --out m", "only one class"),
        ("fit flats.csv --target sold --out m --n-formulas 0", "n_formulas"),
        ("fit flats.csv --target sold --drop price --validation maybe.csv --out m", "--validation maybe.csv: y has"),
        ("fit flats.csv --target sold --weight colour --out m", "'colour' of flats.csv must hold numbers, .*string"),
        ("fit flats.csv --target sold --weight sold --out m", "--weight must not be the target, however: .*'sold'"),
        ("predict absent.dnfnet new.csv --out p.csv", "absent.dnfnet cannot be read: No such file"),
        ("predict flats.csv new.csv --out p.csv", "flats.csv is not a readable dnfnet model file"),
        ("predict m.dnfnet flats.csv --out p.csv", "- price.*--ignore-extra allows them"),
        ("predict m.dnfnet short.csv --out p.csv", "colour"),
        ("predict m.dnfnet other.csv --out p.csv", "unseen at fit time: - weight .*now missing: - colour$"),
        ("predict m.dnfnet semicolon.csv --out p.csv", "- colour - size; it seems to be separated by ';'"),
        ("fit semicolon.csv --target sold --out m", "no column 'sold'; its .*it seems to be separated by ';'"),
        ("fit comma.csv --target sold --out m", "Expected 1 columns, .*it seems to be separated by ';'"),
        ("fit tab.csv --target sold --out m", "no column 'sold'; its .* separated by tabs: name it .tsv"),
        ("predict m.dnfnet new.csv --out p.xls", "p.xls has none of the endings"),
        ("describe cut.dnfnet", "cut.dnfnet is not a readable dnfnet model file"),
    ],
)
def test_errors_are_one_sentence(folder, capsys, arguments, sentence):
    fitted("--quiet")
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("size,sold\n")
    (folder / "gaps.csv").write_text("size,sold\n1,yes\n2,\n3,no\n")
    (folder / "one.csv").write_text("size,sold\n1,yes\n2,yes\n")
    (folder / "maybe.csv").write_text("size,colour,price,sold\n1,red,1,maybe\n")
    (folder / "short.csv").write_text("size\n1\n")
    (folder / "other.csv").write_text("size,weight\n1,2\n")
    (folder / "semicolon.csv").write_text("size;colour;sold\n1;red;yes\n")
    (folder / "comma.csv").write_text("size;colour;sold\n1,5;red;yes\n")
    (folder / "tab.csv").write_text("size\tsold\n1\tyes\n")
    (folder / "cut.dnfnet").write_bytes((folder / "m.dnfnet").read_bytes()[:-10])
    capsys.readouterr()
    assert main(arguments.split()) == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("dnfnet:")]
    assert len(lines) == 1
    assert re.search(sentence, lines[0])
    assert "Traceback" not in lines[0]
    assert not (folder / "m").exists()
    assert not (folder / "p.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ("fit flats.csv --target sold --out flats.csv", "TABLE"),
        ("fit flats.csv --target sold --out linked.csv", "TABLE"),
        ("fit new.csv --target sold --validation flats.csv --out flats.csv", "--validation"),
        ("predict m.dnfnet flats.csv --out flats.csv", "TABLE"),
        ("predict flats.csv new.csv --out flats.csv", "MODEL"),
    ],
)
def test_the_input_is_never_overwritten(folder, capsys, arguments, name):
    (folder / "linked.csv").symlink_to("flats.csv")
    before = (folder / "flats.csv").read_bytes()
    assert main(arguments.split()) == 1
    assert f"is the same file as {name}: give another name" in capsys.readouterr().err
    assert (folder / "flats.csv").read_bytes() == before


@pytest.mark.parametrize("arguments", ["fit flats.csv --target sold", "predict m.dnfnet new.csv"])
def test_a_device_is_not_replaced(folder, capsys, arguments):
    os.mkfifo("pipe.csv")
    assert main([*arguments.split(), "--out", "pipe.csv"]) == 1
    assert "pipe.csv: it exists and is no regular file: write to another path" in capsys.readouterr().err
    assert (folder / "pipe.csv").is_fifo()


def test_debug_shows_the_traceback(folder, capsys):
    assert main(["fit", "absent.csv", "--target", "sold", "--out", "m", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["fit"], ["fit", "x.csv"], ["polish"], ["predict", "m", "t", "--out"]])
def test_wrong_usage_exits_with_two(arguments):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2


def test_every_command_shows_an_example():
    (commands,) = (action for action in build_parser()._actions if action.dest == "==SUPPRESS==" or action.choices)
    assert {"fit", "predict", "describe", "demo", "paper"} <= set(commands.choices)
    for name, parser in commands.choices.items():
        assert f"dnfnet {name}" in parser.format_help().split("example")[1]


def test_extra_columns_can_be_ignored(folder):
    fitted("--quiet")
    assert main(["predict", "m.dnfnet", "flats.csv", "--out", "p.csv", "--ignore-extra", "--quiet"]) == 0
    assert len(pd.read_csv("p.csv")) == 120


def test_interrupted_fit_saves_the_best_model(folder):
    """Ctrl-C in a real process: the model file is there, the message says so, the exit code is 130."""
    command = [sys.executable, "-m", "dnfnet.cli", "fit", "flats.csv", "--target", "sold", "--drop", "price"]
    command += ["--out", "m.dnfnet", "--n-formulas", "8", "--max-epochs", "1000000", "--patience", "1000000"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    err = ""
    while "best" not in err and process.poll() is None:
        err += process.stderr.read(1)
    process.send_signal(signal.SIGINT)
    err += process.communicate(timeout=60)[1]
    assert process.returncode == 130, err
    assert "Training was interrupted in epoch" in err
    assert dnfnet.load("m.dnfnet").stop_reason_ == "interrupted"


def test_demo(folder, capsys):
    assert main(["demo", "--out", "shown", "--quiet"]) == 0
    out = capsys.readouterr().out
    for name in ("DNF-Net", "XGBoost", "FCN"):
        scores = [float(number) for number in re.search(rf"^{name}\s+(.*)$", out, re.MULTILINE)[1].split()]
        assert scores[0] < 0.4
        assert scores[1] > 0.95
    model = dnfnet.load("shown/model.dnfnet")
    assert model.n_features_in_ == 30
    assert len(pd.read_csv("shown/predictions.csv")) == 114
    assert (folder / "shown" / "training-curves.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("model", ["DNF-Net", "FCN"])
def test_an_interrupted_demo_writes_nothing(folder, capsys, monkeypatch, model):
    """Ctrl-C in the third epoch, which the trainer itself takes for the end of training."""
    end_epoch = ProgressBar.on_epoch_end

    def interrupt(self, trainer):
        end_epoch(self, trainer)
        if len(trainer.history) == 3 and self.description == model:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "on_epoch_end", interrupt)
    assert main(["demo", "--out", "shown"]) == 130
    captured = capsys.readouterr()
    assert "dnfnet: interrupted: nothing was written" in captured.err
    assert "are kept" not in captured.err
    assert not (folder / "shown").exists()
