"""What the tests of the fused kernel share."""

import pytest

from dnfnet import ops
from dnfnet.ops import library


def runs_here(instructions):
    return library.load().functions is not None and library.kernels(instructions) is not None


@pytest.fixture(params=library.INSTRUCTION_SETS)
def instructions(request):
    """Each instruction set that this processor runs, chosen for the test."""
    if not runs_here(request.param):
        pytest.skip(f"{request.param} does not run here: {ops.backend()}")
    with ops.use("fused", instructions=request.param):
        yield request.param


@pytest.fixture
def fused():
    """The fused kernel, whatever the processor."""
    if library.load().functions is None:
        pytest.skip(str(ops.backend()))
    with ops.use("fused") as backend:
        yield backend
