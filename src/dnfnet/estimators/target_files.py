"""Learned targets as entries of a model file, and back; an entry may come from a stranger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dnfnet.estimators.real_targets import Reals
from dnfnet.estimators.targets import Labels, LabelSets
from dnfnet.exceptions import ModelFileError

NUMBERS = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float32", "float64")
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
    text = classes.dtype.kind in "UOT"
    values = classes.tolist()
    if text and not all(isinstance(value, str) for value in values):
        fail(f"labels of these kinds cannot be stored: {sorted({type(value).__name__ for value in values})}")
    if not text and classes.dtype.name not in NUMBERS:
        fail(f"labels of type {classes.dtype.name} cannot be stored: use numbers or text")
    dtype = "text" if text else classes.dtype.name
    return {"kind": "labels", "classes": values, "dtype": dtype, "objects": classes.dtype.kind == "O"}


def _read_labels(entry: dict[str, Any], arrays: Arrays) -> Labels:  # noqa: ARG001
    values, text = entry["classes"], entry["dtype"] == "text"
    if not isinstance(values, list) or len(values) < 2:
        fail("it has fewer than two classes")
    if text:
        if not all(isinstance(value, str) for value in values):
            fail("its labels are not the texts that they should be")
        classes = np.array(values, dtype=object if entry["objects"] else None)
    else:
        if not all(isinstance(value, int | float) for value in values):
            fail("its labels are not the numbers that they should be")
        classes = np.array(values, dtype=_number_type(entry["dtype"]))
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
