"""Tables in CSV and Parquet files, whole or in chunks of bounded memory (extra ``dnfnet[io]``).

CSV has no types, so somebody must decide them. Reading a whole file infers them from all its rows, except
that dates stay texts: they are never guessed. Reading in chunks takes them from the schema of a fitted model,
because a type inferred from the first rows may not hold for the last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

from dnfnet.atomic import replacing
from dnfnet.compat import require
from dnfnet.exceptions import InvalidParameterError, InvalidTableError

FilePath = str | os.PathLike[str]

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
_ADVICE = {
    "\t": "tabs: name it .tsv",
    ";": "';': separate it by commas, decimals by points",
    ",": "commas: name it .csv",
}
# What pandas.read_csv takes for missing, so that a file means the same to both.
_MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
    "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
_READ_BYTES = 2**16  # of each column at a time
_INDEX = re.compile(r"__index_level_\d+__")  # how pandas stores a row index in Parquet


def read_table(path: FilePath, *, kinds: Mapping[str, str] | None = None) -> Any:
    """Read a CSV, TSV or Parquet file as an Arrow table.

    Parameters
    ----------
    path : str or path
        The file; its ending says what it is.
    kinds : dict of str to str, optional
        Kinds of columns by name, as ``Schema.kinds`` gives them. Only CSV needs them: without, the types
        follow from the values of the whole file, and dates are texts.

    Returns
    -------
    pyarrow.Table
    """
    suffix = _checked_suffix(path)
    with _told(path):
        if suffix in _PARQUET:
            with _arrow("parquet").ParquetFile(path) as file:
                return _without_index(file.read())
        types = {} if kinds is None else _csv_types(path, kinds)
        table = _arrow("csv").read_csv(_csv_source(path), **_options(path, types))
        return table if kinds is not None else _dates_as_texts(path, _refuse_binary(path, table))


def iter_tables(path: FilePath, chunk_rows: int = 65_536, *, kinds: Mapping[str, str] | None = None) -> Iterator[Any]:
    """Read a CSV, TSV or Parquet file in chunks, in memory that does not grow with the file.

    Parameters
    ----------
    path : str or path
        The file; its ending says what it is.
    chunk_rows : int
        The most rows in a chunk.
    kinds : dict of str to str, optional
        Kinds of columns by name, as ``Schema.kinds`` gives them; necessary for CSV, whose other columns come
        as texts.

    Yields
    ------
    pyarrow.Table
        At least one, which has no rows if the file has none.
    """
    if chunk_rows < 1:
        raise InvalidParameterError(f"chunk_rows must be at least 1, however: {chunk_rows!r}")
    suffix = _checked_suffix(path)
    if suffix not in _PARQUET and kinds is None:
        raise InvalidParameterError(f"{path} has no types: pass kinds=encoder.schema.kinds to read it in chunks.")
    batches = _parquet_batches(path, chunk_rows) if suffix in _PARQUET else _csv_batches(path, kinds or {})
    with _told(path):
        yield from _regrouped(batches, chunk_rows)


def count_rows(path: FilePath) -> int | None:
    """Tell how many rows a file has if that costs nothing (Parquet), else None; for progress bars."""
    if _checked_suffix(path) not in _PARQUET:
        return None
    with _told(path):
        return int(_arrow("parquet").read_metadata(path).num_rows)


def write_table(path: FilePath, tables: Iterable[Any]) -> int:
    """Write tables one after the other to one CSV, TSV or Parquet file, which appears when all is written.

    Parameters
    ----------
    path : str or path
        The file; its ending says what it becomes.
    tables : iterable of dict of str to array, or of pyarrow.Table
        Parts with the same columns; a generator keeps memory bounded. The first decides the types.

    Returns
    -------
    int
        Number of rows written.
    """
    suffix = _known_suffix(path)
    n_rows = 0
    with _told(path, "written"), replacing(path) as temporary:
        parts = (_as_arrow(table) for table in tables)
        first = next(parts, None)
        if first is None:
            raise InvalidTableError(f"There is nothing to write to {path}: not a single part was given.")
        with _writer(str(temporary), suffix, first.schema) as writer:
            for part in _chain(first, parts):
                writer.write_table(part.cast(first.schema))
                n_rows += part.num_rows
    return n_rows


def separator_hint(path: FilePath) -> str:
    """Say by what a CSV or TSV file seems to be separated, if its header has one column for want of that; else ''."""
    own = _DELIMITERS.get(_known_suffix(path))
    with open(path, "rb") as file:
        header = file.readline(65_536).decode(errors="replace")
    others = [mark for mark in _ADVICE if mark in header]
    return "" if own is None or own in header or not others else f"; it seems to be separated by {_ADVICE[others[0]]}"


def _parquet_batches(path: FilePath, chunk_rows: int) -> Iterator[Any]:
    # By default Arrow keeps all that it has read until the file is closed, and reads a row group as a whole.
    with _arrow("parquet").ParquetFile(path, pre_buffer=False, buffer_size=_READ_BYTES) as file:
        yield _without_index(file.schema_arrow.empty_table())
        for batch in file.iter_batches(batch_size=chunk_rows):
            yield _without_index(_arrow().Table.from_batches([batch]))


def _csv_batches(path: FilePath, kinds: Mapping[str, str]) -> Iterator[Any]:
    with _arrow("csv").open_csv(_csv_source(path), **_options(path, _csv_types(path, kinds))) as reader:
        yield reader.schema.empty_table()
        for batch in reader:
            yield _arrow().Table.from_batches([batch])


def _regrouped(tables: Iterator[Any], chunk_rows: int) -> Iterator[Any]:
    """Collect small batches and cut large ones, the first being empty."""
    pending = next(tables)
    empty = True
    for table in tables:
        pending = _arrow().concat_tables([pending, table])
        while pending.num_rows >= chunk_rows:
            yield pending.slice(0, chunk_rows)
            pending, empty = pending.slice(chunk_rows), False
    if pending.num_rows or empty:
        yield pending


def _csv_types(path: FilePath, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Give every column of a CSV file a type: that of its kind, or text."""
    pa = _arrow()
    type_of = {
        "numeric": pa.float64(),
        "boolean": pa.bool_(),
        "category": pa.string(),
        "datetime": pa.timestamp("us"),
    }
    return {name: type_of.get(kinds.get(name, ""), pa.string()) for name in _csv_names(path)}


def _csv_names(path: FilePath) -> list[str]:
    if _is_utf16(path):  # Arrow would blame the number of columns
        raise _not_utf8(path)
    options = _arrow("csv").ParseOptions(delimiter=_DELIMITERS[_known_suffix(path)], newlines_in_values=True)
    with _arrow("csv").open_csv(path, parse_options=options) as reader:
        return list(reader.schema.names)


def _refuse_binary(path: FilePath, table: Any) -> Any:
    """Refuse texts that Arrow took for bytes, which it does if they are not UTF-8."""
    if any(_arrow("types").is_binary(kind) for kind in table.schema.types):
        raise _not_utf8(path)
    return table


def _dates_as_texts(path: FilePath, table: Any) -> Any:
    """Read again, if Arrow took texts for dates or times."""
    types = _arrow("types")
    if not any(types.is_temporal(kind) for kind in table.schema.types):
        return table
    pairs = zip(table.schema.names, table.schema.types, strict=True)
    fixed = {name: _arrow().string() if types.is_temporal(kind) else kind for name, kind in pairs}
    return _arrow("csv").read_csv(_csv_source(path), **_options(path, fixed))


def _options(path: FilePath, types: Mapping[str, Any]) -> dict[str, Any]:
    """How to read a CSV file; with one column, an empty line between others is a missing value."""
    csv, single = _arrow("csv"), len(_csv_names(path)) == 1
    delimiter = _DELIMITERS[_known_suffix(path)]
    return {
        "read_options": csv.ReadOptions(skip_rows=_leading_empty_lines(path) if single else 0),
        "parse_options": csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=not single),
        "convert_options": _converting(types),
    }


def _csv_source(path: FilePath) -> Any:
    """The file; with one column, without the empty lines at its end, which editors leave and nobody means as a row."""
    if len(_csv_names(path)) > 1:
        return os.fspath(path)
    return _arrow().OSFile(os.fspath(path)).get_stream(0, _end_of_text(path))


def _end_of_text(path: FilePath) -> int:
    """The position behind the last line that is not empty."""
    with open(path, "rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(end - 4096, 0)
            file.seek(start)
            kept = file.read(end - start).rstrip(b"\r\n")
            if kept:
                file.seek(start + len(kept))
                breaks = file.read(2)  # Arrow wants a header to end in one
                return start + len(kept) + (2 if breaks == b"\r\n" else len(breaks[:1]))
            end = start
    return 0


def _leading_empty_lines(path: FilePath) -> int:
    with open(path, "rb") as file:
        return sum(1 for _ in takewhile(lambda line: not line.strip(b"\r\n"), file))


def _converting(types: Mapping[str, Any]) -> Any:
    return _arrow("csv").ConvertOptions(column_types=dict(types), null_values=list(_MISSING), strings_can_be_null=True)


def _without_index(table: Any) -> Any:
    return table.drop_columns([name for name in table.column_names if _INDEX.fullmatch(name)])


def _as_arrow(table: Any) -> Any:
    return _arrow().table(table) if isinstance(table, Mapping) else table


def _chain(first: Any, rest: Iterable[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def _writer(path: str, suffix: str, schema: Any) -> Any:
    if suffix in _PARQUET:
        return _arrow("parquet").ParquetWriter(path, schema)
    options = _arrow("csv").WriteOptions(delimiter=_DELIMITERS[suffix], quoting_style="needed")
    return _arrow("csv").CSVWriter(path, schema, write_options=options)


def _known_suffix(path: FilePath) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (*_DELIMITERS, *_PARQUET):
        raise InvalidTableError(f"{path} has none of the endings {[*_DELIMITERS, *_PARQUET]}: rename or convert it.")
    return suffix


def _checked_suffix(path: FilePath) -> str:
    suffix = _known_suffix(path)
    if not Path(path).exists():
        raise InvalidTableError(f"{path} does not exist.")
    if not Path(path).is_file():
        raise InvalidTableError(f"{path} is not a file.")
    if Path(path).stat().st_size == 0:
        raise InvalidTableError(f"{path} is empty: it needs a header and rows.")
    return suffix


@contextmanager
def _told(path: FilePath, done: str = "read") -> Iterator[None]:
    """Tell Arrow's and the system's errors in one sentence with the file's name."""
    pa = _arrow()
    try:
        yield
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error
    except (pa.ArrowException, OSError) as error:
        reason = _reason(error)
        if "invalid UTF8" in reason:
            raise _not_utf8(path) from error
        hint = separator_hint(path) if "Expected 1 columns" in reason else ""
        raise InvalidTableError(f"{path} cannot be {done}: {_with_name(path, reason).rstrip('.')}{hint}.") from error


def _reason(error: Exception) -> str:
    """What went wrong without the file's name, which Arrow has in its own long text."""
    text = (isinstance(error, OSError) and error.strerror) or str(error).partition("\n")[0]
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno and "Detail" in text else text


def _not_utf8(path: FilePath) -> InvalidTableError:
    name = "utf16" if _is_utf16(path) else "latin1"
    return InvalidTableError(f"{path} is not UTF-8: convert it, such as by  iconv -f {name} -t utf8 {path} > new.csv")


def _is_utf16(path: FilePath) -> bool:
    with open(path, "rb") as file:
        start = file.read(64)
    return b"\0" in start or start.startswith((b"\xff\xfe", b"\xfe\xff"))


def _with_name(path: FilePath, reason: str) -> str:
    """Replace the number of a CSV column by its name."""
    found = re.search(r"[Ii]n CSV column #(\d+)", reason)
    if found is None:
        return reason
    names = list(_csv_types(path, {}))
    return reason.replace(found[0], f"column {names[int(found[1])]!r}")


def _arrow(module: str = "") -> Any:
    """Import pyarrow, or a part of it, when it is needed."""
    return require(f"pyarrow.{module}" if module else "pyarrow", "io")
