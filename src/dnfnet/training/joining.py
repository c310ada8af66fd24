"""Epochs after the plan, in which groups of formulas learn together: by the loss of their average.

Apart, each group learns all of the target with its few formulas, and their average is an ensemble: where there is much
noise, more would be overfitting. Where there is little, the groups are too small for the target, which shows in that
the last epochs are the best; then each goes on to learn what the others leave over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dnfnet.training.deciding import let_the_better_vote
from dnfnet.training.evidence import LEAST_ROWS
from dnfnet.training.source import BatchSource

if TYPE_CHECKING:
    from dnfnet.training.trainer import Trainer

# Groups go on together if the best epoch apart is in the last fifth of them.
LATE = 0.8
# The rate that they begin together with, as a share of the one that they began apart with.
JOINT_RATE = 0.2
# The share of the epochs together in which a better one must come: where groups gain by it, the first ones are better.
TRIED = 1 / 3


def can_join(trainer: Trainer, valid: BatchSource) -> bool:
    """Whether groups are to go on together: after a plan that was still getting better, with rows to judge by."""
    several = getattr(trainer.net, "n_groups", 1) > 1 and round(trainer.together * trainer.max_epochs) > 0
    planned = trainer.schedule_kind == "cosine" and trainer.stop_reason == trainer.end_of_plan
    late = trainer.best_epoch >= LATE * trainer.max_epochs
    exact = trainer.device.type != "mps"  # the loss of the average takes double precision, which these have not
    return several and planned and late and exact and not trainer.joint_epochs and valid.n_rows >= LEAST_ROWS


def join(trainer: Trainer, valid: BatchSource) -> None:
    """From now on train the groups that vote together, starting from the best weights."""
    trainer.net.load_state_dict(trainer.best_state)
    let_the_better_vote(trainer, valid)
    trainer.best_state = trainer.snapshot()
    trainer.joint_epochs, trainer.stop_reason = round(trainer.together * trainer.max_epochs), None
    trainer.start_optimizer(JOINT_RATE * trainer.highest_rate)


def gain_nothing(trainer: Trainer) -> bool:
    """Whether groups have learned together for a while, and none of these epochs is better than those apart."""
    tried = len(trainer.history) - trainer.max_epochs
    return 0 < TRIED * trainer.joint_epochs <= tried and trainer.best_epoch <= trainer.max_epochs


def progress(trainer: Trainer, share: float) -> float:
    """How much of the plan is over, apart or together, after that share of an epoch."""
    done = len(trainer.history) + share
    return (done - trainer.max_epochs) / trainer.joint_epochs if trainer.joint_epochs else done / trainer.max_epochs
