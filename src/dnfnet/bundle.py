"""Model files: one safetensors file with a JSON manifest, a version and a checksum. No code runs on opening.

The layout is that of safetensors: eight bytes with the length of the header, the header in JSON, then the
bytes of the tensors. The header's ``__metadata__`` holds

- ``format``: ``dnfnet``, and ``format_version``: a whole number as text;
- ``manifest``: the manifest in strict JSON (NaN and infinite numbers as ``{"$float": "nan"}`` and the like);
- ``sha256``: the digest of the whole file with 64 zeros in the digest's own place.

Files are read here and not by the safetensors library, because a file may come from a stranger: every size is
checked against the file's and the checksum is verified before anything large is allocated, duplicate keys are
refused, and errors are one sentence.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dnfnet.atomic import replacing
from dnfnet.exceptions import ModelFileError

FORMAT = "dnfnet"
FORMAT_VERSION = 1
MAX_HEADER_BYTES = 16 * 2**20
MAX_FILE_BYTES = 4 * 2**30
MAX_DIMENSIONS = 8

_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
_CODES = {np.dtype(dtype): code for code, dtype in _DTYPES.items()}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,199}", re.ASCII)
_NO_DIGEST = "0" * 64
_FLOAT_KEY = "$float"

FilePath = str | os.PathLike[str]
Arrays = dict[str, NDArray[Any]]


def write_bundle(path: FilePath, manifest: Mapping[str, Any], tensors: Mapping[str, Any]) -> None:
    """Write a model file in one step: afterwards there is the old file or the new one.

    Parameters
    ----------
    path : str or path
        Where to write.
    manifest : dict
        Anything that JSON can hold, with string keys; NaN and infinite numbers, too. Tuples become lists.
    tensors : dict of str to ndarray or torch.Tensor
        Numbers and truth values of any shape; they come back as arrays of the same dtype.

    Raises
    ------
    ModelFileError
        If the content cannot be stored, or the file cannot be written.
    """
    arrays = _sorted({name: _as_array(name, tensor) for name, tensor in tensors.items()})
    header = _header(_encode_manifest(manifest), arrays)
    digest = hashlib.sha256(header)
    for array in arrays.values():
        digest.update(array.data if array.size else b"")
    header = header.replace(_NO_DIGEST.encode(), digest.hexdigest().encode(), 1)
    try:
        with replacing(path) as temporary, open(temporary, "xb") as file:
            file.write(header)
            for array in arrays.values():
                file.write(array.data if array.size else b"")
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror or error}.") from error


def read_bundle(path: FilePath) -> tuple[dict[str, Any], Arrays]:
    """Read a model file that :func:`write_bundle` wrote; safe also for a file from a stranger.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    manifest : dict
    tensors : dict of str to ndarray

    Raises
    ------
    ModelFileError
        With one sentence that says what is wrong with the file.
    """
    try:
        size = _checked_size(path)
        with open(path, "rb") as file:
            head, header = _read_header(path, file, size)
            manifest, digest = _checked_metadata(path, header)
            entries = _checked_entries(path, header, size - len(head))
            _check_digest(path, head, file, digest)
            file.seek(len(head))
            arrays = {name: _read_array(path, file, dtype, shape) for name, (dtype, shape) in entries.items()}
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    return _decode_manifest(path, manifest), arrays


def _header(manifest: str, arrays: Arrays) -> bytes:
    """Length and JSON header, with zeros in the place of the digest."""
    entries: dict[str, Any] = {
        # The digest comes first, so that its zeros are the first 64 in the header.
        "__metadata__": {
            "sha256": _NO_DIGEST,
            "format": FORMAT,
            "format_version": str(FORMAT_VERSION),
            "manifest": manifest,
        }
    }
    offset = 0
    for name, array in arrays.items():
        span = [offset, offset + array.nbytes]
        entries[name] = {"dtype": _CODES[array.dtype], "shape": list(array.shape), "data_offsets": span}
        offset += array.nbytes
    text = json.dumps(entries, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER_BYTES or offset + len(text) + 8 > MAX_FILE_BYTES:
        raise ModelFileError(
            f"The model is too large for a file: it has {len(text)} bytes of header (at most "
            f"{MAX_HEADER_BYTES}) and {offset} bytes of tensors (at most {MAX_FILE_BYTES})."
        )
    return len(text).to_bytes(8, "little") + text


def _sorted(arrays: Arrays) -> Arrays:
    """Sort wide dtypes first, which keeps tensors aligned, then by name: one model, one file."""
    return dict(sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0])))


def _as_array(name: str, tensor: Any) -> NDArray[Any]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ModelFileError(f"A tensor's name must be letters, digits, dots and dashes, however: {name!r}.")
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu().numpy()
    array = np.asarray(tensor, order="C")
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if array.dtype not in _CODES or array.ndim > MAX_DIMENSIONS:
        raise ModelFileError(f"Tensor {name!r} cannot be stored: {array.dtype} of {array.ndim} dimensions.")
    return array


def _encode_manifest(manifest: Mapping[str, Any]) -> str:
    try:
        return json.dumps(_encode_floats(manifest), allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"The manifest cannot be stored as JSON: {error}.") from error


def _encode_floats(value: Any) -> Any:
    """Replace what strict JSON has no word for."""
    if isinstance(value, float) and not math.isfinite(value):
        return {_FLOAT_KEY: repr(value)}
    if isinstance(value, Mapping):
        if any(not isinstance(key, str) or key == _FLOAT_KEY for key in value):
            raise TypeError(f"keys must be strings other than {_FLOAT_KEY!r}: {list(value)[:5]}")
        return {key: _encode_floats(item) for key, item in value.items()}
    return [_encode_floats(item) for item in value] if isinstance(value, list | tuple) else value


def _decode_manifest(path: FilePath, text: str) -> dict[str, Any]:
    manifest = _strict_json(path, text)
    try:
        manifest = _decode_floats(manifest)
    except RecursionError:
        _fail(path, "its manifest is nested too deeply")
    if not isinstance(manifest, dict):
        _fail(path, "its manifest is not an object")
    return manifest


def _decode_floats(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {_FLOAT_KEY} and value[_FLOAT_KEY] in ("nan", "inf", "-inf"):
            return float(value[_FLOAT_KEY])
        return {key: _decode_floats(item) for key, item in value.items()}
    return [_decode_floats(item) for item in value] if isinstance(value, list) else value


def _checked_size(path: FilePath) -> int:
    status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise ModelFileError(f"{path} is a directory, not a model file.")
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for ever
        raise ModelFileError(f"{path} is not a regular file.")
    if status.st_size > MAX_FILE_BYTES:
        _fail(path, f"it has {status.st_size} bytes, and at most {MAX_FILE_BYTES} are read")
    return status.st_size


def _read_header(path: FilePath, file: BufferedReader, size: int) -> tuple[bytes, dict[str, Any]]:
    prefix = file.read(8)
    length = int.from_bytes(prefix, "little")
    if len(prefix) < 8 or not 2 <= length <= MAX_HEADER_BYTES:
        _fail(path, "it does not begin like one")
    if length > size - 8:
        _fail(path, f"it is cut short: {length + 8} bytes of header were announced and {size} are there")
    text = file.read(length)
    if len(text) != length or not text.startswith(b'{"__metadata__":'):
        _fail(path, "it does not begin like one")
    header = _strict_json(path, text)
    if not isinstance(header, dict):
        _fail(path, "its header is not an object")
    return prefix + text, header


def _checked_metadata(path: FilePath, header: dict[str, Any]) -> tuple[str, str]:
    metadata = header.pop("__metadata__")
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        _fail(path, "another program wrote it")
    version = metadata.get("format_version")
    if not isinstance(version, str) or not re.fullmatch("[1-9][0-9]{0,5}", version, re.ASCII):
        _fail(path, "its format version is damaged")
    if int(version) > FORMAT_VERSION:
        raise ModelFileError(
            f"{path} was written by a later dnfnet (format {version}, and this one reads up to "
            f"{FORMAT_VERSION}): upgrade with pip install -U dnfnet."
        )
    manifest, digest = metadata.get("manifest"), metadata.get("sha256")
    if not isinstance(manifest, str) or not isinstance(digest, str):
        _fail(path, "its manifest or checksum is missing")
    return manifest, digest


def _checked_entries(path: FilePath, header: dict[str, Any], n_bytes: int) -> dict[str, tuple[str, list[int]]]:
    """Check that the tensors fill the rest of the file, one after the other."""
    entries: dict[str, tuple[str, list[int]]] = {}
    offset = 0
    for name, entry in header.items():
        dtype, shape = _checked_entry(path, name, entry)
        stop = offset + math.prod(shape) * np.dtype(dtype).itemsize
        if entry.get("data_offsets") != [offset, stop] or stop > n_bytes:
            _fail(path, f"it is cut short, or tensor {name!r} does not lie where its size says")
        entries[name] = (dtype, shape)
        offset = stop
    if offset != n_bytes:
        _fail(path, f"it has {n_bytes} bytes of tensors where {offset} were announced")
    return entries


def _checked_entry(path: FilePath, name: str, entry: Any) -> tuple[str, list[int]]:
    if not _NAME.fullmatch(name) or not isinstance(entry, dict):
        _fail(path, f"the entry of tensor {name[:50]!r} is damaged")
    code, shape = entry.get("dtype"), entry.get("shape")
    if not isinstance(code, str) or code not in _DTYPES:
        _fail(path, f"the type of tensor {name!r} is damaged")
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS:
        _fail(path, f"the shape of tensor {name!r} is damaged")
    if not all(type(n) is int and 0 <= n <= MAX_FILE_BYTES for n in shape):
        _fail(path, f"the shape of tensor {name!r} is damaged")
    if math.prod(max(n, 1) for n in shape) > MAX_FILE_BYTES:  # numpy refuses it even if a length is 0
        _fail(path, f"tensor {name!r} is too large")
    return _DTYPES[code], shape


def _check_digest(path: FilePath, head: bytes, file: BufferedReader, stored: str) -> None:
    """Compare the checksum with that of the file, whose tensors come next, in little memory."""
    mark = b'{"__metadata__":{"sha256":"'
    start = 8 + len(mark)
    if head[8:start] != mark or head[start : start + 65] != f'{stored}"'.encode("ascii", "replace"):
        _fail(path, "its checksum is missing")
    digest = hashlib.sha256(head[:start] + _NO_DIGEST.encode() + head[start + 64 :])
    while block := file.read(2**20):
        digest.update(block)
    if digest.hexdigest() != stored:
        _fail(path, "its checksum is wrong, so it was damaged or edited")


def _read_array(path: FilePath, file: BufferedReader, dtype: str, shape: list[int]) -> NDArray[Any]:
    block = bytearray(math.prod(shape) * np.dtype(dtype).itemsize)
    if file.readinto(block) != len(block):
        _fail(path, "it became shorter while it was read")
    if dtype == "|b1" and block.strip(b"\0\1"):
        _fail(path, "a truth value in it is neither 0 nor 1")
    return np.frombuffer(block, dtype=dtype).reshape(shape)


def _strict_json(path: FilePath, text: str | bytes) -> Any:
    try:
        if isinstance(text, bytes):
            text = text.decode("ascii")
        return json.loads(
            text,
            object_pairs_hook=_unique_pairs,
            parse_constant=_no_constant,
            parse_float=_finite_float,
        )
    except (ValueError, RecursionError):
        _fail(path, "its JSON is damaged")


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("duplicate key")
    return entries


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no float64")
    return number


def _fail(path: FilePath, reason: str) -> NoReturn:
    raise ModelFileError(f"{Path(path)} is not a readable dnfnet model file: {reason}.")
