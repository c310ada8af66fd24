"""Batches: every row once, whatever the sizes."""

import pytest
import torch

from dnfnet.training import TensorSource


def epoch(n_rows, batch_size, seed=None):
    x = torch.arange(n_rows).float().unsqueeze(-1)
    source = TensorSource(x, torch.arange(n_rows), torch.arange(n_rows).float(), batch_size=batch_size)
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    return list(source.batches(generator))


@pytest.mark.parametrize(("n_rows", "sizes"), [(0, []), (1, [1]), (4, [4]), (5, [4, 1]), (9, [4, 4, 1])])
@pytest.mark.parametrize("seed", [None, 1])
def test_every_row_comes_once(n_rows, sizes, seed):
    batches = epoch(n_rows, 4, seed)
    assert [len(batch.x) for batch in batches] == sizes
    rows = [row for batch in batches for row in batch.target.tolist()]
    assert sorted(rows) == list(range(n_rows))
    for batch in batches:
        assert torch.equal(batch.x[:, 0], batch.target.float())
        assert torch.equal(batch.weight, batch.target.float())


def test_shuffling_follows_the_generator():
    orders = [[b.target.tolist() for b in epoch(20, 7, seed)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]


def test_one_generator_reshuffles_each_epoch():
    source = TensorSource(torch.zeros(20, 1), torch.arange(20))
    generator = torch.Generator().manual_seed(1)
    first, second = (next(source.batches(generator)).target.tolist() for _ in range(2))
    assert first != second


def test_parts_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="same number of rows"):
        TensorSource(torch.zeros(3, 1), torch.zeros(2))


def test_chosen_rows_are_those_of_a_copy():
    x, chosen = torch.randn(9, 2), torch.tensor([7, 0, 4, 3])
    target, weight = torch.arange(4), torch.rand(4)
    part = TensorSource(x, target, weight, batch_size=3, chosen=chosen)
    copy = TensorSource(x[chosen], target, weight, batch_size=3)
    assert part.n_rows == 4
    for one, two in zip(
        part.batches(torch.Generator().manual_seed(1)), copy.batches(torch.Generator().manual_seed(1)), strict=True
    ):
        assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))
    with pytest.raises(ValueError, match="same number of rows"):
        TensorSource(x, torch.arange(9), chosen=chosen)
