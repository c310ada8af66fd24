"""Training the networks of an estimator: one after the other, each by the estimator's settings."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch

from dnfnet.estimators.predicting import ROWS_PER_BATCH
from dnfnet.estimators.rows import Rows
from dnfnet.nn import DNFNet, Ensemble, nets_of
from dnfnet.training import BatchSource, DropoutSource, ProgressBar, TimeLimit, Trainer

if TYPE_CHECKING:
    from dnfnet.estimators.base import BaseDNFNet

# An epoch of the paper's smallest data set.
PAPER_STEPS = 4


def epochs_to_wait(patience: int | str, paper: int, steps_per_epoch: int) -> int:
    """Epochs without improvement to wait for; "auto" waits for as many steps as the paper's rule did at the least.

    Examples
    --------
    >>> epochs_to_wait("auto", 30, steps_per_epoch=1), epochs_to_wait("auto", 30, steps_per_epoch=22)
    (120, 30)
    """
    if not isinstance(patience, str):
        return patience
    return max(paper, -(-paper * PAPER_STEPS // steps_per_epoch))


def train_networks(model: BaseDNFNet, parts: Iterable[tuple[Rows, Rows]], generator: torch.Generator) -> None:
    """Train each network on its rows; Ctrl-C ends the ensemble with those that have finished an epoch."""
    nets, started = nets_of(model.network_), time.monotonic()
    trainers: list[Trainer] = []
    calibrated = model._calibrates()
    for net, (train, valid) in zip(nets, parts, strict=False):  # an interrupted ensemble goes on with what it has
        left = None
        if model.time_limit is not None:
            left = (model.time_limit - (time.monotonic() - started)) / (len(nets) - len(trainers))
        steps_per_epoch = -(-train.n_rows // model.settings_.batch_size)
        trainer = make_trainer(model, net, generator, steps_per_epoch, number=len(trainers) + 1, time_limit=left)
        source = source_of(model, train)
        try:
            trainer.fit(source, valid.source(ROWS_PER_BATCH) if valid.n_rows else None)
        except KeyboardInterrupt:
            if not trainers:
                raise
            trainers[-1].stop_reason = None
            trainers[-1].interrupted()
            break
        trainers.append(trainer)
        calibrated = calibrated and valid.n_rows > 0
        if trainer.stop_reason == "interrupted":
            break
    if len(trainers) < len(nets):
        model.network_ = Ensemble(nets[: len(trainers)])
    if isinstance(model.network_, Ensemble):
        model.network_.calibrated.fill_(calibrated)
    keep(model, trainers)


def source_of(model: BaseDNFNet, rows: Rows) -> BatchSource:
    """Batches of rows to train on, without the share of their numbers that the settings leave out."""
    source, share = rows.source(model.settings_.batch_size), model.settings_.dropout
    return DropoutSource(source, torch.from_numpy(model.encoder_.input_numbers), share) if share else source


def make_trainer(
    model: BaseDNFNet,
    net: DNFNet | Ensemble,
    generator: torch.Generator,
    steps_per_epoch: int,
    *,
    number: int = 1,
    time_limit: float | None = None,
    schedule: Literal["cosine", "plateau"] | None = None,
) -> Trainer:
    """A trainer for the network of that number, with its progress bar and its time limit."""
    name = "DNF-Net" if model.n_ensemble == 1 else f"DNF-Net {number}/{model.n_ensemble}"
    callbacks = [ProgressBar(name)] * bool(model.verbose) + list(model.callbacks)
    if time_limit is not None:
        callbacks.append(TimeLimit(time_limit, told=model.time_limit))
    settings, schedule = model.settings_, schedule or model.schedule
    patience = epochs_to_wait(model.patience, 30, steps_per_epoch)
    return Trainer(
        net,
        model._objective(),
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        deviations=torch.from_numpy(model.encoder_.input_deviations) if np.any(settings.shared_steps) else None,
        shared_steps=settings.shared_steps,
        together=model._share_together(),
        calibrate=model._calibrates(),
        schedule=schedule,
        max_epochs=settings.max_epochs,
        patience=settings.max_epochs if schedule == "cosine" and isinstance(model.patience, str) else patience,
        lr_patience=epochs_to_wait(model.lr_patience, 10, steps_per_epoch),
        generator=generator,
        callbacks=callbacks,
    )


def keep(model: BaseDNFNet, trainers: Sequence[Trainer]) -> None:
    """The history of all networks, one after the other, and how the last one ended."""
    for trainer in trainers:
        done = len(model.history_)
        model.history_ += [{**row, "epoch": done + row["epoch"]} for row in trainer.history]
        model.best_epoch_ = done + trainer.best_epoch
    model.n_iter_ = len(model.history_)
    model.best_score_ = float(np.mean([trainer.best_score for trainer in trainers]))
    model.stop_reason_ = trainers[-1].stop_reason
