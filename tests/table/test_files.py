"""CSV and Parquet files: the same rows whole or in chunks, and one sentence for what is wrong."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from dnfnet.atomic import replacing
from dnfnet.exceptions import InvalidParameterError, InvalidTableError, MissingDependencyError
from dnfnet.table import TableEncoder, count_rows, iter_tables, read_table, write_table

pa = pytest.importorskip("pyarrow")

CSV = 'age,sex,when,member,id\n22,male,2020-01-31,true,7\n,"fe\nmale",2021-01-01,False,8\n3.5,NA,,1,z\n'


@pytest.fixture
def mixed(tmp_path):
    """Numbers that look whole for 3000 rows and then do not, texts that look like numbers, and gaps."""
    n = 5000
    rng = np.random.default_rng(0)
    number = [str(i) if i < 3000 else f"{i}.25" for i in range(n)]
    level = [str(v) if i < 4000 else "late" for i, v in enumerate(rng.integers(0, 4, n))]
    gap = ["" if v else "yes" for v in rng.integers(0, 2, n)]
    path = tmp_path / "mixed.csv"
    path.write_text("n,l,g\n" + "".join(f"{a},{b},{c}\n" for a, b, c in zip(number, level, gap, strict=True)))
    return path


def test_types_of_a_whole_csv_follow_from_all_rows_and_dates_stay_texts(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    assert read_table(tmp_path / "a.csv").to_pydict() == {
        "age": [22.0, None, 3.5],
        "sex": ["male", "fe\nmale", None],
        "when": ["2020-01-31", "2021-01-01", None],
        "member": [True, False, True],
        "id": ["7", "8", "z"],
    }


def test_kinds_decide_the_types_of_chunks(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    kinds = {
        "age": "numeric",
        "sex": "category",
        "when": "datetime",
        "member": "boolean",
        "absent": "numeric",
    }
    chunks = list(iter_tables(tmp_path / "a.csv", 2, kinds=kinds))
    assert [chunk.num_rows for chunk in chunks] == [2, 1]
    for chunk in chunks:
        assert [str(t) for t in chunk.schema.types] == ["double", "string", "timestamp[us]", "bool", "string"]


@pytest.mark.parametrize("chunk_rows", [1, 7, 1000, 5000, 9999])
def test_a_row_is_encoded_the_same_in_every_chunk(mixed, chunk_rows):
    whole = read_table(mixed)
    encoder = TableEncoder().fit(whole)
    limit = 50 if chunk_rows == 1 else 10**9
    parts = []
    for chunk in iter_tables(mixed, chunk_rows, kinds=encoder.schema.kinds):
        parts.append(encoder.transform(chunk))
        if len(parts) == limit:
            break
    encoded = np.concatenate(parts)
    assert np.array_equal(encoded, encoder.transform(whole)[: len(encoded)])


def test_parquet_and_csv_of_the_same_rows_are_encoded_the_same(mixed, tmp_path):
    encoder = TableEncoder().fit(read_table(mixed))
    path = tmp_path / "copy.parquet"
    assert write_table(path, iter_tables(mixed, 700, kinds=encoder.schema.kinds)) == 5000
    assert count_rows(path) == 5000
    assert count_rows(mixed) is None
    chunks = [encoder.transform(chunk) for chunk in iter_tables(path, 999)]
    assert [len(chunk) for chunk in chunks] == [999] * 5 + [5]
    assert np.array_equal(np.concatenate(chunks), encoder.transform(read_table(mixed)))


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_written_numbers_come_back_exactly(tmp_path, ending):
    values = np.random.default_rng(1).normal(size=100) * 10.0 ** np.arange(-50, 50)
    path = tmp_path / f"p.{ending}"
    n_rows = write_table(
        path, ({"y": values[i : i + 30], "l": ["a,b\t"] * len(values[i : i + 30])} for i in range(0, 100, 30))
    )
    assert n_rows == 100
    back = read_table(path)
    assert np.array_equal(back["y"].to_numpy(), values)
    assert set(back["l"].to_pylist()) == {"a,b\t"}


def test_a_failing_generator_leaves_the_old_file(tmp_path):
    def parts():
        yield {"y": [1.0]}
        raise RuntimeError("predictions failed")

    path = tmp_path / "p.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="predictions failed"):
        write_table(path, parts())
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["p.csv"]


def test_the_row_index_of_pandas_is_left_out(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    frame[frame["a"] > 1].to_parquet(tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").column_names == ["a"]
    assert next(iter_tables(tmp_path / "a.parquet")).column_names == ["a"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_with_a_header_and_no_rows_gives_one_empty_table(tmp_path, ending):
    path = tmp_path / f"e.{ending}"
    write_table(path, [{"a": pa.array([], pa.float64())}])
    chunks = list(iter_tables(path, kinds={"a": "numeric"}))
    assert [(chunk.num_rows, chunk.column_names) for chunk in chunks] == [(0, ["a"])]


def test_memory_of_chunks_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "long.parquet"
    write_table(path, ({"a": np.full(50_000, i, dtype=float)} for i in range(40)))
    before, peak = pa.total_allocated_bytes(), 0
    for _ in iter_tables(path, 10_000):
        peak = max(peak, pa.total_allocated_bytes() - before)
    assert peak < 8_000_000  # the file holds 16 MB of numbers


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("absent.csv", None, "does not exist"),
        ("a.xlsx", b"x", "none of the endings"),
        ("a.csv", b"", "is empty: it needs a header and rows"),
        ("a.parquet", b"", "is empty"),
        ("a.parquet", b"PAR1" + b"x" * 50, "cannot be read: .*magic bytes"),
        ("a.csv", b"n,m\n1,2\n3\n", "cannot be read: .*Expected 2 columns, got 1"),
        ("a.csv", b"n,m\n1,q\n", "column 'm':.* CSV conversion error to double: invalid value 'q'"),
    ],
)
def test_what_cannot_be_read(tmp_path, name, content, reason):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidTableError, match=reason):
        list(iter_tables(tmp_path / name, kinds={"n": "numeric", "m": "numeric"}))


def test_every_cut_of_a_parquet_file_is_told(tmp_path):
    path = tmp_path / "a.parquet"
    write_table(path, [{"a": np.arange(100.0), "s": ["x"] * 100}])
    content = path.read_bytes()
    for length in range(0, len(content), 13):
        path.write_bytes(content[:length])
        with pytest.raises(InvalidTableError, match=r"cannot be read|is empty"):
            read_table(path)


def test_misuse_is_told(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    with pytest.raises(InvalidParameterError, match=r"pass kinds=encoder\.schema\.kinds"):
        next(iter_tables(tmp_path / "a.csv"))
    with pytest.raises(InvalidParameterError, match="chunk_rows must be at least 1, however: 0"):
        next(iter_tables(tmp_path / "a.csv", 0))
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(InvalidTableError, match="is not a file"):
        read_table(tmp_path / "d.csv")
    with pytest.raises(InvalidTableError, match="nothing to write"):
        write_table(tmp_path / "b.csv", [])
    with pytest.raises(InvalidTableError, match="cannot be written: No such file"):
        write_table(tmp_path / "no" / "b.csv", [{"a": [1]}])


def test_without_pyarrow_the_command_that_installs_it_is_told(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "a.csv").write_text(CSV)
    with pytest.raises(MissingDependencyError, match=r"pip install 'dnfnet\[io\]'"):
        read_table(tmp_path / "a.csv")


def test_only_regular_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"), replacing(tmp_path / "pipe"):
        pass
    with pytest.raises(IsADirectoryError), replacing(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
    assert (tmp_path / "pipe").is_fifo()


def test_an_empty_line_of_a_single_column_is_a_missing_value(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("x\n1\n\n3\n")
    assert read_table(path).to_pydict() == {"x": [1, None, 3]}
    for chunks in (iter_tables(path, 2, kinds={"x": "numeric"}), [read_table(path, kinds={"x": "numeric"})]):
        assert [value for chunk in chunks for value in chunk["x"].to_pylist()] == [1.0, None, 3.0]
    path.write_text("\n\nx\n1\n\n2\n")
    assert read_table(path).to_pydict() == {"x": [1, None, 2]}
    (tmp_path / "two.csv").write_text("x,y\n1,2\n\n3,4\n\n")
    assert read_table(tmp_path / "two.csv").num_rows == 2


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n", "\r\n\r\n\r\n", "\n" * 10_000])
def test_empty_lines_at_the_end_of_a_single_column_are_no_rows(tmp_path, end):
    """An editor's empty line must not become a prediction that belongs to no row; a quoted nothing is a value."""
    path = tmp_path / "one.csv"
    for text, values in (("x\n1\n\n3", [1, None, 3]), ('x\n1\n""', [1, None]), ("x\n1\nNA", [1, None])):
        path.write_bytes((text + end).encode())
        assert read_table(path).to_pydict() == {"x": values}
        chunks = list(iter_tables(path, 2, kinds={"x": "numeric"}))
        assert [value for chunk in chunks for value in chunk["x"].to_pylist()] == values


@pytest.mark.parametrize("text", ["größe,y\n1,2\n", "x,y\n1,süß\n"])
@pytest.mark.parametrize(("encoding", "name"), [("latin1", "latin1"), ("utf-16", "utf16"), ("utf-16-le", "utf16")])
def test_other_encodings_are_told_how_to_convert(tmp_path, text, encoding, name):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(encoding))
    readers = (
        lambda: read_table(path).column_names,
        lambda: read_table(path, kinds={"y": "category"}).column_names,
        lambda: list(iter_tables(path, kinds={"y": "category"})),
    )
    for read in readers:
        with pytest.raises(InvalidTableError, match=f"a.csv is not UTF-8: convert it, .* -f {name} -t utf8"):
            read()
