"""The result store: atomic, shared, and exchanged in a compact form."""

import json

import fakes
import pytest

from dnfnet.exceptions import ResultStoreError
from dnfnet.paper.exchange import export_results, import_results, open_store
from dnfnet.paper.store import Store, write_atomically

OUTCOME = {"status": "ok", "metric": "accuracy", "validation": 0.123456789123, "test": 0.5, "seconds": 1.5}


def filled(path, n=3):
    store = Store(path)
    store.add_environment({"id": "e1", "commit": "abc"})
    for trial in fakes.trials(n):
        store.put(trial, **OUTCOME, environment="e1")
    return store


def test_put_and_get(tmp_path):
    store, (trial, other) = Store(tmp_path), fakes.trials(2)
    assert not store.has(trial.key)
    assert store.get(trial.key) is None
    store.put(trial, **OUTCOME)
    assert Store(tmp_path).get(trial.key)["validation"] == 0.123456789123
    assert not store.has(other.key)
    store.forget(trial.key)
    assert not store.has(trial.key)


def test_a_write_that_breaks_off_leaves_nothing(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_atomically(tmp_path / "x.json", "fine up to here \ud800")
    assert list(tmp_path.iterdir()) == []


def test_half_a_file_and_another_protocol_are_refused(tmp_path):
    store = filled(tmp_path, 1)
    (file,) = tmp_path.glob("trials/*/*.json")
    whole = file.read_text()
    file.write_text(whole[:40])
    with pytest.raises(ResultStoreError, match="is no stored result"):
        store.records()
    file.write_text(json.dumps({**json.loads(whole), "protocol": 0}))
    with pytest.raises(ResultStoreError, match="of protocol 0"):
        store.records()


def test_a_claim_excludes_others_and_ends_with_the_block(tmp_path):
    one, two = Store(tmp_path), Store(tmp_path)
    with one.claim("k") as mine, two.claim("k") as yours, two.claim("other") as free:
        assert (mine, yours, free) == (True, False, True)
    with two.claim("k") as mine:
        assert mine
    assert list((tmp_path / "claims").iterdir()) == []


def test_a_claim_left_by_a_killed_worker_is_free(tmp_path):
    store = Store(tmp_path)
    store.claim_file("k").parent.mkdir()
    store.claim_file("k").touch()
    with store.claim("k") as mine:
        assert mine


def test_export_and_import_are_inverse(tmp_path):
    store = filled(tmp_path / "store")
    (file,) = export_results(store, tmp_path / "results")
    assert file.name == "syn1.jsonl"
    records, environments = import_results(tmp_path / "results")
    assert environments == {"e1": {"id": "e1", "commit": "abc"}}
    assert records.keys() == {trial.key for trial in fakes.trials(3)}
    first = records[fakes.trials(1)[0].key]
    assert first["validation"] == 0.12345679
    assert {**first, "validation": OUTCOME["validation"]} == store.get(fakes.trials(1)[0].key)


def test_exported_files_are_sorted_and_stable(tmp_path):
    filled(tmp_path / "store")
    (file,) = export_results(Store(tmp_path / "store"), tmp_path / "results")
    text = file.read_text()
    lines = text.splitlines()[1:]
    assert lines == sorted(lines)
    # From the committed form alone, without the store, comes the same file again.
    store, environments = open_store(tmp_path / "empty", tmp_path / "results")
    export_results(store, tmp_path / "again", environments)
    assert (tmp_path / "again" / file.name).read_text() == text


def test_committed_results_lie_under_the_store(tmp_path):
    export_results(filled(tmp_path / "store", 2), tmp_path / "results")
    store, environments = open_store(tmp_path / "new", tmp_path / "results")
    one, two, three = fakes.trials(3)
    assert store.has(one.key)
    assert not store.has(three.key)
    assert "e1" in environments
    store.put(two, **{**OUTCOME, "test": 0.75})
    assert [record["test"] for record in sorted(store.records(), key=lambda r: r["config"]["number"])] == [0.5, 0.75]


def test_results_of_another_protocol_are_refused(tmp_path):
    (file,) = export_results(filled(tmp_path / "store"), tmp_path / "results")
    file.write_text(file.read_text().replace('"protocol":1', '"protocol":7', 1))
    with pytest.raises(ResultStoreError, match="protocol 7"):
        import_results(tmp_path / "results")
