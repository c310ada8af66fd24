"""Outputs of a fitted network for a table, in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dnfnet.nn import DNFNet, Ensemble
from dnfnet.table import Source, TableEncoder, gathered_notes, open_table
from dnfnet.training import Objective

ROWS_PER_CHUNK = 2**16
ROWS_PER_BATCH = 256


def table_predictions(
    network: DNFNet | Ensemble, encoder: TableEncoder, objective: Objective, X: Any
) -> NDArray[np.float64]:
    """Predictions for the rows of any table, encoded chunk by chunk so that memory stays bounded."""
    table = open_table(X)
    starts = range(0, max(table.shape[0], 1), ROWS_PER_CHUNK)
    with gathered_notes():
        parts = [_chunk(network, encoder, objective, table.slice(i, i + ROWS_PER_CHUNK)) for i in starts]
    return np.concatenate(parts)


@torch.no_grad()
def _chunk(
    network: DNFNet | Ensemble, encoder: TableEncoder, objective: Objective, table: Source
) -> NDArray[np.float64]:
    device = next(network.parameters()).device
    x = torch.from_numpy(encoder.transform(table))
    # Matrix products round differently for different numbers of rows, and a sigmoid does in the last few of an array.
    # With batches of one size, padded, a row has the same prediction alone and among others, to the bit.
    padded = torch.nn.functional.pad(x, (0, 0, 0, -len(x) % ROWS_PER_BATCH))
    parts = [_batch(network, objective, part.to(device)) for part in padded.split(ROWS_PER_BATCH)]
    return np.concatenate(parts)[: len(x)]


def _batch(network: DNFNet | Ensemble, objective: Objective, x: Tensor) -> NDArray[np.float64]:
    if isinstance(network, Ensemble) and network.calibrated:
        return objective.pooled([objective.predictions(net(x)) for net in network.nets])
    return objective.predictions(network(x))
