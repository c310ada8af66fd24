"""Training of the study's networks: each through the one trainer, with the paper's settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dnfnet.nn import DNFNet
from dnfnet.paper.clock import Clock
from dnfnet.paper.networks import FCN, MaskedFCN, block_widths
from dnfnet.paper.outcome import Predictions
from dnfnet.paper.split import Split
from dnfnet.paper.trial import Config, Trial
from dnfnet.training import Callback, TensorSource, Trainer, classification
from dnfnet.training.objectives import Objective

_BATCH = 2048
_SYNTHETIC_BATCH = 256
# Where the authors' GPU ran out of memory (paper, Appendix D.2).
_SMALL_BATCHES = {("gas", 3072), ("santander", 2048), ("santander", 3072)}
_KEEP_PROBS = (0.1, 0.3, 0.5, 0.7, 0.9)


class _Watch(Callback):
    """Lets the clock end a trial between two steps."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def on_step_end(self, trainer: Trainer) -> None:  # noqa: ARG002
        self.clock.check()


def train_dnf_net(trial: Trial, split: Split, clock: Clock) -> Predictions:
    """DNF-Net, or one of its ablations, at learning rate 0.05."""
    config, objective, generator = trial.config, _objective(split), _generator(trial)
    net = DNFNet(
        split.train.x.shape[1],
        objective.n_outputs,
        n_formulas=config["n_formulas"],
        beta=config["beta"],
        # "Without feature selection" is without both of its masks.
        keep_probs=None if config["beta"] is None else _KEEP_PROBS,
        localization=config["localization"],
        structure=config["structure"],
        generator=generator,
    )
    small = (trial.dataset, config["n_formulas"]) in _SMALL_BATCHES
    return _train(net, split, objective, clock, generator, learning_rate=0.05, batch_size=1024 if small else _BATCH)


def train_fcn(trial: Trial, split: Split, clock: Clock) -> Predictions:
    """Train the FCN of Table 3."""
    config, objective, generator = trial.config, _objective(split), _generator(trial)
    net = FCN(
        split.train.x.shape[1],
        objective.n_outputs,
        widths=block_widths(config["depth"], config["width"], config["pattern"]),
        dropout=config["dropout"],
        l2=config["l2"],
        generator=generator,
    )
    rate = config["learning_rate"]
    return _train(net, split, objective, clock, generator, learning_rate=rate, batch_size=_BATCH)


def train_masked_fcn(trial: Trial, split: Split, clock: Clock) -> Predictions:
    """Train one of the three models of the synthetic study."""
    config, objective, generator = trial.config, _objective(split), _generator(trial)
    net = MaskedFCN(
        split.train.x.shape[1],
        objective.n_outputs,
        mask=config["mask"],
        beta=config["beta"],
        oracle=split.oracle,
        generator=generator,
    )
    predictions = _train(net, split, objective, clock, generator, learning_rate=0.001, batch_size=_SYNTHETIC_BATCH)
    if net.selection is not None and split.oracle is not None:
        predictions.facts.update(_found(net.selection(), split.oracle))
    return predictions


def _objective(split: Split) -> Objective:
    return classification(split.n_classes, split.metric)


def _generator(trial: Trial) -> torch.Generator:
    """Seed everything that a trial draws from: weights, masks and shuffling; dropout uses torch's own."""
    torch.manual_seed(trial.seed)
    return torch.Generator().manual_seed(trial.seed)


def _train(
    net: nn.Module,
    split: Split,
    objective: Objective,
    clock: Clock,
    generator: torch.Generator,
    *,
    learning_rate: float,
    batch_size: int,
) -> Predictions:
    """Train by the paper's rules and predict with the best epoch's weights."""
    sources = [_source(rows.x, rows.y, objective, batch_size) for rows in (split.train, split.validation)]
    trainer = Trainer(net, objective, learning_rate=learning_rate, generator=generator, callbacks=[_Watch(clock)])
    trainer.fit(*sources)
    if trainer.stop_reason == "interrupted":
        # The trainer keeps an interrupted network; a trial that was cut short must not count as finished.
        raise KeyboardInterrupt
    return Predictions(
        validation=_predict(net, objective, split.validation.x, batch_size),
        test=_predict(net, objective, split.test.x, batch_size),
        facts={
            "epochs": len(trainer.history),
            "best_epoch": trainer.best_epoch,
            "parameters": sum(p.numel() for p in net.parameters()),
        },
    )


def _source(x: NDArray[np.float32], y: NDArray[np.int64], objective: Objective, batch_size: int) -> TensorSource:
    target = torch.from_numpy(y).to(objective.target_dtype)
    return TensorSource(torch.from_numpy(x), target, batch_size=batch_size)


@torch.no_grad()
def _predict(net: nn.Module, objective: Objective, x: NDArray[np.float32], batch_size: int) -> NDArray[np.float64]:
    net.eval()
    outputs = [net(rows) for rows in torch.from_numpy(x).split(batch_size)]
    return objective.predictions(torch.cat(outputs))


def _found(mask: Tensor | None, oracle: NDArray[np.bool_]) -> Config:
    """Count the features that a learned mask kept, and how many of them are relevant."""
    assert mask is not None
    kept = mask.detach().numpy()[0] > 0
    facts: dict[str, Any] = {"kept": int(kept.sum()), "kept_relevant": int((kept & oracle).sum())}
    return facts
