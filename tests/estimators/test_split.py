"""The internal validation split."""

import numpy as np
import pytest

from dnfnet.estimators.split import validation_split


def split(n_rows, fraction, labels=None, seed=0):
    return validation_split(n_rows, fraction, np.random.RandomState(seed), labels)


@pytest.mark.parametrize(("n_rows", "expected"), [(0, 0), (1, 0), (3, 0), (4, 0), (5, 1), (8, 1), (100, 12), (104, 13)])
def test_share(n_rows, expected):
    assert split(n_rows, 0.125).sum() == expected


def test_every_class_gives_its_share():
    labels = np.repeat([0, 1, 2], [80, 40, 8])
    chosen = split(128, 0.125, labels)
    assert np.bincount(labels[chosen]).tolist() == [10, 5, 1]


def test_no_class_gives_its_last_row():
    labels = np.array(["a", "b", "c", "c", "d", "d", "d"])
    for seed in range(20):
        chosen = split(7, 0.9, labels, seed)
        assert set(labels[~chosen]) == {"a", "b", "c", "d"}


def test_follows_the_seed():
    assert np.array_equal(split(100, 0.2), split(100, 0.2))
    assert not np.array_equal(split(100, 0.2), split(100, 0.2, seed=1))


def test_no_fraction_no_rows():
    assert not split(100, 0.0).any()
