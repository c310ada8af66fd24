"""The command ``dnfnet paper``, from the data to the page, on a study of a few seconds."""

import argparse
import subprocess
import sys

import pytest

from dnfnet.cli import paper
from dnfnet.exceptions import DatasetUnavailableError, InvalidParameterError
from dnfnet.paper.store import Store


def call(*words):
    parser = argparse.ArgumentParser(prog="dnfnet")
    paper.register(parser.add_subparsers(required=True))
    args = parser.parse_args(["paper", *words])
    return args.run(args)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DNFNET_DATA_DIR", raising=False)
    return tmp_path


RUN = ("run", "--models", "syn-oracle", "--datasets", "syn1", "--dimensions", "11", "--seeds", "1")
QUICK = ("--partitions", "0", "1", "--n-jobs", "1")


def test_from_trials_to_the_page(here, capsys):
    assert call(*RUN, *QUICK) == 0
    assert "2 trials, 0 of them finished already, 2 to run." in capsys.readouterr().out
    assert call(*RUN, *QUICK) == 0
    assert "2 of them finished already, 0 to run." in capsys.readouterr().out
    assert call("export") == 0
    assert call("tables", "--store", "elsewhere") == 0
    assert call("figures") == 0
    (here / "results" / "notes.md").write_text("What a person adds.")
    assert call("report") == 0
    assert "## Notes\n\nWhat a person adds." in (here / "docs" / "reproduction.md").read_text()
    assert (here / "results" / "syn1.jsonl").exists()
    assert (here / "paper-results" / "tables" / "table3.tex").exists()
    assert (here / "paper-results" / "figures" / "figure2.pdf").exists()
    assert "| syn1     | synthetic-fcn | 2 " in (here / "docs" / "reproduction.md").read_text()


@pytest.mark.parametrize("number", ["-1", "5", "all"])
def test_a_partition_that_is_not_there(here, capsys, number):
    with pytest.raises(SystemExit):
        call(*RUN, f"--partitions={number}")
    assert "argument --partitions: invalid" in capsys.readouterr().err
    assert not (here / "paper-results").exists()


def test_committed_results_are_not_run_again(here, capsys):
    call(*RUN, *QUICK)
    call("export")
    capsys.readouterr()
    assert call(*RUN, *QUICK, "--store", "another") == 0
    assert "2 of them finished already, 0 to run." in capsys.readouterr().out


def test_a_spent_budget_says_how_to_go_on(here, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["dnfnet", "paper", *RUN])
    assert call(*RUN, *QUICK, "--budget", "0s") == 0
    out = capsys.readouterr().out
    assert "2 still to do. Results are in paper-results" in out
    assert "To go on:  dnfnet paper run --models syn-oracle --datasets syn1" in out


def test_ctrl_c_says_how_to_go_on(here, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("dnfnet.paper.runner._parallel", interrupt)
    assert call(*RUN, *QUICK) == 130
    out = capsys.readouterr().out
    assert "2 still to do" in out
    assert "To go on:" in out


def test_a_dry_run_touches_nothing(here, capsys):
    assert call("run", "--dry-run", "--models", "table1", "table2", "dnf-net", "figure2") == 0
    # 42 configurations on six sets, the ablations beyond them on three, the synthetic study.
    expected = 15 * (6 * 42 + 3 * (3 + 3 + 18 + 3 + 18 + 18) + 6 * 7 * 6)
    assert f"{expected} trials" in capsys.readouterr().out
    assert list(here.iterdir()) == []


def test_data_that_was_named_must_be_there(here):
    with pytest.raises(DatasetUnavailableError, match="--csv otto=PATH"):
        call("run", "--models", "xgboost", "--datasets", "otto", "--grid", "small")
    with pytest.raises(InvalidParameterError, match="--csv must be such as"):
        call("datasets", "--csv", "otto")


def test_the_papers_own_data_is_left_out_where_it_is_not(here, capsys, monkeypatch):
    def unreachable(**_):
        raise OSError("no route to host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    assert call("run", "--models", "xgboost", "--grid", "random:1", "--seeds", "1") == 0
    assert capsys.readouterr().err.count("Left out: The data set") == 6
    assert Store(here / "paper-results" / "store").records() == []


def test_wrong_words_are_refused(here):
    with pytest.raises(InvalidParameterError, match="--betas must be numbers or best:N"):
        call("run", "--betas", "best:x")
    with pytest.raises(InvalidParameterError, match="dataset must be one of"):
        call("run", "--datasets", "iris")


def test_nothing_that_only_the_study_needs_is_needed_before():
    """Without the extra, the package and the command's help still work; None in sys.modules bars an import."""
    lines = [
        "import sys",
        "sys.modules.update(dict.fromkeys(('pandas', 'pyarrow', 'xgboost', 'matplotlib')))",
        "import argparse, dnfnet, dnfnet.cli.paper",
        "dnfnet.cli.paper.register(argparse.ArgumentParser().add_subparsers())",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
