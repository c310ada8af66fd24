"""An untrained network for the encoded table of an estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from dnfnet.estimators.parameters import structure_of
from dnfnet.exceptions import InvalidParameterError
from dnfnet.nn import DNFNet, Ensemble, Runs

if TYPE_CHECKING:
    from dnfnet.estimators.base import BaseDNFNet


def build_network(
    model: BaseDNFNet, generator: torch.Generator, *, n_nets: int | None = None, draw_masks: bool = True
) -> DNFNet | Ensemble:
    """The network, or an ensemble of ``n_nets`` if there are to be several; to load a state, no masks are drawn."""
    model._structure = structure_of(model)
    nets = [_one_network(model, generator, draw_masks) for _ in range(n_nets or model.n_ensemble)]
    return nets[0] if model.n_ensemble == 1 else Ensemble(nets)


def _one_network(model: BaseDNFNet, generator: torch.Generator, draw_masks: bool) -> DNFNet:
    keep_probs = None if model.keep_probs is None else tuple(model.keep_probs) if draw_masks else (1.0,)
    runs, ends = model.encoder_.runs
    d_in, d_out = len(model.encoder_.encoded_names), model._objective().n_outputs
    try:
        return DNFNet(
            d_in,
            d_out,
            n_formulas=model.settings_.n_formulas,
            n_groups=model.settings_.n_groups,
            beta=model._structure["beta"],
            conjunctions=tuple(model.conjunctions),
            lengths=tuple(model.lengths),
            keep_probs=keep_probs,
            localization=model.localization,
            structure=model.structure,
            runs=Runs(runs, torch.from_numpy(ends)),
            generator=generator,
        ).to(device=model.device, dtype=torch.float32)
    except (ValueError, RuntimeError, AssertionError) as error:
        raise InvalidParameterError(f"There can be no network with these parameters: {error}") from error
