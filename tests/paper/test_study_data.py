"""Loaders and checks of the study's data, and its partitions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dnfnet.exceptions import DatasetMismatchError, DatasetUnavailableError, InvalidParameterError, ResultStoreError
from dnfnet.paper.datasets import DATASETS, PAPER_DATASETS, load_dataset, prepare
from dnfnet.paper.partitions import Partitions, make_partitions, stored_partitions
from dnfnet.paper.sources import DATA_DIR_VARIABLE, DataSources
from dnfnet.paper.split import make_split

HERE = ("otto", "gesture", "gas-drift", "eye", "house")


def santander(rows=40):
    """Make a small table of the shape of Santander's train.csv."""
    rng = np.random.default_rng(0)
    values = pd.DataFrame(rng.normal(size=(rows, 200)), columns=[f"var_{i}" for i in range(200)])
    values.insert(0, "target", [1 if i % 5 == 0 else 0 for i in range(rows)])
    values.insert(0, "ID_code", [f"train_{i}" for i in range(rows)])
    return values


SMALL_SANTANDER = replace(DATASETS["santander"], n_rows=40, counts=(32, 8))


def test_the_registry_is_the_papers_appendix_c():
    shapes = {
        name: (DATASETS[name].n_rows, DATASETS[name].n_features, len(DATASETS[name].classes)) for name in DATASETS
    }
    assert shapes == {
        "otto": (61878, 93, 9),
        "gesture": (9873, 32, 5),
        "gas": (13910, 129, 6),
        "gas-drift": (13910, 128, 6),
        "eye": (10936, 26, 3),
        "santander": (200000, 200, 2),
        "house": (22784, 16, 2),
    }
    assert len(PAPER_DATASETS) == 6
    for spec in DATASETS.values():
        assert spec.counts is None or sum(spec.counts) == spec.n_rows


@pytest.mark.parametrize("name", HERE)
def test_real_data_passes_its_checks(name, data_dir):
    data = load_dataset(name, data_dir=data_dir)
    spec = DATASETS[name]
    assert data.x.shape == (spec.n_rows, spec.n_features)
    assert not {"id", "lineNo", spec.target} & set(data.features)
    assert data.metric == ("roc_auc" if name == "house" else "log_loss")


def test_gesture_is_coded_in_the_authors_order(data_dir):
    data = load_dataset("gesture", data_dir=data_dir)
    assert data.classes == ("D", "P", "S", "H", "R")
    assert np.bincount(data.y).tolist() == [2741, 2097, 2950, 998, 1087]


def test_santander_from_kaggles_csv(tmp_path):
    santander().to_csv(tmp_path / "train.csv", index=False)
    data = load_dataset("santander", csv=tmp_path / "train.csv", spec=SMALL_SANTANDER)
    assert data.x.shape == (40, 200)
    assert data.y.sum() == 8
    assert data.features[0] == "var_0"


def test_a_short_file_is_an_error_that_says_what_was_expected(tmp_path):
    santander().to_csv(tmp_path / "santander.csv", index=False)
    with pytest.raises(DatasetMismatchError, match=r"santander .*: expected 200000 rows, found 40"):
        load_dataset("santander", data_dir=tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="target"), "expected a column 'target'"),
        (lambda t: t.drop(columns="var_3"), "expected 200 features, found 199"),
        (lambda t: t.assign(target=[2] * 40), r"expected the classes \['0', '1'\], found also \['2'\]"),
        (lambda t: t.assign(target=[0, 1] * 20), r"expected \[32, 8\] rows per class, found \[20, 20\]"),
        (lambda t: t.assign(var_7=["a"] * 40), "expected numbers only"),
        (lambda t: t.assign(var_7=[np.nan] * 40), "no missing values, found some in column 'var_7'"),
    ],
)
def test_mismatches_are_named(change, message):
    with pytest.raises(DatasetMismatchError, match=message):
        prepare(change(santander()), SMALL_SANTANDER)


@pytest.mark.parametrize("labels", [[1, 0], ["1", "0"], [1.0, 0.0], [np.int8(1), np.int8(0)]])
def test_labels_are_the_same_however_a_source_stores_them(labels):
    table = santander().assign(target=[labels[0]] * 8 + [labels[1]] * 32)
    assert prepare(table, SMALL_SANTANDER).y.tolist() == [1] * 8 + [0] * 32


def test_parquet_in_the_data_directory_takes_precedence(tmp_path, monkeypatch):
    santander().to_csv(tmp_path / "santander.csv", index=False)
    santander().assign(var_0=7.0).to_parquet(tmp_path / "santander.parquet")
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(tmp_path))
    for csv in (None, tmp_path / "santander.csv"):
        data = load_dataset("santander", csv=csv, spec=SMALL_SANTANDER)
        assert (data.x[:, 0] == 7.0).all()


def test_kaggles_own_folder_is_found(tmp_path):
    folder = tmp_path / "santander-customer-transaction-prediction"
    folder.mkdir()
    santander().to_csv(folder / "train.csv", index=False)
    assert load_dataset("santander", data_dir=tmp_path, spec=SMALL_SANTANDER).x.shape == (40, 200)


def test_what_to_download_and_where_to_put_it(tmp_path):
    with pytest.raises(
        DatasetUnavailableError, match=r"train.csv from .*otto-group.* save it as otto.csv .*--data-dir"
    ):
        load_dataset("otto", data_dir=tmp_path)


def test_no_network_says_what_to_download(tmp_path, monkeypatch):
    def unreachable(**_):
        raise OSError("no route to host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    with pytest.raises(DatasetUnavailableError, match=r"OpenML cannot be reached .*openml.org/d/1477.*gas.parquet"):
        load_dataset("gas", data_dir=tmp_path)


def test_openml_is_asked_for_the_right_table(monkeypatch):
    asked = {}

    class Bunch:
        frame = santander()

    def fetch(**options):
        asked.update(options)
        return Bunch

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    monkeypatch.delenv(DATA_DIR_VARIABLE, raising=False)
    spec = replace(SMALL_SANTANDER, kaggle=None, openml_id=4242)
    assert load_dataset("santander", spec=spec).x.shape == (40, 200)
    assert asked["data_id"] == 4242


def test_a_wrong_path_or_name_is_an_error(tmp_path):
    with pytest.raises(DatasetUnavailableError, match="check the path"):
        DataSources.of(tmp_path / "nowhere").read(DATASETS["eye"])
    with pytest.raises(InvalidParameterError, match="dataset must be one of otto"):
        load_dataset("iris")


LABELS = np.repeat([0, 1, 2], [50, 30, 20])


def test_partitions_are_stratified_and_cover_every_row_once():
    partitions = make_partitions(LABELS)
    assert sorted(np.concatenate([part.test for part in partitions.parts])) == list(range(100))
    for part in partitions.parts:
        assert [len(part.train), len(part.validation), len(part.test)] == [70, 10, 20]
        assert np.bincount(LABELS[part.test]).tolist() == [10, 6, 4]
        assert sorted(np.concatenate([part.train, part.validation, part.test])) == list(range(100))


def test_partitions_are_the_same_everywhere():
    """A change of the recipe, or of what scikit-learn makes of it, must not pass unnoticed."""
    partitions = make_partitions(LABELS)
    assert partitions.checksum == "6b2ecf11ddbf4102f4ef1c5c00d9df6f01b386e0893c85ce649ae23c46300614"


def test_partitions_survive_the_file_and_damage_is_noticed(tmp_path):
    path = tmp_path / "p.npz"
    first = stored_partitions(path, LABELS)
    assert stored_partitions(path, LABELS).checksum == first.checksum
    parts = (replace(first.parts[0], test=first.parts[0].test[::-1].copy()), *first.parts[1:])
    assert Partitions(parts).checksum != first.checksum
    arrays = dict(np.load(path))
    np.savez(path, **{**arrays, "test_0": arrays["test_1"]})
    with pytest.raises(ResultStoreError, match="checksum"):
        stored_partitions(path, LABELS)


def test_partitions_of_another_table_are_refused(tmp_path):
    stored_partitions(tmp_path / "p.npz", LABELS)
    with pytest.raises(ResultStoreError, match="other rows"):
        stored_partitions(tmp_path / "p.npz", np.repeat([0, 1], 60))


def test_features_are_standardised_by_the_training_part():
    data = prepare(santander().assign(var_5=3.0), SMALL_SANTANDER)
    split = make_split(data, make_partitions(data.y).parts[0])
    assert np.allclose(split.train.x.mean(axis=0), 0, atol=1e-6)
    assert np.allclose(np.delete(split.train.x.std(axis=0), 5), 1, atol=1e-5)
    assert (split.test.x[:, 5] == 0).all()
    assert not np.allclose(split.test.x.mean(axis=0), 0, atol=1e-3)
