"""The bench of small tables: its tables, and what it prints."""

import numpy as np
import pytest

from benchmarks import small


@pytest.mark.parametrize("name", small.TABLES)
def test_tables_are_numbers_with_a_target(name):
    table = small.TABLES[name]
    X, y = table.rows()
    assert len(X) == len(y) < 2000
    assert np.isfinite(np.asarray(X, dtype=float)).all()
    assert (len(np.unique(y)) > 100) == table.real


def test_losses_are_printed_beside_the_defaults(monkeypatch, capsys):
    tiny = ["--variant", "tiny", "n_formulas=4", "max_epochs=2"]
    monkeypatch.setattr("sys.argv", ["small", "--tables", "iris", "--splits", "1", *tiny])
    small.main()
    head, _, iris, ratios, seconds = capsys.readouterr().out.strip().splitlines()
    assert head == "| | default | tiny | boosting | forest | linear |"
    losses = [float(cell) for cell in iris.split("|")[2:-1]]
    assert losses[1] > 2 * losses[0]
    expected = [loss / losses[0] for loss in losses]
    assert [float(cell) for cell in ratios.split("|")[2:-1]] == pytest.approx(expected, rel=0.05)
    assert all(float(cell) >= 0 for cell in seconds.split("|")[2:-1])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--variant", "default", "beta=1"], "must begin with a new name"),
        (["--variant", "mine", "formulas=4"], "formulas"),
        (["--variant", "forest", "beta=1"], "a name of its own"),
        (["--splits", "0"], "at least 1"),
    ],
)
def test_what_cannot_be_run_is_told_in_a_sentence(monkeypatch, capsys, words, told):
    monkeypatch.setattr("sys.argv", ["small", *words])
    with pytest.raises(SystemExit):
        small.main()
    assert told in capsys.readouterr().err
