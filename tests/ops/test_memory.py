"""Memory that steps use again: kept literals give the same results as without, and no two graphs share any."""

import sys
import weakref

import pytest
import torch
from blocks import ROWS, make_block

from dnfnet import ops
from dnfnet.nn import DNNF, Layout
from dnfnet.ops import memory


@pytest.mark.parametrize("rows", ROWS)
def test_kept_literals_give_the_same_bits(instructions, rows, monkeypatch):
    block = make_block(Layout(9, (1, 4, 9), (1, 5, 13)), rows, 11)
    reading = block.run()
    monkeypatch.setattr(memory, "MOST_BYTES", -1)
    computing = block.run()
    assert all(torch.equal(a, b) for a, b in zip(reading, computing, strict=True))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_non_finite_input_gives_the_same_gradients(fused, value, monkeypatch):
    block = make_block(Layout(8), 40, 6)
    with torch.no_grad():
        block.x[3, 2] = value
    reading = block.run()
    monkeypatch.setattr(memory, "MOST_BYTES", -1)
    for a, b in zip(reading, block.run(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


def test_two_graphs_at_once_keep_their_own(fused):
    """Memory is used again only when the graph that it belongs to is gone."""
    first, second = make_block(Layout(8), 100, 5, seed=1), make_block(Layout(8), 100, 5, seed=2)
    expected = first.run()
    out = ops.dnnf(first.x, first.weight, first.bias, first.layout, gate=first.gate, keep=first.keep)
    before = torch.autograd.grad(out, first.inputs, first.grad, retain_graph=True)
    second.run()
    after = torch.autograd.grad(out, first.inputs, first.grad)
    for gradients in (before, after):
        assert all(torch.equal(a, b) for a, b in zip(gradients, expected[1:], strict=True))


def test_memory_is_used_again_and_grows_when_it_must(fused):
    """One piece for each purpose: of the size that the last graph had, or a larger one that served it."""
    address = memory.empty(5000, "literals").data_ptr()
    assert memory.empty(4000, "gradient").data_ptr() != address
    assert memory.empty(4000, "literals").data_ptr() == address
    assert len(memory._last) == 2
    grown = memory.empty(10**6, "literals")
    both = memory.empty(10**6, "literals")
    assert grown.data_ptr() != both.data_ptr()
    address = both.data_ptr()
    del grown, both
    assert memory.empty(4000, "literals").data_ptr() == address
    assert len(memory._last["literals"][0]) == 4 * 10**6


def test_no_python_runs_where_memory_ends(fused):
    """A Ctrl-C that falls into a callback of the garbage collector is lost: training would go on."""
    floats, calls = memory.empty(5000, "literals"), []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" else None)
    try:
        del floats
    finally:
        sys.setprofile(None)
    assert calls == []
    assert memory._last["literals"][1]() is None  # it did end


def test_a_gradient_stays_what_it_is_while_someone_has_it(fused):
    block = DNNF(5, Layout(8))
    x = torch.randn(100, 5)
    (first,) = torch.autograd.grad(block(x).sum(), [block.weight])
    before = first.clone()
    torch.autograd.grad(block(-x).sum(), [block.weight])
    assert torch.equal(first, before)


def test_a_block_that_leaves_training_returns_the_memory(fused):
    block = DNNF(5, Layout(8))
    block(torch.randn(100, 5)).sum().backward()
    literals = weakref.ref(memory._last["literals"][0])
    block.train()
    assert literals() is not None
    block.eval()
    assert literals() is None


def test_memory_that_a_graph_holds_is_returned_when_the_graph_is_gone(fused):
    block = make_block(Layout(8), 100, 5)
    expected = block.run()[1:]
    out = ops.dnnf(block.x, block.weight, block.bias, block.layout, gate=block.gate, keep=block.keep)
    literals = weakref.ref(memory._last["literals"][0])
    ops.release()
    assert literals() is not None
    gradients = torch.autograd.grad(out, block.inputs, block.grad, retain_graph=True)
    assert all(torch.equal(a, b) for a, b in zip(gradients, expected, strict=True))
    del out
    assert literals() is None


def test_large_batches_and_prediction_keep_nothing(fused, monkeypatch):
    monkeypatch.setattr(
        memory, "empty", lambda n, what: pytest.fail("kept") if n and what == "literals" else torch.empty(n)
    )
    block = make_block(Layout(8), 100, 5)
    with torch.no_grad():
        ops.dnnf(block.x, block.weight, block.bias, block.layout)
    monkeypatch.setattr(memory, "MOST_BYTES", 100 * block.layout.n_literals * 4 - 1)
    block.run()
