"""What the validation rows decide of a trained network: which of its groups vote, and how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

from dnfnet.training.calibration import sharpness
from dnfnet.training.optim import literal_kinds_of
from dnfnet.training.source import BatchSource
from dnfnet.training.voting import voters

if TYPE_CHECKING:
    from dnfnet.training.trainer import Trainer


def let_all_vote(net: nn.Module) -> None:
    """Let all groups of the network vote, if it has such."""
    let_vote = getattr(net, "let_vote", None)
    if let_vote is not None:
        let_vote()


def let_the_better_vote(trainer: Trainer, valid: BatchSource) -> None:
    """Where groups are trained in several ways, let only those vote whose way and whose masks are better."""
    kinds, masks, let_vote = (getattr(trainer.net, name, None) for name in ("group_kinds", "group_betas", "let_vote"))
    n_kinds = len(literal_kinds_of(trainer.weight_decay, trainer.shared_steps))
    if n_kinds == 1 or kinds is None or masks is None or let_vote is None:
        return
    votes = voters(trainer.objective, *trainer.outputs(valid), [kinds(n_kinds), masks()])
    if not votes.all():
        let_vote(votes)
        trainer.best_score = trainer.score(valid)


def sharpen(trainer: Trainer, valid: BatchSource) -> None:
    """Scale the outputs of a network that can, if that is asked for."""
    scale = getattr(trainer.net, "scale_outputs", None)
    if not trainer.calibrate or scale is None:
        return
    factor = sharpness(trainer.objective, *trainer.outputs(valid))
    if factor != 1.0:
        scale(factor)
        trainer.best_score = trainer.score(valid)
