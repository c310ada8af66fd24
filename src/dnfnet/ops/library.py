"""The shared library of the fused kernel: loading it, and its C interface."""

from __future__ import annotations

import ctypes
import functools
import os
from dataclasses import dataclass
from pathlib import Path

# Which instruction set the kernel uses; for measurements and tests, the best one is the default.
INSTRUCTIONS_VARIABLE = "DNFNET_INSTRUCTIONS"
INSTRUCTION_SETS = ("avx512", "avx2", "baseline")
# What ``dnfnet_interface`` must return: a library from before a pull may take other arguments, and would crash.
INTERFACE = 4
LIBRARY = Path(__file__).with_name("_fused.so")

_ptr, _int, _int64, _float = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_float

# Function: what it returns, what it takes; the arguments are described in csrc/api.cpp and csrc/run.h.
_SIGNATURES: dict[str, tuple[type | None, list[type]]] = {
    "dnfnet_interface": (_int, []),
    "dnfnet_kernels": (_ptr, [ctypes.c_char_p]),
    "dnfnet_name": (ctypes.c_char_p, [_ptr]),
    "dnfnet_forward": (_int, [_ptr, _int, _ptr, _int64, _ptr, _ptr, _ptr]),
    "dnfnet_kept_literals": (_int64, [_ptr]),
    "dnfnet_backward": (_int, [_ptr, _int, _ptr, _int64, _ptr, _ptr, _ptr, _ptr, _ptr]),
    "dnfnet_pack": (_ptr, [_ptr, _ptr]),
    "dnfnet_packed": (_int, [_ptr, _int, _ptr, _int64, _ptr, _ptr, ctypes.POINTER(_int)]),
    "dnfnet_free": (None, [_ptr]),
    "dnfnet_local_forward": (_int, [_ptr, _int, _ptr, _ptr]),
    "dnfnet_local_backward": (_int, [_ptr, _int, _ptr, _ptr, _ptr, _ptr, _ptr]),
    "dnfnet_tanh_forward": (_int, [_ptr, _int, _int64, _ptr, _ptr]),
    "dnfnet_tanh_backward": (_int, [_int, _int64, _ptr, _ptr, _ptr]),
}


class Runs(ctypes.Structure):
    """``Runs`` of csrc/pack.h: which inputs come in runs."""

    _fields_ = [("n", _int64), ("runs", _ptr), ("low", _ptr), ("high", _ptr)]


class Parameters(ctypes.Structure):
    """``Parameters`` of csrc/pack.h: a block's dense parameters."""

    _fields_ = [
        ("d_in", _int64),
        ("n_formulas", _int64),
        ("conjunctions", _ptr),
        ("lengths", _ptr),
        ("weight", _ptr),
        ("bias", _ptr),
        ("gate", _ptr),
        ("keep", _ptr),
        ("runs", ctypes.POINTER(Runs)),
        ("sums", _int64),
    ]


class Gradients(ctypes.Structure):
    """``DenseGradients`` of csrc/run.h; a null pointer where none is wanted."""

    _fields_ = [("x", _ptr), ("weight", _ptr), ("bias", _ptr), ("gate", _ptr)]


class Localized(ctypes.Structure):
    """``Localized`` of csrc/run.h: formulas and squared distances."""

    _fields_ = [("rows", _int64), ("n", _int64), ("formulas", _ptr), ("squared", _ptr), ("scale", _float)]


@dataclass(frozen=True)
class Library:
    """The loaded library, or the reason why there is none."""

    functions: ctypes.CDLL | None
    reason: str


@functools.cache
def load() -> Library:
    """Load the library once."""
    if not LIBRARY.exists():
        return Library(None, "the package was built without a C++ compiler, so there is no fused kernel")
    try:
        functions = ctypes.CDLL(str(LIBRARY))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(functions, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        return Library(None, f"the fused kernel cannot be loaded: {error}")
    if functions.dnfnet_interface() != INTERFACE:
        return Library(None, "the fused kernel is of another version: build the package again (pip install -e .)")
    return Library(functions, "loaded")


def functions() -> ctypes.CDLL:
    """The library's functions; an error says why there are none."""
    library = load()
    if library.functions is None:
        raise RuntimeError(library.reason)
    return library.functions


@functools.cache
def kernels(instructions: str) -> int | None:
    """The address of the kernels of an instruction set (the best one for ""); ``None`` if it does not run here."""
    return functions().dnfnet_kernels(instructions.encode())


def default_instructions() -> str:
    """The instruction set that the environment asks for, or "" for the best one."""
    wanted = os.environ.get(INSTRUCTIONS_VARIABLE, "")
    if wanted and wanted not in INSTRUCTION_SETS:
        raise ValueError(f"{INSTRUCTIONS_VARIABLE} must be one of {INSTRUCTION_SETS}, however: {wanted!r}")
    return wanted


def check(status: int) -> None:
    """Turn the library's status into an exception: all that can fail in it is memory."""
    if status:
        raise MemoryError("the fused kernel ran out of memory")
