"""VC dimensions by hand, ranks of trees, and trees as DNF formulas on all of a grid."""

from itertools import product
from math import log2

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from dnfnet.exceptions import InvalidParameterError
from dnfnet.paper.tree_dnf import tree_to_dnf
from dnfnet.paper.vc import crossover, rank_of, vc_bound_dnf, vc_dim_trees


def test_trees_by_hand():
    assert vc_dim_trees(4, 1) == 5
    assert vc_dim_trees(4, 2) == 1 + 4 + 6
    assert vc_dim_trees(100, 3) == 1 + 100 + 4950 + 161_700
    # Rank n: every Boolean function.
    assert vc_dim_trees(10, 10) == 2**10


def test_bound_by_hand():
    assert vc_bound_dnf(9, 1) == pytest.approx(20 * log2(3))
    assert vc_bound_dnf(99, 4) == pytest.approx(2 * 100 * 4 * log2(12))


def test_the_base_of_the_logarithm_makes_the_proof_work():
    """Blumer et al.: m = 2dk log(3k) points are not shattered when (em/d)^(dk) < 2^m; d = 1 suffices."""
    for k in range(1, 200):
        m = 2 * k * log2(3 * k)
        assert k * log2(np.e * m) < m
    natural = 2 * np.log(3)
    assert log2(np.e * natural) > natural


@pytest.mark.parametrize(("k", "rank"), [(1, 2), (16, 2), (16, 3), (64, 3), (64, 4), (32, 5)])
def test_crossover_is_the_first_dimension_where_trees_win(k, rank):
    n = crossover(k, rank)
    assert vc_dim_trees(n, rank) > vc_bound_dnf(n, k)
    assert all(vc_dim_trees(i, rank) <= vc_bound_dnf(i, k) for i in range(n))


def test_the_papers_claim_about_figure_1():
    """Except for rank 2, trees dominate the formulas when the dimension exceeds 100."""
    for k, rank in product((16, 32, 64), (3, 4, 5)):
        assert crossover(k, rank) <= 100
    assert crossover(16, 2) > 100
    assert crossover(16, 1) is None


def test_limits():
    with pytest.raises(InvalidParameterError, match="k must be at least 1"):
        vc_bound_dnf(5, 0)
    with pytest.raises(InvalidParameterError, match="rank must be at least 0"):
        vc_dim_trees(5, -1)


def complete(depth):
    """Child arrays of the complete binary tree."""
    n = 2 ** (depth + 1) - 1
    left = [2 * i + 1 if 2 * i + 1 < n else -1 for i in range(n)]
    return left, [i + 1 if i > 0 else -1 for i in left]


def test_ranks():
    assert rank_of([-1], [-1]) == 0
    for depth in (1, 2, 3, 6):
        assert rank_of(*complete(depth)) == depth
    # The paper's conjunction of five literals: one branch, rank 1. Deep, so recursion would not do.
    n = 5000
    left = [i for pair in ((2 * j + 1, -1) for j in range(n)) for i in pair] + [-1]
    right = [i for pair in ((2 * j + 2, -1) for j in range(n)) for i in pair] + [-1]
    assert rank_of(left, right) == 1


def all_points(n):
    return np.array(list(product([0, 1], repeat=n)))


@pytest.mark.parametrize("seed", range(5))
def test_a_tree_equals_its_dnf_on_every_boolean_input(seed):
    x = all_points(6)
    y = np.random.default_rng(seed).integers(0, 2, len(x))
    tree = DecisionTreeClassifier(max_depth=seed + 2, random_state=0).fit(x, y)
    formula = tree_to_dnf(tree)
    assert np.array_equal(formula.predict(x), tree.predict(x) == 1)
    assert sum(c.holds(x).astype(int) for c in formula.conjunctions).max() == 1
    assert formula.rank <= 6
    assert formula.vc_dim_trees == vc_dim_trees(formula.n_variables, formula.rank)
    assert formula.vc_bound_dnf == vc_bound_dnf(formula.n_variables, len(formula.conjunctions))


def test_a_tree_on_real_values_equals_its_dnf_on_a_grid_that_hits_the_thresholds():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 8, size=(300, 3)) / 2
    y = np.array(["no", "yes", "maybe"])[rng.integers(0, 3, 300)]
    tree = DecisionTreeClassifier(random_state=0).fit(x, y)
    values = np.unique(np.concatenate([tree.tree_.threshold, np.arange(-1, 5, 0.25)]))
    grid = np.array(list(product(values, repeat=3)))
    for label in tree.classes_:
        assert np.array_equal(tree_to_dnf(tree, label).predict(grid), tree.predict(grid) == label)


def test_the_conjunction_of_the_papers_figure():
    x = all_points(5)
    tree = DecisionTreeClassifier(random_state=0).fit(x, x.all(axis=1))
    formula = tree_to_dnf(tree, True)
    assert len(formula.conjunctions) == 1
    assert formula.rank == 1
    assert formula.n_variables == 5
    assert formula.vc_dim_trees == 6
    assert str(tree_to_dnf(tree, True).conjunctions[0]).count(" > 0.5") == 5


def test_a_tree_of_one_leaf():
    tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [1, 1])
    assert tree_to_dnf(tree).predict(np.zeros((2, 1))).all()
    assert str(tree_to_dnf(tree)) == "(true)"
    with pytest.raises(InvalidParameterError, match="positive must be one of"):
        tree_to_dnf(tree, 3)
