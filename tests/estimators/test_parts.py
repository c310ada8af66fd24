"""Which rows each group of formulas learns from, and which stop the training."""

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss

from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.estimators.fitting import train_networks
from dnfnet.estimators.parts import hold_out, parts_of
from dnfnet.estimators.rows import Rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(320, 4))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
GROUPS = {"n_formulas": 16, "n_groups": 8, "max_epochs": 20, "random_state": 0}


def draw(n_rows, n_members, fraction=0.125, seed=0):
    return hold_out(np.arange(n_rows), fraction, n_members, np.random.RandomState(seed), None)


def rows_of(n_rows, weight=None):
    x = np.arange(n_rows, dtype=np.float32)[:, np.newaxis]
    return Rows(x, np.arange(n_rows), weight)


@pytest.mark.parametrize(("n_members", "times"), [(16, {2}), (8, {1}), (4, {0, 1}), (5, {0, 1}), (12, {1, 2})])
def test_all_rows_are_set_aside_equally_often(n_members, times):
    held = draw(800, n_members)
    assert (np.abs(held.sum(0) - 100) <= 1).all()
    assert set(held.sum(1)) == times


@pytest.mark.parametrize("fraction", [0.3, 0.5, 0.8, 0.99])
def test_no_class_is_set_aside_as_a_whole(fraction):
    labels = np.repeat([0, 1, 2, 3], [1, 2, 5, 192])
    for seed in range(10):
        held = hold_out(np.arange(200), fraction, 6, np.random.RandomState(seed), labels)
        for label in range(4):
            assert not held[labels == label].all(0).any()
    assert abs(held[labels == 3].mean() - fraction) < 0.02


@pytest.mark.parametrize("n_members", [2, 4, 16])
@pytest.mark.parametrize("size", [2, 3, 4, 6, 8])
def test_every_class_has_a_word_in_when_to_stop(size, n_members):
    labels = (np.arange(300) < size).astype(int)
    for seed in range(20):
        held = hold_out(np.arange(300), 0.125, n_members, np.random.RandomState(seed), labels)
        assert held[:size].any()


def test_rows_are_dealt_at_random():
    """Not in blocks of a table that is sorted, and not the same with every seed."""
    held = draw(800, 8)
    for column in held.T:
        assert 0 < column[:80].sum() < 40
        assert len(np.unique(np.diff(np.flatnonzero(column)))) > 5
    assert not np.array_equal(held, draw(800, 8, seed=1))


def test_every_class_gives_its_share_to_every_member():
    labels = np.repeat([0, 1], [80, 720])
    held = hold_out(np.arange(800), 0.125, 8, np.random.RandomState(0), labels)
    assert (np.abs(held[:80].sum(0) - 10) <= 1).all()
    assert (np.abs(held[80:].sum(0) - 90) <= 1).all()


def test_one_member_sets_its_rows_aside_for_good():
    held = draw(800, 1)
    assert held.sum() == 100
    [(train, valid)] = parts_of(rows_of(800), [held], None, None)
    assert sorted([*train.target, *valid.target]) == list(range(800))
    assert train.members is None
    assert valid.members is None


def test_a_row_counts_for_a_member_on_one_side_only():
    weight = RNG.integers(1, 4, size=200).astype(float)
    held = draw(200, 4)
    [(train, valid)] = parts_of(rows_of(200, weight), [held], None, None)
    scored = held.any(1)
    assert 0.4 < scored.mean() < 0.6
    assert np.array_equal(train.members, ~held)
    assert np.array_equal(valid.members, held[scored])
    assert np.array_equal(train.weight, weight)
    assert np.array_equal(valid.weight, weight[scored])


def test_rows_given_to_stop_by_leave_all_others_to_learn_from():
    given = rows_of(9)
    [(train, valid)] = parts_of(rows_of(200), [draw(200, 8, fraction=0.0)], None, given)
    assert valid is given
    assert train.n_rows == 200
    assert train.members is None


def test_rows_of_a_kind_are_merged_where_they_count_for_the_same_members():
    """Kinds of 4 to 22 rows: the large ones give each member their share, the small ones all rows or none."""
    kinds = np.repeat(np.arange(10), np.arange(4, 24, 2))
    held = hold_out(kinds, 0.125, 4, np.random.RandomState(0), None)
    rows = Rows(kinds[:, np.newaxis].astype(np.float32), kinds, None)
    [(train, valid)] = parts_of(rows, [held], kinds, None)
    for part, counts in ((train, ~held), (valid, held)):
        assert part.n_rows < counts.any(1).sum()
        for kind in range(10):
            mine = part.target == kind
            expected = counts[kinds == kind].sum(0)
            assert np.array_equal(part.weight[mine] @ part.members[mine], expected)
    large = np.bincount(kinds) >= 8
    shares = np.array([held[kinds == kind].mean(0) for kind in range(10)])
    assert (np.abs(shares[large] - 0.125) <= 0.125).all()
    assert (shares[large] > 0).all()
    assert np.isin(shares[~large], [0, 1]).all()


@pytest.mark.parametrize(
    ("options", "n_members"),
    [({}, 8), ({"n_groups": None}, 1), ({"n_groups": 1}, 1), ({"structure": "dense"}, 1)],
)
def test_groups_are_members_where_they_learn_independently(options, n_members):
    model = DNFNetClassifier(**{**GROUPS, **options})
    [(train, valid)] = model._parts(X, Y, None, None, np.random.RandomState(0), True)
    if n_members == 1:
        assert (train.n_rows, valid.n_rows) == (280, 40)
        assert train.members is None
    else:
        assert train.members.shape == (320, n_members)
        assert (np.abs((~train.members).sum(0) - 40) <= 2).all()


def test_large_tables_set_the_same_rows_aside_for_all_groups():
    rows = np.arange(4000) % len(X)
    for n_rows, in_turns in ((3999, True), (4000, False)):
        model = DNFNetClassifier(**GROUPS)
        [(train, _)] = model._parts(X[rows[:n_rows]], Y[rows[:n_rows]], None, None, np.random.RandomState(0), True)
        assert (train.members is not None) == in_turns


@pytest.mark.parametrize("weights", [None, RNG.uniform(1, 3, size=320)])
def test_the_best_score_is_that_of_groups_which_had_not_seen_a_row(weights):
    model = DNFNetClassifier(**GROUPS, batch_size=64).fit(X, Y, sample_weight=weights)
    held = hold_out(np.arange(320), 0.125, 8, np.random.RandomState(0), Y)
    with torch.no_grad():
        groups = torch.sigmoid(model.network_(torch.from_numpy(model.encoder_.transform(X))).double()).squeeze(-1)
    scored = held.any(1)
    probabilities = (groups.numpy() * held).sum(1)[scored] / held.sum(1)[scored]
    expected = log_loss(Y[scored], probabilities, sample_weight=None if weights is None else weights[scored])
    assert model.best_score_ == pytest.approx(expected, rel=1e-5)


def test_the_scale_of_a_real_target_is_that_of_all_rows():
    target = np.exp(2 * X[:, 0])
    model = DNFNetRegressor(**GROUPS).fit(X, target)
    assert model.target_.mean == pytest.approx(target.mean(), rel=1e-6)
    alone = DNFNetRegressor(**{**GROUPS, "n_groups": None}).fit(X, target)
    assert alone.target_.mean != pytest.approx(target.mean(), rel=1e-6)


def test_a_weight_of_two_is_the_row_twice():
    weight = np.where(np.arange(320) < 50, 2.0, 1.0)
    weighed = DNFNetClassifier(**GROUPS).fit(X, Y, sample_weight=weight)
    repeated = DNFNetClassifier(**GROUPS).fit(np.r_[X, X[:50]], np.r_[Y, Y[:50]])
    np.testing.assert_array_equal(weighed.predict_proba(X), repeated.predict_proba(X))


def test_weights_average_one_over_what_the_rows_count_for():
    rows = Rows(np.zeros((4, 1), np.float32), np.zeros(4), np.array([17.0, 1, 1, 1]), members=np.eye(4, 2) == 0)
    source = rows.source(4)
    (batch,) = source.batches()
    pairs = batch.weight[:, None].expand(4, 2)[batch.members]
    assert pairs.mean().item() == pytest.approx(1)


def test_a_group_learns_nothing_from_the_rows_that_it_set_aside():
    """Other features in these rows move the other groups, and not this one; every epoch is the best so far."""
    better = iter(range(100))
    model = DNFNetClassifier(**{**GROUPS, "max_epochs": 3, "beta": None}, metric=lambda *_: -next(better))
    heads = {}
    for changed in (False, True):
        [(train, valid)] = model._parts(X, Y, None, None, np.random.RandomState(0), True)
        if changed:
            train.x[train.chosen[~train.members[:, 3]]] += 1
        model._start(torch.Generator().manual_seed(0))
        train_networks(model, [(train, valid)], torch.Generator().manual_seed(0))
        heads[changed] = model.network_.head.weight.detach()
    same = [torch.equal(heads[False][g], heads[True][g]) for g in range(8)]
    assert same == [g == 3 for g in range(8)]


@pytest.mark.parametrize("options", [{"class_weight": {0: 0.0, 1: 1.0}}, {}])
def test_rows_that_weigh_nothing_are_no_trouble(options):
    weight = None if options else np.where(np.arange(320) < 10, 1e-46, 1.0)
    model = DNFNetClassifier(**GROUPS, **options).fit(X, Y, sample_weight=weight)
    assert np.isfinite(model.best_score_)
