"""A fitted estimator as a model file, and back: the same bits, and no code runs on opening."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import torch
from numpy.typing import NDArray

from dnfnet._version import __version__
from dnfnet.bundle import read_bundle, write_bundle
from dnfnet.estimators.base import BaseDNFNet
from dnfnet.estimators.building import build_network
from dnfnet.estimators.classifier import DNFNetClassifier
from dnfnet.estimators.parameters import LostFunction, check_parameters, function_name
from dnfnet.estimators.real_targets import Reals
from dnfnet.estimators.regressor import DNFNetRegressor
from dnfnet.estimators.settings import Settings, choose_settings
from dnfnet.estimators.target_files import fail, read_target, target_state
from dnfnet.exceptions import DNFNetError, ModelFileError, ModelFileWarning
from dnfnet.nn.layout import count_literals
from dnfnet.table import TableEncoder
from dnfnet.training import METRICS, History, Metric
from dnfnet.training.history import COLUMNS

KINDS: dict[str, type[BaseDNFNet]] = {"DNFNetClassifier": DNFNetClassifier, "DNFNetRegressor": DNFNetRegressor}
FITTED = ("n_iter_", "best_epoch_", "best_score_", "stop_reason_")
MAX_CONJUNCTIONS = 10**6
CUSTOM = "custom"
CALIBRATED = "calibrated"  # the one tensor of an ensemble that is of no network
NUMBER = int | float
PLAIN = NUMBER | str | None
# Arguments that came later than the first files, with the values that those were made with.
EARLIER = {
    "n_groups": None,
    "n_ensemble": 1,
    "pieces": 1,
    "schedule": "plateau",
    "weight_decay": 0.0,
    "shared_steps": False,
    "dropout": 0.0,
    "together": 0.0,
    "calibrate": False,
    "value_means": False,
    "screening": False,
}
# Arguments that earlier files have and that are gone; they concerned the start of training only.
GONE = ("literal_init",)


def save(model: BaseDNFNet, path: str | Path) -> None:
    """Write a fitted model to one file."""
    check_parameters(model)
    model._objective()
    entry, arrays = model.encoder_.state()
    target, target_arrays = target_state(model.target_)
    manifest = {
        "kind": type(model).__name__,
        "parameters": _parameters(model),
        "settings": model.settings_.to_dict(),
        "encoder": entry,
        "target": target,
        "fitted": {name: getattr(model, name) for name in FITTED},
        "history": [_epoch(row) for row in model.history_],
        "versions": _versions(),
    }
    tensors: dict[str, Any] = {f"network.{name}": value for name, value in model.network_.state_dict().items()}
    tensors |= {f"encoder.{name}": value for name, value in arrays.items()}
    tensors |= {f"target.{name}": value for name, value in target_arrays.items()}
    write_bundle(path, manifest, tensors)


def load(path: str | Path) -> BaseDNFNet:
    """Read a model that ``model.save(path)`` wrote; it predicts the same bits.

    A loss or a metric that was a function is not in the file: pass it again by ``set_params`` to go on training.
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
    except (DNFNetError, LookupError, TypeError, ValueError, RuntimeError, AttributeError, ArithmeticError) as error:
        raise ModelFileError(f"{path} is no complete dnfnet model: {error}.") from error


def _rebuild(manifest: dict[str, Any], arrays: dict[str, NDArray]) -> BaseDNFNet:
    kind = manifest["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        fail(f"it is of the unknown kind {kind!r}")
    earlier = {name: value for name, value in EARLIER.items() if name in KINDS[kind]().get_params()}
    model = KINDS[kind](**{**earlier, **_restored(manifest["parameters"])})
    check_parameters(model)
    model.settings_ = (
        Settings.from_dict(manifest["settings"])
        if "settings" in manifest
        else choose_settings(model, n_rows=1, n_columns=1, n_classes=0)
    )
    for name in ("n_formulas", "n_groups", "pieces"):
        if getattr(model, name) not in ("auto", getattr(model.settings_, name)):
            fail(f"its {name} is both {getattr(model, name)!r} and {getattr(model.settings_, name)!r}")
    model.encoder_ = TableEncoder.from_state(manifest["encoder"], _under("encoder.", arrays))
    model._set_names()
    target = read_target(manifest["target"], _under("target.", arrays))
    if isinstance(target, Reals) != isinstance(model, DNFNetRegressor):
        fail("its target is none of its kind")
    state = {name: torch.from_numpy(value) for name, value in _under("network.", arrays).items()}
    nets = _nets(model, state)
    for net in nets:
        _check_sizes(model, net, target.objective(None).n_outputs)
    model._set_target(target)
    model.network_ = build_network(model, torch.Generator(), n_nets=len(nets), draw_masks=False)
    state = _of_later(model) | state
    _check_state(model, state)
    model.network_.load_state_dict(state)
    model.network_.eval()
    _set_fitted(model, manifest["fitted"], manifest["history"])
    return model


def _of_later(model: BaseDNFNet) -> dict[str, torch.Tensor]:
    """What earlier files lack, as a new network has it: all groups vote, and an ensemble is not calibrated."""
    later = ("head.votes", CALIBRATED)
    return {name: value for name, value in model.network_.state_dict().items() if name.endswith(later)}


def _nets(model: BaseDNFNet, state: dict[str, torch.Tensor]) -> list[dict[str, torch.Tensor]]:
    """The tensors of each network; an ensemble that was interrupted has fewer than it was to have."""
    if model.n_ensemble == 1:
        return [state]
    nets = [_under(f"nets.{i}.", state) for i in range(min(model.n_ensemble, len(state)))]
    nets = [net for net in nets if net]
    if not nets or sum(map(len, nets)) != len(state.keys() - {CALIBRATED}):
        fail("its networks are not complete")
    return nets


def _check_sizes(model: BaseDNFNet, state: dict[str, torch.Tensor], n_outputs: int) -> None:
    """Before a network is built: its size must be that of the tensors in the file, however large the settings are."""
    for sizes in (model.conjunctions, model.lengths):
        if not sizes or not all(type(size) is int and 0 < size <= MAX_CONJUNCTIONS for size in sizes):
            fail("its conjunctions or lengths are no sizes")
    n_formulas, n_groups = model.settings_.n_formulas, model.settings_.n_groups
    head = (n_outputs, n_formulas) if n_groups is None else (n_groups, n_formulas // n_groups, n_outputs)
    if tuple(state["head.weight"].shape) != head:
        fail(f"its output layer has shape {tuple(state['head.weight'].shape)}, its settings ask for {head}")
    n_literals = count_literals(n_formulas, model.conjunctions, model.lengths)
    expected = (n_literals, len(model.encoder_.encoded_names))
    if tuple(state["block.weight"].shape) != expected:
        fail(f"its weights have shape {tuple(state['block.weight'].shape)}, its settings ask for {expected}")
    if model.structure == "dense" and state["block.conjunctions.weight"].shape[-1] != n_literals:
        fail("its dense layers do not fit its settings")


def _check_state(model: BaseDNFNet, state: dict[str, torch.Tensor]) -> None:
    """The file's tensors must be like the network's and finite, so that no prediction from any file is NaN."""
    for name, value in model.network_.state_dict().items():
        if (state[name].dtype, state[name].shape) != (value.dtype, value.shape):
            fail(f"its tensor {name!r} is {state[name].dtype} of shape {tuple(state[name].shape)}")
        if not torch.isfinite(state[name]).all():
            fail(f"its tensor {name!r} has values that are not finite")
        if name.endswith("head.votes") and not state[name].any():
            fail("none of its groups of formulas votes")


def _set_fitted(model: BaseDNFNet, fitted: dict[str, Any], history: list[dict[str, Any]]) -> None:
    kinds: dict[str, Any] = {"n_iter_": int, "best_epoch_": int, "best_score_": int | float, "stop_reason_": str}
    for name, kind in kinds.items():
        if not isinstance(fitted[name], kind):
            fail(f"its {name} is damaged")
        setattr(model, name, fitted[name])
    if not isinstance(history, list) or not all(_is_epoch(row) for row in history):
        fail("its history is damaged")
    model.history_ = History(history)


def _epoch(row: dict[str, Any]) -> dict[str, Any]:
    plain = {name: _plain(value) for name, value in row.items()}
    return {name: value for name, value in plain.items() if _is_storable(name, value)}


def _is_epoch(row: Any) -> bool:
    if not isinstance(row, dict) or "epoch" not in row:
        return False
    return all(_is_storable(name, value) for name, value in row.items())


def _is_storable(name: Any, value: Any) -> bool:
    """Whether a file keeps this of an epoch: its numbers, and what is plain of that which callbacks may have added."""
    kind = NUMBER if name in COLUMNS else PLAIN
    return isinstance(name, str) and not name.startswith("$") and isinstance(value, kind)


def _parameters(model: BaseDNFNet) -> dict[str, Any]:
    """Constructor arguments, without what only means something in the process that fitted."""
    # The network's own structure, also if a parameter was changed since: else the file could not be opened.
    parameters = {**model.get_params(deep=False), **model._structure}
    parameters["metric"] = _stored_metric(parameters["metric"], model._objective().metrics)
    if callable(parameters["loss"]):
        parameters["loss"] = {CUSTOM: function_name(parameters["loss"])}
    lost = [name for name in ("loss", "metric") if isinstance(parameters[name], dict)]
    if lost and not any(isinstance(getattr(model, name), LostFunction) for name in lost):
        warnings.warn(
            f"{' and '.join(lost)} of this model: a function of yours, which the file does not keep. The loaded model "
            f"predicts the same; pass the function again by set_params to go on training.",
            ModelFileWarning,
            stacklevel=4,
        )
    if parameters.get("class_weight") is not None and not isinstance(parameters["class_weight"], str):
        parameters["class_weight"] = {"pairs": [[_plain(k), _plain(v)] for k, v in parameters["class_weight"].items()]}
    if not isinstance(parameters["random_state"], int | np.integer | None):
        parameters["random_state"] = None
    parameters |= {"callbacks": (), "device": "cpu", "verbose": bool(parameters["verbose"])}
    return {name: _plain(value) for name, value in parameters.items()}


def _stored_metric(metric: Any, known: Sequence[str]) -> Any:
    if metric is None or isinstance(metric, str):
        return metric
    name = metric.name if isinstance(metric, Metric) else function_name(metric)
    return name if name in known and METRICS.get(name) is metric else {CUSTOM: name}


def _restored(parameters: dict[str, Any]) -> dict[str, Any]:
    """Constructor arguments from what JSON kept of them."""
    restored: dict[str, Any] = {}
    for name, value in parameters.items():
        if name in GONE:
            continue
        if isinstance(value, list):
            value = tuple(value)
        elif isinstance(value, dict) and value.keys() == {CUSTOM}:
            value = LostFunction(str(value[CUSTOM]))
        elif isinstance(value, dict) and value.keys() == {"pairs"}:
            value = dict(value["pairs"])
        restored[name] = value
    return restored


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(item) for item in value]
    return value


def _under(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}


def _versions() -> dict[str, str]:
    return {
        "dnfnet": __version__,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
