"""Inputs in runs, which the kernel looks up: what multiplying gives, for rows of that form and for all others."""

import pytest
import torch
from blocks import ROWS, assert_equals, assert_same_bits, make_run_block, run_blocks
from hypothesis import HealthCheck, given, settings

from dnfnet import ops
from dnfnet.nn import DNNF, FeatureSelection, Layout, Runs, runs
from dnfnet.ops import memory, reference

slow = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
LAYOUT = Layout(9, (1, 4, 15), (2, 4, 6))


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Look up even where multiplying is faster."""
    monkeypatch.setattr(runs, "INPUTS_PER_ENTRY", 0)


@slow
@given(block=run_blocks)
def test_any_block_equals_the_reference(fused, block):
    assert_equals(block.run(), block.exact(), scale=3.0, rounding=block.run(reference.dnnf))


@pytest.mark.parametrize("rows", ROWS)
def test_every_instruction_set_equals_the_reference(instructions, rows):
    block = make_run_block(LAYOUT, rows, [3, 9], [1, 20], 2)
    assert_equals(block.run(), block.exact())


def test_it_is_really_looked_up(fused):
    """By looking up, sums are taken in another order: some bits must differ."""
    block = make_run_block(LAYOUT, 300, [30] * 4, [30] * 4, 2)
    multiplied = ops.dnnf(block.x, block.weight, block.bias, LAYOUT, gate=block.gate, keep=block.keep)
    assert not torch.equal(block.run()[0], multiplied)


def test_many_inputs_in_parts(instructions):
    """So many nodes and entries that the kernel takes them in several parts."""
    block = make_run_block(Layout(4), 130, [25] * 40, [10] * 30, 3)
    assert_equals(block.run(), block.exact(), scale=3.0)


@pytest.mark.parametrize("rows", ROWS)
def test_kept_literals_give_the_same_bits(instructions, rows, monkeypatch):
    block = make_run_block(LAYOUT, rows, [5, 5], [7], 1)
    reading = block.run()
    monkeypatch.setattr(memory, "MOST_BYTES", -1)
    assert all(torch.equal(a, b) for a, b in zip(reading, block.run(), strict=True))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_is_multiplied(instructions, value):
    block = make_run_block(LAYOUT, 40, [4], [5], 2)
    block.x[3, 1] = value
    expected = block.exact()[0]
    torch.testing.assert_close(block.run()[0].double(), expected, rtol=0, atol=2e-5, equal_nan=True)


def test_what_is_not_finite_is_multiplied_in_prediction_too(fused):
    block = make_run_block(LAYOUT, 40, [4], [5], 2)
    block.x[3, 1] = float("inf")
    module = DNNF(11, LAYOUT, runs=block.runs).eval()
    with torch.no_grad():
        result = module(block.x)
        with ops.use("torch"):
            torch.testing.assert_close(result, module(block.x), rtol=0, atol=2e-5, equal_nan=True)


@pytest.mark.parametrize("threads", [2, 3])
def test_same_bits_for_any_number_of_threads(instructions, threads):
    block = make_run_block(Layout(64), 700, [9] * 4, [20], 3)
    assert_same_bits(block, threads)


def test_a_row_has_the_same_bits_alone_and_among_others(instructions):
    block = make_run_block(Layout(20), 300, [9] * 20, [20] * 9, 3)
    module = DNNF(block.x.shape[1], Layout(20), runs=block.runs).eval()
    with torch.no_grad():
        together = module(block.x)
        alone = torch.cat([module(row[None]) for row in block.x])
    assert torch.equal(together, alone)


def test_packed_equals_unpacked(fused):
    block = make_run_block(Layout(20), 100, [9, 3], [20], 3)
    selection = FeatureSelection(20, 35, beta=0.7)
    module = DNNF(35, Layout(20), selection=selection, runs=block.runs)
    with torch.no_grad():
        unpacked = module(block.x)
        assert torch.equal(module.eval()(block.x), unpacked)


def test_an_input_that_needs_a_gradient_gets_it(fused):
    block = make_run_block(LAYOUT, 10, [4], [5], 2)
    module = DNNF(11, LAYOUT, runs=block.runs)
    x = block.x.clone().requires_grad_()
    module(x).sum().backward()
    assert x.grad.abs().min() > 0


def test_compiled_without_a_graph_break(fused):
    block = make_run_block(LAYOUT, 30, [4], [5], 2)
    module = DNNF(11, LAYOUT, runs=block.runs)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(block.x), module(block.x))


def test_a_row_has_as_many_entries_as_it_should():
    made = Runs([(0, 30, "pieces"), (30, 40, "values")], torch.tensor([[0.0] * 71, [1.0] * 71]))
    assert (made.n_entries, made.pays) == (4, True)


def test_rows_that_are_mostly_at_their_low_ends_have_fewer_entries():
    """Standardised inputs: 10 % of rows are above the low end of the pieces, 20 % at one of the values."""
    ends = torch.tensor([[-0.1, -0.05, -0.05, -0.15], [0.9, 0.95, 0.95, 0.85]])
    assert Runs([(0, 2, "pieces"), (2, 2, "values")], ends).n_entries == pytest.approx(2 * 0.1 + 0.2)


@pytest.mark.parametrize(
    ("wrong", "ends"),
    [
        ([(1, 2, "pieces"), (2, 1, "values")], [[0.0] * 4, [1.0] * 4]),
        ([(0, 5, "pieces")], [[0.0] * 4, [1.0] * 4]),
        ([(0, 0, "pieces")], [[0.0] * 4, [1.0] * 4]),
        ([(0, 2, "steps")], [[0.0] * 4, [1.0] * 4]),
        ([(0, 2, "pieces")], [[0.0] * 4, [0.0] * 4]),
        ([(0, 2, "pieces")], [[0.0] * 4, [float("nan")] * 4]),
    ],
)
def test_runs_that_cannot_be_are_refused(wrong, ends):
    with pytest.raises(ValueError, match=r"runs must be|ends must be"):
        Runs(wrong, torch.tensor(ends))


def test_runs_of_another_table_are_refused():
    with pytest.raises(ValueError, match="runs must be of 3 inputs"):
        DNNF(3, Layout(4), runs=Runs([], torch.zeros(2, 4)))
