"""One pass over new rows, going on where the last pass ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch

from dnfnet.estimators.fitting import keep, make_trainer
from dnfnet.estimators.rows import Rows
from dnfnet.training import TensorSource, Trainer

if TYPE_CHECKING:
    from dnfnet.estimators.base import BaseDNFNet


def one_pass(model: BaseDNFNet, rows: Rows, stream: dict[str, Any]) -> dict[str, Any]:
    """Train ``model`` once over ``rows`` and give the state of the optimiser and of the shuffling afterwards.

    The rate is the model's ``learning_rate``, also if it changed since the last pass: a plateau of the loss means
    little when every pass has other rows.
    """
    generator = torch.Generator()
    generator.set_state(stream["generator"])
    trainer = make_trainer(model, model.network_, generator, steps_per_epoch=1, schedule="plateau")
    if "optimizer" in stream:
        trainer.optimizer.load_state_dict(stream["optimizer"])
    for group in trainer.optimizer.param_groups:
        group["lr"] = model.settings_.learning_rate
    _train(trainer, rows.source(model.settings_.batch_size))
    keep(model, [trainer])
    return {"optimizer": trainer.optimizer.state_dict(), "generator": generator.get_state()}


def _train(trainer: Trainer, source: TensorSource) -> None:
    """One epoch between the callbacks' start and end; if it fails, the weights are those from before."""
    started = time.perf_counter()
    trainer.notify("on_fit_start")
    try:
        row = trainer.epoch(source)
        trainer.history.append({**row, "seconds": time.perf_counter() - started})
        trainer.best_epoch, trainer.best_score, trainer.stop_reason = 1, row["train_loss"], "partial_fit"
        trainer.notify("on_epoch_end")
    except BaseException:
        trainer.net.load_state_dict(trainer.best_state)
        raise
    finally:
        trainer.finish()
