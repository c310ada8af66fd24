"""Settings for all tests."""

import os
import signal
from pathlib import Path

import pytest
import torch

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # In the background of a shell script Ctrl-C is ignored, by what the tests start too: some of them press it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Two test processes share two cores, and one thread each is repeatable and faster for small networks.
torch.set_num_threads(1)

DATA_DIR = Path(os.environ.get("DNFNET_DATA_DIR", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(autouse=True)
def _seeded():
    """Random numbers that a test draws without thinking are the same in every run."""
    torch.manual_seed(0)


@pytest.fixture
def data_dir():
    """The folder of real data sets, where there is one."""
    if not DATA_DIR.is_dir():
        pytest.skip(f"no data directory at {DATA_DIR}")
    return DATA_DIR
