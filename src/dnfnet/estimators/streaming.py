"""One pass over new rows, going on where the last pass ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch
from torch.optim import Optimizer

from dnfnet.estimators.fitting import keep, make_trainer, source_of
from dnfnet.estimators.rows import Rows
from dnfnet.exceptions import InvalidParameterError
from dnfnet.training import BatchSource, Trainer

if TYPE_CHECKING:
    from dnfnet.estimators.base import BaseDNFNet


def one_pass(model: BaseDNFNet, rows: Rows, stream: dict[str, Any]) -> dict[str, Any]:
    """Train ``model`` once over ``rows`` and give the state of the optimiser and of the shuffling afterwards.

    Rate and decay are the model's, also if they changed since the last pass: a plateau of the loss means little when
    every pass has other rows.
    """
    generator = torch.Generator()
    generator.set_state(stream["generator"])
    trainer = make_trainer(
        model, model.network_, generator, steps_per_epoch=1, time_limit=model.time_limit, schedule="plateau"
    )
    if "optimizer" in stream:
        _go_on(trainer.optimizer, stream["optimizer"])
    _train(trainer, source_of(model, rows))
    keep(model, [trainer])
    return {"optimizer": trainer.optimizer.state_dict(), "generator": generator.get_state()}


def _go_on(optimizer: Optimizer, state: dict[str, Any]) -> None:
    """Take over the running means of the last pass, not its rate and decay."""
    rates = [{name: group[name] for name in ("lr", "weight_decay")} for group in optimizer.param_groups]
    if [set(group) for group in optimizer.param_groups] != [set(group) for group in state["param_groups"]]:
        raise InvalidParameterError(
            "shared_steps cannot change between two calls of partial_fit, and weight_decay can neither become 0 nor "
            "cease to be it: begin with a new estimator."
        )
    optimizer.load_state_dict(state)
    for group, own in zip(optimizer.param_groups, rates, strict=True):
        group.update(own)


def _train(trainer: Trainer, source: BatchSource) -> None:
    """One epoch between the callbacks' start and end; if it fails, the weights are those from before."""
    started = time.perf_counter()
    trainer.notify("on_fit_start")
    try:
        row = trainer.epoch(source)
        trainer.history.append({**row, "seconds": time.perf_counter() - started})
        trainer.best_epoch, trainer.best_score = 1, row["train_loss"]
        trainer.notify("on_epoch_end")
        trainer.stop("partial_fit")
    except BaseException:
        trainer.net.load_state_dict(trainer.best_state)
        raise
    finally:
        trainer.finish()
