"""Learned targets as entries of a model file, and back; an entry may come from a stranger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dnfnet.estimators.arrays import object_array
from dnfnet.estimators.real_targets import Reals
from dnfnet.estimators.targets import Labels, LabelSets
from dnfnet.exceptions import ModelFileError

NUMBERS = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float32", "float64")
TIMES = tuple(
    f"{kind}64[{unit}]" for kind in ("datetime", "timedelta") for unit in ("D", "h", "m", "s", "ms", "us", "ns")
)
LOSSES = ("squared_error", "quantile", "poisson")

Arrays = dict[str, NDArray]
Target = Labels | LabelSets | Reals


def target_state(target: Target) -> tuple[dict[str, Any], Arrays]:
    """A dict for JSON, and arrays."""
    if isinstance(target, Labels):
        return _labels_state(target.classes), {}
    if isinstance(target, LabelSets):
        return {"kind": "label_sets", "n_labels": target.n_labels, "dtype": target.dtype.name}, {}
    entry = {"kind": "reals", "flat": target.flat, "loss": target.loss, "quantiles": list(target.quantiles)}
    return entry, {"mean": target.mean, "deviation": target.deviation}


def read_target(entry: dict[str, Any], arrays: Arrays) -> Target:
    """The target of an entry that ``target_state`` gave; anything else is an error."""
    kinds: dict[str, Callable[..., Target]] = {
        "labels": _read_labels,
        "label_sets": _read_label_sets,
        "reals": _read_reals,
    }
    kind = entry["kind"]
    if not isinstance(kind, str) or kind not in kinds:
        fail(f"its target is of the unknown kind {kind!r}")
    return kinds[kind](entry, arrays)


def fail(reason: str) -> NoReturn:
    """Say in one sentence why a model cannot go to or come from a file."""
    raise ModelFileError(f"The model cannot be stored or read: {reason}.")


def _labels_state(classes: NDArray) -> dict[str, Any]:
    text = classes.dtype.kind in "UO"
    values = classes.astype(np.int64).tolist() if classes.dtype.kind in "mM" else classes.tolist()
    if not all(isinstance(value, str) for value in values) if text else classes.dtype.name not in (*NUMBERS, *TIMES):
        kind = type(classes[0]).__name__
        fail(
            f"a file keeps labels that are numbers, text or dates of numpy, and these are {kind}: fit on "
            "[str(label) for label in y], or keep the model by pickle"
        )
    dtype = "text" if text else classes.dtype.name
    return {"kind": "labels", "classes": values, "dtype": dtype, "objects": classes.dtype.kind == "O"}


def _read_labels(entry: dict[str, Any], arrays: Arrays) -> Labels:  # noqa: ARG001
    values, text = entry["classes"], entry["dtype"] == "text"
    if not isinstance(values, list) or len(values) < 2:
        fail("it has fewer than two classes")
    if text:
        if not all(isinstance(value, str) for value in values):
            fail("its labels are not the texts that they should be")
        classes = object_array(values) if entry["objects"] else np.array(values)
    else:
        if not all(isinstance(value, int | float) for value in values):
            fail("its labels are not the numbers that they should be")
        times = entry["dtype"] in TIMES
        classes = np.array(values, dtype=np.int64 if times else _number_type(entry["dtype"]))
        classes = classes.astype(entry["dtype"]) if times else classes
    if classes.dtype.kind in "mM" and np.isnat(classes).any():
        fail("one of its labels is no date")
    if (classes[1:] <= classes[:-1]).any():
        fail("its labels are not in order")
    return Labels(classes)


def _read_label_sets(entry: dict[str, Any], arrays: Arrays) -> LabelSets:  # noqa: ARG001
    if type(entry["n_labels"]) is not int or entry["n_labels"] < 2:
        fail("its number of labels is damaged")
    return LabelSets(entry["n_labels"], _number_type(entry["dtype"]))


def _read_reals(entry: dict[str, Any], arrays: Arrays) -> Reals:
    mean, deviation, quantiles = arrays["mean"], arrays["deviation"], entry["quantiles"]
    for array in (mean, deviation):
        if array.ndim != 1 or not len(array) or array.dtype != np.float64 or not np.isfinite(array).all():
            fail("the scale of its target is damaged")
    if len(mean) != len(deviation) or (deviation < 0).any() or type(entry["flat"]) is not bool:
        fail("the scale of its target is damaged")
    if entry["loss"] not in LOSSES or not isinstance(quantiles, list):
        fail("its loss is damaged")
    if entry["flat"] and len(mean) > 1:
        fail("its target is flat and has several outputs")
    return Reals(mean, deviation, entry["flat"], entry["loss"], tuple(quantiles))


def _number_type(name: Any) -> np.dtype:
    if name not in NUMBERS:
        fail(f"its labels are of type {name}")
    return np.dtype(name)
