"""Rows that are trained without some of their numbers."""

import pytest
import torch

from dnfnet.training import DropoutSource, TensorSource

NUMBERS = torch.tensor([0, 0, -1, 1, 1, 1, 2])


def whole(n_rows=4000, batch_size=512):
    return TensorSource(torch.ones(n_rows, 7), torch.arange(n_rows), batch_size=batch_size)


def epoch(source, seed=0):
    batches = list(source.batches(torch.Generator().manual_seed(seed)))
    return torch.cat([batch.x for batch in batches]), torch.cat([batch.target for batch in batches])


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_so_many_numbers_are_left_out_and_each_as_a_whole(share):
    x, _ = epoch(DropoutSource(whole(), NUMBERS, share))
    assert set(x.unique().tolist()) == {0.0, 1.0}
    left_out = 1 - x.mean(0)
    assert left_out[2] == 0
    deviation = (share * (1 - share) / len(x)) ** 0.5
    assert (left_out[[0, 3, 6]] - share).abs().max() < 5 * deviation
    assert torch.equal(x[:, 0], x[:, 1])
    assert torch.equal(x[:, 3], x[:, 4])
    assert torch.equal(x[:, 3], x[:, 5])
    assert not torch.equal(x[:, 0], x[:, 3])


def test_each_row_comes_once_and_other_numbers_are_left_out_each_time():
    source, generator = DropoutSource(whole(), NUMBERS, 0.3), torch.Generator().manual_seed(0)
    by_row = []
    for _ in range(2):
        batches = list(source.batches(generator))
        target = torch.cat([batch.target for batch in batches])
        assert torch.equal(target.sort().values, torch.arange(4000))
        by_row.append(torch.cat([batch.x for batch in batches])[target.argsort()])
    assert not torch.equal(*by_row)
    assert torch.equal(epoch(source, 5)[0], epoch(source, 5)[0])


def test_rows_in_their_order_are_whole():
    source = whole()
    assert all((batch.x == 1).all() for batch in DropoutSource(source, NUMBERS, 0.9).batches())
    epoch(DropoutSource(source, NUMBERS, 0.9))
    assert (source.x == 1).all()


def test_without_numbers_nothing_is_left_out():
    x, _ = epoch(DropoutSource(whole(), torch.full((7,), -1), 0.9))
    assert (x == 1).all()


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_a_share_that_cannot_be_is_refused(share):
    with pytest.raises(ValueError, match="share must be at least 0 and less than 1"):
        DropoutSource(whole(), NUMBERS, share)
