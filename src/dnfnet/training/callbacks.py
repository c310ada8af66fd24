"""What can watch training, and steer it through ``trainer.stop``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from tqdm.auto import tqdm

from dnfnet.atomic import replacing
from dnfnet.exceptions import ModelFileError

if TYPE_CHECKING:
    from dnfnet.training.trainer import Trainer


class Callback:
    """Override what you need; every method gets the trainer."""

    def on_fit_start(self, trainer: Trainer) -> None:
        """Before the first epoch."""

    def on_step_end(self, trainer: Trainer) -> None:
        """After each update of the weights."""

    def on_epoch_end(self, trainer: Trainer) -> None:
        """After each epoch, when its row is in the history."""

    def on_fit_end(self, trainer: Trainer) -> None:
        """After training, the best weights restored; also when it was interrupted or failed."""


class ProgressBar(Callback):
    """A bar over the epochs: loss, score, the best score, and how many epochs of the patience have passed since."""

    def __init__(self, description: str = "DNF-Net") -> None:
        self.description = description

    def on_fit_start(self, trainer: Trainer) -> None:
        """Open the bar."""
        self.bar = tqdm(
            total=trainer.max_epochs,
            initial=len(trainer.history),
            desc=self.description,
            # Short enough for 80 columns. The time left is not known: most trainings stop early.
            bar_format="{desc} {bar:6} {n_fmt}/{total_fmt} {elapsed}{postfix}",
        )

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Move on by one epoch."""
        row = trainer.history[-1]
        text = f"loss {row['train_loss']:.3f}"
        if "valid_score" in row:
            text += f", {trainer.objective.metric.name} {row['valid_score']:.3f}"
        text += f", best {trainer.best_score:.3f} ({trainer.epochs_since_best}/{trainer.patience})"
        self.bar.total = trainer.max_epochs + trainer.joint_epochs
        self.bar.set_postfix_str(text, refresh=False)
        self.bar.update(1)

    def on_fit_end(self, trainer: Trainer) -> None:
        """Close the bar at the epoch where training stopped."""
        if trainer.history:
            text = f"best {trainer.best_score:.4f} in epoch {trainer.best_epoch}; {trainer.stop_reason}"
            self.bar.set_postfix_str(text, refresh=False)
            self.bar.total = len(trainer.history)
        self.bar.refresh()
        self.bar.close()
        del self.bar  # it holds the terminal, which can be neither copied nor pickled


class TimeLimit(Callback):
    """Stop when this many seconds have passed; the epoch that is cut short still counts.

    Parameters
    ----------
    seconds : float
    told : float, optional
        The limit that the reason names, where ``seconds`` is a share of it.
    """

    def __init__(self, seconds: float, *, told: float | None = None) -> None:
        self.seconds = seconds
        self.told = seconds if told is None else told

    def on_fit_start(self, trainer: Trainer) -> None:  # noqa: ARG002
        """Start the clock."""
        self.started = time.monotonic()

    def on_step_end(self, trainer: Trainer) -> None:
        """Look at the clock."""
        if time.monotonic() - self.started >= self.seconds:
            trainer.stop(f"time limit of {self.told:g} s reached")


class Checkpoint(Callback):
    """Write the trainer's whole state to a file every few epochs, so that a killed run can go on.

    Parameters
    ----------
    path : str or Path
    every : int
        Epochs between two writes.
    """

    def __init__(self, path: str | Path, *, every: int = 1) -> None:
        self.path, self.every = Path(path), every

    def on_epoch_end(self, trainer: Trainer) -> None:
        """Write, when it is time."""
        if len(trainer.history) % self.every == 0:
            with replacing(self.path) as temporary:
                torch.save(trainer.state_dict(), temporary)


def resume(trainer: Trainer, path: str | Path) -> Trainer:
    """Bring ``trainer`` to the state that a `Checkpoint` wrote; its next ``fit`` goes on from there."""
    try:
        state = torch.load(path, weights_only=True, map_location="cpu")
        trainer.load_state_dict(state)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ModelFileError(f"'{path}' is no checkpoint that this network can go on from: {error}") from error
    return trainer
