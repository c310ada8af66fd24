"""Categories of more levels than are kept anyway."""

import numpy as np
import pandas as pd
import pytest

from dnfnet.table import TableEncoder
from dnfnet.table.encoding import LEVELS_ANYWAY

N_LEVELS = 100
CODES = np.repeat(np.arange(N_LEVELS), np.arange(N_LEVELS) + 20)
FRAME = pd.DataFrame({"town": [f"t{code:02}" for code in CODES]})
FIRST_KEPT = N_LEVELS - LEVELS_ANYWAY  # the later a level, the more rows it has


def n_inputs(target, weights=None, **options):
    return len(TableEncoder(**options).fit(FRAME, weights, target).encoded_names)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_levels_that_tell_of_the_target_have_inputs(dtype):
    assert n_inputs((CODES % 2).astype(dtype)) == N_LEVELS
    assert n_inputs((CODES % 2).astype(dtype), max_levels=80) == 80 + 1


@pytest.mark.parametrize("target", [None, np.zeros(len(CODES)), CODES >= FIRST_KEPT + 8, np.arange(len(CODES)) % 2])
def test_levels_that_tell_nothing_more_share_one(target):
    """Nothing is known of the target, it is constant, the levels that are kept anyway tell it, or none does."""
    assert n_inputs(None if target is None else target.astype(np.int64)) == LEVELS_ANYWAY + 1


def test_rows_of_weight_0_do_not_count():
    told = (CODES % 2 * (CODES < FIRST_KEPT)).astype(np.int64)
    assert n_inputs(told) == N_LEVELS
    assert n_inputs(told, np.where(CODES < FIRST_KEPT, 0.0, 1.0)) == LEVELS_ANYWAY
