"""Outputs of a fitted network for a table, in bounded memory."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dnfnet.nn import DNFNet, Ensemble
from dnfnet.table import Source, TableEncoder, open_table

ROWS_PER_CHUNK = 2**16
ROWS_PER_BATCH = 256


def table_outputs(network: DNFNet | Ensemble, encoder: TableEncoder, X: Any) -> Tensor:
    """Outputs for the rows of any table, encoded chunk by chunk so that memory stays bounded."""
    table = open_table(X)
    starts = range(0, max(table.shape[0], 1), ROWS_PER_CHUNK)
    return torch.cat([_chunk_outputs(network, encoder, table.slice(i, i + ROWS_PER_CHUNK)) for i in starts])


@torch.no_grad()
def _chunk_outputs(network: DNFNet | Ensemble, encoder: TableEncoder, table: Source) -> Tensor:
    device = next(network.parameters()).device
    x = torch.from_numpy(encoder.transform(table))
    # Matrix products round differently for different numbers of rows. With batches of one size, padded, a row has
    # the same prediction alone and among others.
    padded = torch.nn.functional.pad(x, (0, 0, 0, -len(x) % ROWS_PER_BATCH))
    parts = [network(part.to(device)).cpu() for part in padded.split(ROWS_PER_BATCH)]
    return torch.cat(parts)[: len(x)]
