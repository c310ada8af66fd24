"""Which rows each group of formulas learns from, and which stop the training."""

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss

from dnfnet import DNFNetClassifier, DNFNetRegressor
from dnfnet.estimators.parts import SCORED_ROWS, hold_out, parts_of
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


def test_every_member_sets_its_share_aside():
    held = draw(800, 16)
    assert held.by_member.shape == (800, 16)
    assert (held.by_member.sum(0) == 100).all()
    assert len({column.tobytes() for column in held.by_member.T}) == 16
    assert not held.unseen.any()
    assert np.array_equal(held.scored, held.by_member.any(1))


def test_one_member_sets_its_rows_aside_for_good():
    held = draw(800, 1)
    assert held.unseen.sum() == held.scored.sum() == 100
    [(train, valid)] = parts_of(rows_of(800), [held], None, None)
    assert sorted([*train.target, *valid.target]) == list(range(800))
    assert train.weight is None
    assert valid.weight is None


def test_no_more_rows_are_scored_than_it_takes():
    many = draw(3 * SCORED_ROWS, 16)
    assert many.scored.sum() == SCORED_ROWS
    assert not (many.scored & ~many.by_member.any(1)).any()
    [(train, valid)] = parts_of(rows_of(3 * SCORED_ROWS), [many], None, None)
    assert (train.n_rows, valid.n_rows) == (3 * SCORED_ROWS, SCORED_ROWS)
    assert draw(10 * SCORED_ROWS, 1).scored.sum() == 10 * SCORED_ROWS // 8


def test_a_row_counts_for_a_member_on_one_side_only():
    weight = RNG.integers(1, 4, size=200).astype(float)
    held = draw(200, 8)
    [(train, valid)] = parts_of(rows_of(200, weight), [held], None, None)
    assert np.array_equal(train.weight, np.where(held.by_member, 0, weight[:, np.newaxis]))
    assert np.array_equal(valid.weight, np.where(held.by_member, weight[:, np.newaxis], 0)[held.scored])


def test_rows_given_to_stop_by_leave_all_others_to_learn_from():
    given = rows_of(9)
    [(train, valid)] = parts_of(rows_of(200), [draw(200, 8, fraction=0.0)], None, given)
    assert valid is given
    assert train.n_rows == 200
    assert train.weight is None


def test_rows_of_a_kind_are_merged_where_they_count_for_the_same_members():
    """Kinds of 4 to 22 rows: the large ones give each member their share, the small ones all rows or none."""
    kinds = np.repeat(np.arange(10), np.arange(4, 24, 2))
    held = hold_out(kinds, 0.125, 4, np.random.RandomState(0), None)
    rows = Rows(kinds[:, np.newaxis].astype(np.float32), kinds, None)
    [(train, valid)] = parts_of(rows, [held], kinds, None)
    for part, counts in ((train, ~held.by_member), (valid, held.by_member)):
        assert part.n_rows < counts.any(1).sum()
        for kind in range(10):
            expected = counts[kinds == kind].sum(0)
            assert np.array_equal(part.weight[part.target == kind].sum(0), expected)


@pytest.mark.parametrize(
    ("options", "n_members"),
    [({}, 8), ({"n_groups": None}, 1), ({"n_groups": 1}, 1), ({"structure": "dense"}, 1)],
)
def test_groups_are_members_where_they_learn_independently(options, n_members):
    model = DNFNetClassifier(**{**GROUPS, **options})
    [(train, valid)] = model._parts(X, Y, None, None, np.random.RandomState(0), True)
    if n_members == 1:
        assert (train.n_rows, valid.n_rows) == (280, 40)
        assert train.weight is None
    else:
        assert train.weight.shape == (320, n_members)
        assert ((train.weight == 0).sum(0) == 40).all()


@pytest.mark.parametrize("weights", [None, RNG.uniform(1, 3, size=320)])
def test_the_best_score_is_that_of_groups_which_had_not_seen_a_row(weights):
    model = DNFNetClassifier(**GROUPS, batch_size=64).fit(X, Y, sample_weight=weights)
    held = hold_out(np.arange(320), 0.125, 8, np.random.RandomState(0), Y).by_member
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
