"""Numbers that a step of training does without, so that what a formula says does not hang on a single one."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from dnfnet.training.source import Batch, BatchSource


class DropoutSource:
    """Rows of another source without some of their numbers: all inputs of such a number are 0, which is their mean.

    Other numbers are left out each time. Rows in their order, which are not for training, are whole.

    Parameters
    ----------
    source : BatchSource
    numbers : Tensor of shape (d_in,)
        Which number each input is a part of, counted from 0; -1 where an input always stays.
    share : float
        The probability of each number in each row.

    Examples
    --------
    >>> from dnfnet.training import TensorSource
    >>> rows = TensorSource(torch.ones(100, 4), torch.zeros(100))
    >>> source = DropoutSource(rows, torch.tensor([0, 0, 1, -1]), share=0.5)
    >>> one, two, other, alone = next(source.batches(torch.Generator())).x.T
    >>> torch.equal(one, two), torch.equal(one, other), alone.mean().item(), one.mean().item() < 0.7
    (True, False, 1.0, True)
    """

    def __init__(self, source: BatchSource, numbers: Tensor, share: float) -> None:
        if not 0 <= share < 1:
            raise ValueError(f"share must be at least 0 and less than 1, however: {share=}")
        self.source, self.share, self.n_rows = source, share, source.n_rows
        self.n_numbers, self.place = int(numbers.max()) + 1, numbers + 1

    def batches(self, generator: torch.Generator | None = None) -> Iterator[Batch]:
        """One epoch: shuffled and left out from by ``generator``, or whole and in order without one."""
        for batch in self.source.batches(generator):
            yield batch if generator is None else batch._replace(x=self._without_some(batch.x, generator))

    def _without_some(self, x: Tensor, generator: torch.Generator) -> Tensor:
        stays = torch.ones(len(x), self.n_numbers + 1)
        stays[:, 1:] = torch.rand(len(x), self.n_numbers, generator=generator) >= self.share
        return x * stays[:, self.place]
