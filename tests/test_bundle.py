"""Model files: the same bits come back, damage is told in one sentence, and writing is all or nothing."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from dnfnet import bundle
from dnfnet.bundle import read_bundle, write_bundle
from dnfnet.exceptions import ModelFileError

MANIFEST = {"name": "häuser", "history": [0.1, math.pi, 1e-308], "n": 3, "flag": True, "none": None}
TENSORS = {"w": np.arange(3, dtype=np.float32), "b": np.array([True, False])}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.dnfnet"


@pytest.fixture
def tiny(path):
    write_bundle(path, MANIFEST, TENSORS)
    return path.read_bytes()


def raw_file(metadata, entries=None, data=b"", *, text=None, digest=True):
    """Build a file by hand, with a right checksum over whatever it holds."""
    meta = {"sha256": "0" * 64, "format": "dnfnet", "format_version": "1", **metadata}
    header = {"__metadata__": meta, **(entries or {})}
    text = (text or json.dumps(header, separators=(",", ":"))).encode()
    raw = len(text).to_bytes(8, "little") + text + data
    if digest:
        raw = raw.replace(b"0" * 64, bundle.hashlib.sha256(raw).hexdigest().encode(), 1)
    return raw


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", ">f8", ">i4"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (0, 4), (2, 1, 3)])
def test_arrays_come_back_with_dtype_shape_and_bits(path, dtype, shape):
    array = np.random.default_rng(0).normal(size=shape).astype(dtype)
    write_bundle(path, {}, {"a": array})
    back = read_bundle(path)[1]["a"]
    assert back.dtype == array.dtype.newbyteorder("=")
    assert back.shape == shape
    assert back.flags.writeable
    assert np.array_equal(back, array)


def test_every_float_survives_in_tensor_and_manifest(path):
    bits = np.random.default_rng(1).integers(0, 2**64, 500, dtype=np.uint64)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1.7e308])
    floats = np.concatenate([bits.view(np.float64), special])
    write_bundle(path, {"f": floats.tolist()}, {"f": floats})
    manifest, tensors = read_bundle(path)
    assert tensors["f"].tobytes() == floats.tobytes()
    assert np.array_equal(np.array(manifest["f"]), floats, equal_nan=True)
    assert math.copysign(1, manifest["f"][501]) == -1


def test_manifest_comes_back_equal(path):
    manifest = {"a": {"b": [1, 2.5, "x", None, True, {}]}, "odd \ud800 名": "\0\n", "big": 2**80}
    write_bundle(path, manifest, {})
    assert read_bundle(path) == (manifest, {})


def test_torch_tensors_and_views_are_stored(path):
    torch = pytest.importorskip("torch")
    grid = torch.arange(6.0, requires_grad=True).reshape(2, 3)
    write_bundle(path, {}, {"t": grid.T, "v": np.arange(10)[::3]})
    tensors = read_bundle(path)[1]
    assert tensors["t"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert tensors["v"].tolist() == [0, 3, 6, 9]
    assert torch.from_numpy(tensors["t"]).dtype == torch.float32


def test_same_content_is_the_same_bytes_in_any_order(path, tiny):
    write_bundle(path, MANIFEST, dict(reversed(TENSORS.items())))
    assert path.read_bytes() == tiny


def test_safetensors_reads_the_file(path):
    library = pytest.importorskip("safetensors.numpy")
    tensors = {"bool": np.array([True]), "wide": np.array([1.5, 2.5]), "narrow": np.float32([[3.5]])}
    write_bundle(path, MANIFEST, tensors)
    loaded = library.load_file(path)
    assert {name: array.tolist() for name, array in loaded.items()} == {
        name: array.tolist() for name, array in tensors.items()
    }


def test_every_flipped_byte_is_noticed(path, tiny):
    for position in range(len(tiny)):
        for flip in (0x01, 0x20, 0xFF):  # 0x20 changes the case of a letter, as in the digest
            damaged = bytearray(tiny)
            damaged[position] ^= flip
            path.write_bytes(damaged)
            with pytest.raises(ModelFileError, match=r"model\.dnfnet .*\.$"):
                read_bundle(path)


def test_every_cut_and_every_addition_is_noticed(path, tiny):
    for length in range(len(tiny)):
        path.write_bytes(tiny[:length])
        with pytest.raises(ModelFileError, match="not a readable dnfnet model file"):
            read_bundle(path)
    path.write_bytes(tiny + b"\0")
    with pytest.raises(ModelFileError, match="15 bytes of tensors where 14 were announced"):
        read_bundle(path)


def test_random_files_give_one_clear_error(path):
    rng = np.random.default_rng(2)
    for _ in range(300):
        path.write_bytes(rng.bytes(int(rng.integers(0, 200))))
        with pytest.raises(ModelFileError, match="not a readable dnfnet model file"):
            read_bundle(path)


@pytest.mark.parametrize("length", [0, 1, 2**20, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1])
def test_hostile_header_lengths_allocate_nothing(path, tiny, length):
    path.write_bytes(length.to_bytes(8, "little") + tiny[8:])
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="not a readable dnfnet model file"):
        read_bundle(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**21


HOSTILE_ENTRIES = {
    "huge shape": {"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}},
    "many huge": {"a": {"dtype": "F32", "shape": [2**31] * 8, "data_offsets": [0, 4]}},
    "zero times huge": {"a": {"dtype": "F32", "shape": [0] + [2**32] * 4, "data_offsets": [0, 0]}},
    "nine dimensions": {"a": {"dtype": "F32", "shape": [1] * 9, "data_offsets": [0, 4]}},
    "negative": {"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}},
    "float shape": {"a": {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]}},
    "bool shape": {"a": {"dtype": "F32", "shape": [True], "data_offsets": [0, 4]}},
    "text shape": {"a": {"dtype": "F32", "shape": "1", "data_offsets": [0, 4]}},
    "no shape": {"a": {"dtype": "F32", "data_offsets": [0, 4]}},
    "object dtype": {"a": {"dtype": "O", "shape": [1], "data_offsets": [0, 4]}},
    "dtype list": {"a": {"dtype": [], "shape": [1], "data_offsets": [0, 4]}},
    "wrong place": {"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}},
    "no place": {"a": {"dtype": "F32", "shape": [1]}},
    "overlap": {
        "a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
        "b": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
    },
    "path": {"../../etc/passwd": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}},
    "absolute": {"/tmp/a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}},
    "empty name": {"": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}},
    "control name": {"a\n\x1b[31m": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}},
    "not an object": {"a": 5},
    "bad bool": {"a": {"dtype": "BOOL", "shape": [4], "data_offsets": [0, 4]}},
}


@pytest.mark.parametrize("entries", HOSTILE_ENTRIES.values(), ids=HOSTILE_ENTRIES)
def test_hostile_tensor_entries(path, entries):
    """The checksum is right in each, as a stranger's would be."""
    path.write_bytes(raw_file({"manifest": "{}"}, entries, b"\2\2\2\2"))
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="not a readable dnfnet model file"):
        read_bundle(path)
    assert tracemalloc.get_traced_memory()[1] < 2**21
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"format": "other", "manifest": "{}"}, "another program wrote it"),
        ({"format_version": 1, "manifest": "{}"}, "format version is damaged"),
        ({"format_version": "-1", "manifest": "{}"}, "format version is damaged"),
        ({"format_version": "2", "manifest": "{}"}, r"written by a later dnfnet \(format 2.*pip install -U"),
        ({}, "manifest or checksum is missing"),
        ({"manifest": {}}, "manifest or checksum is missing"),
        ({"manifest": "[]"}, "manifest is not an object"),
        ({"manifest": '{"a": NaN}'}, "JSON is damaged"),
        ({"manifest": '{"a": 1e999}'}, "JSON is damaged"),
        ({"manifest": '{"a": 1, "a": 2}'}, "JSON is damaged"),
        ({"manifest": '{"a": ' + "9" * 10_000 + "}"}, "JSON is damaged"),
        ({"manifest": '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"}, "JSON is damaged|nested too deeply"),
    ],
)
def test_hostile_manifests(path, metadata, reason):
    path.write_bytes(raw_file(metadata))
    with pytest.raises(ModelFileError, match=reason):
        read_bundle(path)


@pytest.mark.parametrize(
    "text",
    [
        '{"__metadata__":{"sha256":"' + "0" * 64 + '"},"__metadata__":{}}',
        '{"__metadata__":[]}',
        '{"__metadata__":' + "[" * 200_000,
        '{"__metadata__":{"format":"dnfnet","format_version":"1","manifest":"{}","sha256":"' + "0" * 64 + '"}}',
        '{"w":{}}',
        "[1]",
    ],
    ids=["duplicate", "list", "deep", "digest elsewhere", "no metadata", "no object"],
)
def test_hostile_headers(path, text):
    path.write_bytes(raw_file({}, text=text))
    with pytest.raises(ModelFileError, match="not a readable dnfnet model file"):
        read_bundle(path)


def test_edited_manifest_is_noticed(path, tiny):
    path.write_bytes(tiny.replace(b'\\"n\\":3', b'\\"n\\":4'))
    with pytest.raises(ModelFileError, match="checksum is wrong, so it was damaged or edited"):
        read_bundle(path)


def test_an_oversized_file_is_refused_before_reading(path, monkeypatch, tiny):
    monkeypatch.setattr(bundle, "MAX_FILE_BYTES", 100)
    with pytest.raises(ModelFileError, match="at most 100 are read"):
        read_bundle(path)
    with pytest.raises(ModelFileError, match="too large for a file"):
        write_bundle(path, MANIFEST, TENSORS)


@pytest.mark.parametrize(
    ("manifest", "tensors", "reason"),
    [
        ({"a": object()}, {}, "not JSON serializable"),
        ({1: 2}, {}, "keys must be strings"),
        ({"$float": "nan"}, {}, "keys must be strings other than"),
        ({}, {"../a": np.zeros(1)}, "name must be letters"),
        ({}, {"a": np.array(["x"])}, "'a' cannot be stored"),
        ({}, {"a": np.array([object()])}, "'a' cannot be stored"),
        ({}, {"a": np.zeros(2, complex)}, "'a' cannot be stored"),
        ({}, {"a": np.zeros((1,) * 9)}, "'a' cannot be stored"),
    ],
)
def test_what_cannot_be_stored_leaves_the_old_file(path, tiny, manifest, tensors, reason):
    with pytest.raises(ModelFileError, match=reason):
        write_bundle(path, manifest, tensors)
    assert path.read_bytes() == tiny


def test_a_circular_manifest_is_refused(path):
    loop: dict = {}
    loop["self"] = loop
    with pytest.raises(ModelFileError, match="cannot be stored as JSON"):
        write_bundle(path, loop, {})


def test_places_that_are_no_file(tmp_path):
    with pytest.raises(ModelFileError, match="is a directory"):
        read_bundle(tmp_path)
    with pytest.raises(ModelFileError, match="cannot be read: No such file"):
        read_bundle(tmp_path / "absent")
    with pytest.raises(ModelFileError, match="cannot be written: No such file"):
        write_bundle(tmp_path / "absent" / "model", {}, {})
    with pytest.raises(ModelFileError, match="cannot be written"):
        write_bundle(tmp_path, {}, {})
    assert list(tmp_path.parent.glob(".*.tmp")) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        read_bundle(tmp_path / "pipe")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(path, tiny):
    path.chmod(0)
    with pytest.raises(ModelFileError, match="Permission denied"):
        read_bundle(path)


def test_a_failed_write_keeps_the_old_file_and_no_rest(path, tiny, monkeypatch):
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(ModelFileError, match="cannot be written: No space left"):
        write_bundle(path, {"new": 1}, {})
    assert path.read_bytes() == tiny
    assert [entry.name for entry in path.parent.iterdir()] == ["model.dnfnet"]


def test_a_link_keeps_pointing_at_its_file(tmp_path):
    (tmp_path / "store").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "store" / "real")
    write_bundle(link, {"a": 1}, {})
    assert link.is_symlink()
    assert read_bundle(tmp_path / "store" / "real")[0] == {"a": 1}


KILLER = """
import itertools, os, random, signal, sys, time
import numpy as np
from dnfnet.bundle import read_bundle, write_bundle

path, pick, longest = sys.argv[1], random.Random(3), 0.03
write_bundle(path, {"i": 0}, {"w": np.zeros(20_000)})
seen = set()
for _ in range(40):
    child = os.fork()
    if child == 0:
        for i in itertools.count():
            write_bundle(path, {"i": i}, {"w": np.full(20_000, float(i))})
    time.sleep(pick.uniform(0, longest))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    manifest, tensors = read_bundle(path)
    assert (tensors["w"] == manifest["i"]).all()
    seen.add(manifest["i"])
    longest = longest if len(seen) > 1 else min(2 * longest, 2)  # on a busy machine the writers take longer to start
print(len(seen))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_a_killed_writer_leaves_a_whole_file(path):
    """Each round kills a writer at another moment; the file is always one that was written in full."""
    result = subprocess.run([sys.executable, "-c", KILLER, str(path)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 1  # the writers did get to write
