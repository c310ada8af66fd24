"""Outputs of a fitted network for a table, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dnfnet.nn import DNFNet
from dnfnet.table import Source, TableEncoder, gathered_notes, open_table
from dnfnet.training import Objective

ROWS_PER_CHUNK = 2**16
ROWS_PER_BATCH = 256
MIN_OUTPUTS = 16


def table_predictions(network: DNFNet, encoder: TableEncoder, objective: Objective, X: Any) -> NDArray[np.float64]:
    """Predictions for the rows of any table, encoded chunk by chunk so that memory stays bounded."""
    table = open_table(X)
    starts = range(0, max(table.shape[0], 1), ROWS_PER_CHUNK)
    with gathered_notes():
        parts = [_chunk(network, encoder, objective, table.slice(i, i + ROWS_PER_CHUNK)) for i in starts]
    return np.concatenate(parts)


@torch.no_grad()
def _chunk(network: DNFNet, encoder: TableEncoder, objective: Objective, table: Source) -> NDArray[np.float64]:
    device = next(network.parameters()).device
    x = torch.from_numpy(encoder.transform(table))
    # Matrix products round differently for different numbers of rows, and a sigmoid does in the last few of an array.
    # With batches of one size, padded, a row has the same prediction alone and among others, to the bit.
    padded = torch.nn.functional.pad(x, (0, 0, 0, -len(x) % ROWS_PER_BATCH))
    head = _wide_head(network)
    parts = [objective.predictions(head(network.embed(part.to(device)))) for part in padded.split(ROWS_PER_BATCH)]
    return np.concatenate(parts)[: len(x)]


def _wide_head(network: DNFNet) -> Callable[[Tensor], Tensor]:
    """The output layer, computed with outputs to spare: a product of 2 to 9 columns rounds by a row's place in it."""
    head = network.head
    n_outputs = head.out_features
    spare = MIN_OUTPUTS - n_outputs if 1 < n_outputs < MIN_OUTPUTS else 0
    weight = torch.nn.functional.pad(head.weight, (0, 0, 0, spare))
    bias = torch.nn.functional.pad(head.bias, (0, spare))
    return lambda embedded: torch.nn.functional.linear(embedded, weight, bias)[:, :n_outputs]
