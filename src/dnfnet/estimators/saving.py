"""A fitted estimator as a model file, and back: the same bits, and no code runs on opening."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import sklearn
import torch
from numpy.typing import NDArray

from dnfnet._version import __version__
from dnfnet.bundle import read_bundle, write_bundle
from dnfnet.estimators.base import BaseDNFNet
from dnfnet.estimators.classifier import DNFNetClassifier
from dnfnet.estimators.regressor import DNFNetRegressor
from dnfnet.estimators.targets import Scale
from dnfnet.exceptions import DNFNetError, ModelFileError
from dnfnet.nn.layout import count_literals
from dnfnet.table import TableEncoder
from dnfnet.training import METRICS, History, Metric

KINDS: dict[str, type[BaseDNFNet]] = {"DNFNetClassifier": DNFNetClassifier, "DNFNetRegressor": DNFNetRegressor}
FITTED = ("n_iter_", "best_epoch_", "best_score_", "stop_reason_")
LABEL_DTYPES = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float32", "float64")


def save(model: BaseDNFNet, path: str | Path) -> None:
    """Write a fitted model to one file."""
    entry, arrays = model.encoder_.state()
    target, target_arrays = _target_state(model)
    manifest = {
        "kind": type(model).__name__,
        "parameters": _parameters(model),
        "encoder": entry,
        "target": target,
        "fitted": {name: getattr(model, name) for name in FITTED},
        "history": list(model.history_),
        "versions": _versions(),
    }
    tensors: dict[str, Any] = {f"network.{name}": value for name, value in model.network_.state_dict().items()}
    tensors |= {f"encoder.{name}": value for name, value in arrays.items()}
    tensors |= {f"target.{name}": value for name, value in target_arrays.items()}
    write_bundle(path, manifest, tensors)


def load(path: str | Path) -> BaseDNFNet:
    """Read a model that ``model.save(path)`` wrote; it predicts the same bits.

    Nothing in the file is executed. A file that is truncated, edited, foreign or of a later version is a
    `ModelFileError`.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    DNFNetClassifier or DNFNetRegressor
    """
    manifest, arrays = read_bundle(path)
    try:
        return _rebuild(manifest, arrays)
    except ModelFileError:
        raise
    except (DNFNetError, KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        raise ModelFileError(f"{path} is no complete dnfnet model: {error}.") from error


def _rebuild(manifest: dict[str, Any], arrays: dict[str, NDArray]) -> BaseDNFNet:
    model = KINDS[manifest["kind"]](**_tuples(manifest["parameters"]))
    model._check_params()
    model.encoder_ = TableEncoder.from_state(manifest["encoder"], _under("encoder.", arrays))
    model._set_names()
    _set_target(model, manifest["target"], _under("target.", arrays))
    state = {name: torch.from_numpy(value) for name, value in _under("network.", arrays).items()}
    _check_sizes(model, state)
    model.network_ = model._network(torch.Generator())
    model.network_.load_state_dict(state)
    model.network_.eval()
    for name in FITTED:
        setattr(model, name, manifest["fitted"][name])
    model.history_ = History(manifest["history"])
    return model


def _check_sizes(model: BaseDNFNet, state: dict[str, torch.Tensor]) -> None:
    """Before a network is built: its size must be that of the tensors in the file, however large the settings are."""
    n_literals = count_literals(model.n_formulas, model.conjunctions, model.lengths)
    expected = (n_literals, len(model.encoder_.encoded_names))
    if tuple(state["block.weight"].shape) != expected:
        _fail(f"its weights have shape {tuple(state['block.weight'].shape)}, its settings ask for {expected}")
    if model._objective().n_outputs != len(state["head.bias"]):
        _fail(f"its output layer has {len(state['head.bias'])} outputs")


def _parameters(model: BaseDNFNet) -> dict[str, Any]:
    """Constructor arguments, without what only means something in the process that fitted."""
    parameters = model.get_params(deep=False)
    metric = parameters["metric"]
    if isinstance(metric, Metric):
        parameters["metric"] = metric.name if metric.name in METRICS else None
    if not isinstance(parameters["random_state"], int | np.integer | None):
        parameters["random_state"] = None
    parameters |= {"callbacks": (), "device": "cpu", "verbose": bool(parameters["verbose"])}
    return {name: _plain(value) for name, value in parameters.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(item) for item in value]
    return value


def _tuples(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}


def _target_state(model: BaseDNFNet) -> tuple[dict[str, Any], dict[str, NDArray]]:
    if isinstance(model, DNFNetClassifier):
        classes = model.classes_
        kind = "text" if classes.dtype.kind in "UOT" else classes.dtype.name
        values = classes.tolist()
        if kind == "text" and not all(isinstance(value, str) for value in values):
            _fail(f"labels of these kinds cannot be stored: {sorted({type(value).__name__ for value in values})}")
        if kind != "text" and kind not in LABEL_DTYPES:
            _fail(f"labels of type {kind} cannot be stored: use numbers or text")
        return {"classes": values, "dtype": kind, "objects": classes.dtype.kind == "O"}, {}
    scale = model.scale_
    return {"flat": scale.flat}, {"mean": scale.mean, "deviation": scale.deviation}


def _set_target(model: BaseDNFNet, entry: dict[str, Any], arrays: dict[str, NDArray]) -> None:
    if isinstance(model, DNFNetClassifier):
        text = entry["dtype"] == "text"
        if not text and entry["dtype"] not in LABEL_DTYPES:
            _fail(f"its labels are of type {entry['dtype']}")
        dtype = object if text and entry["objects"] else None if text else entry["dtype"]
        model.classes_ = np.array(entry["classes"], dtype=dtype)
    else:
        model.scale_ = Scale(arrays["mean"], arrays["deviation"], bool(entry["flat"]))


def _under(prefix: str, arrays: dict[str, NDArray]) -> dict[str, NDArray]:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}


def _versions() -> dict[str, str]:
    return {
        "dnfnet": __version__,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }


def _fail(reason: str) -> NoReturn:
    raise ModelFileError(f"The model cannot be stored or read: {reason}.")
