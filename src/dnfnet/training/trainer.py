"""The training loop: ``fit -> epochs -> epoch -> step``, each to be read on its own and overridden on its own."""

from __future__ import annotations

import logging
import math
import time
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

from dnfnet.exceptions import NonFiniteLossError, TrainingWarning
from dnfnet.training.callbacks import Callback
from dnfnet.training.causes import likely_cause
from dnfnet.training.deciding import let_all_vote, let_the_better_vote, sharpen
from dnfnet.training.history import History
from dnfnet.training.joining import can_join, gain_nothing, join, progress
from dnfnet.training.objectives import Objective
from dnfnet.training.optim import CosineDecay, halve_on_plateau, make_optimizer
from dnfnet.training.source import Batch, BatchSource

logger = logging.getLogger(__name__)


class Trainer:
    """Trains a network, without further arguments by the paper's rules (Appendix D.2).

    Adam with the authors' epsilon; the rate is halved on a plateau of the training loss including the penalty; training
    stops after ``patience`` epochs without a strictly better validation score; the best epoch's weights are restored.
    Without validation rows the training loss takes the score's place.

    The other rules: ``schedule="cosine"`` plans the rate over all ``max_epochs``, ``weight_decay`` shrinks weights, and
    after a plan whose last epochs are the best, groups of formulas go on ``together``.

    Parameters
    ----------
    net : nn.Module
        Gives outputs of shape (rows, objective.n_outputs). What its ``penalty()`` gives, if it has one, joins the loss.
    objective : Objective
    learning_rate : float
    max_epochs : int
    patience : int
    lr_patience : int
        Epochs without a lower training loss until the rate is halved.
    min_learning_rate : float
        Where halving ends.
    schedule : {"plateau", "cosine"}
    weight_decay : float or sequence of float
        The share of each literal's weight that a step at rate 1 takes away; of several, groups of formulas take each
        one in turn: see `make_optimizer`.
    deviations : Tensor of shape (d_in,), optional
        The deviations of the inputs, with which literals share the scale of their steps: see `LiteralAdamW`.
    shared_steps : bool or sequence of bool
        Whether literals do so, where there are deviations; of several, groups of formulas take each one in turn.
    together : float
        Epochs after a planned ``max_epochs``, as a share of these, in which groups learn by the loss of their average,
        if they may gain by it: see `dnfnet.training.joining`.
    calibrate : bool
        Whether, in the end, the outputs are made as sure as the validation rows bear out: see `sharpness`. For classes.
    generator : torch.Generator, optional
        Source of the shuffling, on the CPU.
    callbacks : sequence of Callback

    Attributes
    ----------
    history : History
        One row per finished epoch: epoch, train_loss, valid_score (with validation rows), learning_rate, seconds.
    best_epoch, best_score : int, float
        The epoch whose weights ``fit`` leaves in the network, and its score.
    stop_reason : str or None
        Why training ended.
    """

    def __init__(
        self,
        net: nn.Module,
        objective: Objective,
        *,
        learning_rate: float = 0.05,
        max_epochs: int = 1000,
        patience: int = 30,
        lr_patience: int = 10,
        min_learning_rate: float = 1e-6,
        schedule: Literal["plateau", "cosine"] = "plateau",
        weight_decay: float | Sequence[float] = 0.0,
        deviations: Tensor | None = None,
        shared_steps: bool | Sequence[bool] = True,
        together: float = 0.0,
        calibrate: bool = False,
        generator: torch.Generator | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.net, self.objective = net, objective
        self.max_epochs, self.patience = max_epochs, patience
        self.lr_patience, self.min_learning_rate = lr_patience, min_learning_rate
        self.schedule_kind, self.weight_decay = schedule, weight_decay
        self.deviations, self.shared_steps = deviations, shared_steps if deviations is not None else False
        self.together, self.calibrate = together, calibrate
        self.joint_epochs = 0  # those that groups learn together, once they do
        self.generator = torch.Generator().manual_seed(0) if generator is None else generator
        self.callbacks = list(callbacks)
        self.history = History()
        self.best_epoch, self.best_score, self.best_state = 0, self.worst_score(False), self.snapshot()
        self.stop_reason: str | None = None
        self.has_recovered = False
        self.start_optimizer(learning_rate)

    # The four levels of the loop.

    def fit(self, train: BatchSource, valid: BatchSource | None = None) -> Trainer:
        """Train until a rule says stop, and leave the best epoch's weights in the network."""
        self.stop_reason = None
        if not self.history:
            self.best_score = self.worst_score(valid is not None)
            let_all_vote(self.net)
        self.notify("on_fit_start")
        try:
            self.epochs(train, valid)
        except KeyboardInterrupt:
            self.interrupted()
        finally:
            self.net.load_state_dict(self.best_state)
            self.finish()
        if valid is not None:
            self.decide(valid)
        logger.info("stopped after epoch %d: %s", len(self.history), self.stop_reason)
        return self

    def decide(self, valid: BatchSource) -> None:
        """Let the validation rows say which groups vote, and how sure they are."""
        if not self.joint_epochs:
            let_the_better_vote(self, valid)
        sharpen(self, valid)

    def finish(self) -> None:
        """Leave the network ready to predict: no gradients kept, in eval mode."""
        self.optimizer.zero_grad(set_to_none=True)
        self.net.eval()
        self.notify("on_fit_end")

    def epochs(self, train: BatchSource, valid: BatchSource | None = None) -> None:
        """All epochs: those of the plan, and those in which groups go on together."""
        self.epochs_until_stop(train, valid)
        if valid is not None and can_join(self, valid):
            join(self, valid)
            self.epochs_until_stop(train, valid)
        if self.history and self.best_epoch == 0:
            raise NonFiniteLossError(
                f"the validation score {self.objective.metric.name} is {self.best_score} in every epoch"
            )

    def epochs_until_stop(self, train: BatchSource, valid: BatchSource | None = None) -> None:
        """Epoch after epoch, until ``stop`` was called."""
        while not self.finished():
            started = time.perf_counter()
            try:
                row = self.epoch(train, valid)
            except NonFiniteLossError as error:
                self.recover(error)
                continue
            self.record({**row, "seconds": time.perf_counter() - started})

    def epoch(self, train: BatchSource, valid: BatchSource | None = None) -> dict[str, Any]:
        """Every training row once, then the validation score."""
        self.net.train()
        total, rows = 0.0, 0
        for batch in train.batches(self.generator):
            if isinstance(self.schedule, CosineDecay):
                self.schedule.go_to(progress(self, (rows + len(batch.x) / 2) / train.n_rows))
            total += self.step(batch) * len(batch.x)
            rows += len(batch.x)
            self.notify("on_step_end")
            if self.stop_reason is not None:
                break
        rate = self.optimizer.param_groups[0]["lr"]
        row = {"epoch": len(self.history) + 1, "train_loss": total / max(rows, 1), "learning_rate": rate}
        return row if valid is None else {**row, "valid_score": self.score(valid)}

    def step(self, batch: Batch) -> float:
        """One update of the weights; the loss before it."""
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(batch)
        value = loss.item()
        if not torch.isfinite(loss):
            raise NonFiniteLossError(likely_cause(self.net, batch, value))
        loss.backward()
        self.optimizer.step()
        return value

    # What the levels are made of.

    def loss(self, batch: Batch) -> Tensor:
        """The objective's loss plus the network's penalty."""
        x, target, weight = batch.to(self.device)
        output = self.net(x)
        if self.joint_epochs:
            loss = self.objective.joint_loss(self.net.of_voters(output), target, weight)  # type: ignore[operator]
        else:
            loss = self.objective.loss(output, target, weight)
        penalty = getattr(self.net, "penalty", None)
        return loss if penalty is None else loss + penalty()

    @torch.no_grad()
    def outputs(self, source: BatchSource) -> tuple[Tensor, Tensor, Tensor | None]:
        """Outputs for all rows of ``source``, with their targets and weights."""
        self.net.eval()
        batches = [(self.net(b.x.to(self.device)).cpu(), b.target, b.weight) for b in source.batches()]
        outputs, targets, weights = zip(*batches, strict=True)
        return torch.cat(outputs), torch.cat(targets), None if weights[0] is None else torch.cat(weights)

    def score(self, source: BatchSource) -> float:
        """The objective's metric over all rows of ``source``."""
        score = self.objective.score(*self.outputs(source))
        if math.isnan(score):
            raise NonFiniteLossError(f"the validation score {self.objective.metric.name} is NaN")
        return score

    def record(self, row: dict[str, Any]) -> None:
        """Add an epoch to the history and let the plateau and stopping rules see it."""
        self.history.append(row)
        if not isinstance(self.schedule, CosineDecay):
            self.schedule.step(row["train_loss"])
        score = row.get("valid_score", row["train_loss"])
        if self.objective.metric.better(score, self.best_score) if "valid_score" in row else score < self.best_score:
            self.best_epoch, self.best_score, self.best_state = row["epoch"], score, self.snapshot()
        self.notify("on_epoch_end")

    def finished(self) -> bool:
        """Whether there is no further epoch to run; the reason is in ``stop_reason``."""
        if len(self.history) >= self.max_epochs + self.joint_epochs:
            self.stop(self.end_of_plan)
        if gain_nothing(self):
            self.stop(f"max_epochs={self.max_epochs} reached, and groups gain nothing together")
        if self.epochs_since_best >= self.patience:
            self.stop(f"no better score for {self.patience} epochs")
        return self.stop_reason is not None

    def stop(self, reason: str) -> None:
        """End training after the current step; the epoch it is in still counts."""
        self.stop_reason = self.stop_reason or reason

    def recover(self, error: NonFiniteLossError) -> None:
        """After the first non-finite loss, go back to the best weights with a tenth of the rate; then give up."""
        if self.joint_epochs:  # what was learned apart is kept, and good enough
            self.stop(str(error))
            return
        if self.has_recovered:
            raise error
        self.has_recovered = True
        rate = self.highest_rate / 10
        message = f"{error}; going on from the best epoch ({self.best_epoch}) with learning rate {rate:g}."
        warnings.warn(message[0].upper() + message[1:], TrainingWarning, stacklevel=4)
        self.net.load_state_dict(self.best_state)
        self.start_optimizer(rate)

    def interrupted(self) -> None:
        """Ctrl-C: keep the best weights so far and say so; without a finished epoch there is nothing to keep."""
        if not self.history:
            raise KeyboardInterrupt
        self.stop("interrupted")
        warnings.warn(
            f"Training was interrupted in epoch {len(self.history) + 1}: the weights of the best epoch so far "
            f"({self.best_epoch}, score {self.best_score:.6g}) are kept.",
            TrainingWarning,
            stacklevel=3,
        )

    def start_optimizer(self, learning_rate: float) -> None:
        """A fresh optimiser and schedule."""
        self.optimizer = make_optimizer(
            self.net,
            learning_rate=float(learning_rate),
            weight_decay=self.weight_decay,
            deviations=self.deviations,
            shared_steps=self.shared_steps,
        )
        self.schedule: CosineDecay | ReduceLROnPlateau = (
            CosineDecay(self.optimizer)
            if self.schedule_kind == "cosine"
            else halve_on_plateau(self.optimizer, patience=self.lr_patience, min_lr=self.min_learning_rate)
        )

    def snapshot(self) -> dict[str, Tensor]:
        """A copy of the weights."""
        return {name: value.detach().clone() for name, value in self.net.state_dict().items()}

    def notify(self, event: str) -> None:
        """Tell every callback."""
        for callback in self.callbacks:
            getattr(callback, event)(self)

    def worst_score(self, has_validation: bool) -> float:
        """The score that anything is better than; the training loss counts where there are no validation rows."""
        return self.objective.metric.worst if has_validation else float("inf")

    @property
    def epochs_since_best(self) -> int:
        """Epochs since the last strictly better score, or since groups began to learn together."""
        since = max(self.best_epoch, self.max_epochs) if self.joint_epochs else self.best_epoch
        return len(self.history) - since

    @property
    def end_of_plan(self) -> str:
        """The reason to stop after all epochs."""
        more = f" and {self.joint_epochs} more, together" if self.joint_epochs else ""
        return f"max_epochs={self.max_epochs} reached{more}"

    @property
    def highest_rate(self) -> float:
        """The rate that a plan starts from, or that halving has come to."""
        schedule = self.schedule
        return schedule.highest if isinstance(schedule, CosineDecay) else self.optimizer.param_groups[0]["lr"]

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return next(self.net.parameters()).device

    # Everything that a later process needs to go on as if nothing had happened.

    def state_dict(self) -> dict[str, Any]:
        """The whole state: network, best weights, optimiser, schedule, random numbers and history."""
        return {
            "net": self.net.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "generator": self.generator.get_state(),
            "torch_rng": torch.get_rng_state(),
            "history": list(self.history),
            "best": {"epoch": self.best_epoch, "score": self.best_score, "state": self.best_state},
            "joint_epochs": self.joint_epochs,
            "has_recovered": self.has_recovered,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over a state that ``state_dict`` gave."""
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        self.generator.set_state(state["generator"])
        torch.set_rng_state(state["torch_rng"])
        self.history = History(state["history"])
        best = state["best"]
        self.best_epoch, self.best_score, self.best_state = best["epoch"], best["score"], best["state"]
        self.joint_epochs = state["joint_epochs"]
        self.has_recovered = state["has_recovered"]
