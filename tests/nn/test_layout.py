"""The wiring: counts by hand, sums against explicit loops."""

import pytest
import torch

from dnfnet.nn import Layout
from dnfnet.nn.layout import sum_runs


def test_paper_layout_by_hand():
    layout = Layout(n_formulas=8)
    assert layout.conjunctions_per_formula == (6, 9, 12, 15) * 2
    assert layout.literals_per_formula == (24, 36, 48, 60) * 2
    assert layout.conjunction_lengths[:7] == (2, 4, 6, 2, 4, 6, 2)
    assert (layout.n_conjunctions, layout.n_literals) == (84, 336)
    assert layout.length_cycle == (2, 4, 6)


def test_512_formulas_have_42_literals_on_average():
    assert Layout(n_formulas=512).n_literals == 512 * 42 == 21504


def test_uneven_layout_restarts_the_lengths_in_each_formula():
    layout = Layout(n_formulas=3, conjunctions=(2, 1), lengths=(3, 1, 5))
    assert layout.conjunction_lengths == (3, 1, 3, 3, 1)
    assert layout.literals_per_formula == (4, 3, 4)
    assert layout.length_cycle == (3, 1, 3)


@pytest.mark.parametrize("n_formulas", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize(
    ("conjunctions", "lengths"), [((6, 9, 12, 15), (2, 4, 6)), ((2, 1), (3, 1, 5)), ((4,), (2, 2, 3))]
)
def test_sums_equal_explicit_loops(n_formulas, conjunctions, lengths):
    layout = Layout(n_formulas, conjunctions, lengths)
    literals = torch.randn(3, layout.n_literals, dtype=torch.float64)
    by_conjunction = literals.split(list(layout.conjunction_lengths), dim=-1)
    sums = torch.stack([part.sum(-1) for part in by_conjunction], dim=-1)
    torch.testing.assert_close(layout.sum_literals(literals), sums)
    by_formula = sums.split(list(layout.conjunctions_per_formula), dim=-1)
    torch.testing.assert_close(
        layout.sum_conjunctions(sums), torch.stack([part.sum(-1) for part in by_formula], dim=-1)
    )


def test_constants_follow_the_layout():
    layout = Layout(n_formulas=5, conjunctions=(2, 1), lengths=(3, 1, 5))
    like = torch.zeros(1, dtype=torch.float64)
    assert layout.lengths_like(like).tolist() == list(layout.conjunction_lengths)
    assert layout.counts_like(like).tolist() == list(layout.conjunctions_per_formula)
    rows = torch.arange(5.0).unsqueeze(-1)
    expected = [i for i, n in enumerate(layout.literals_per_formula) for _ in range(n)]
    assert layout.per_literal(rows)[:, 0].tolist() == expected


def test_values_that_do_not_fit_the_cycle_are_refused():
    with pytest.raises(ValueError, match="5 values do not split"):
        sum_runs(torch.zeros(5), (2, 4))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"n_formulas": 0}, "n_formulas"),
        ({"n_formulas": 1, "conjunctions": ()}, "conjunctions"),
        ({"n_formulas": 1, "lengths": (2, 0)}, "lengths"),
        ({"n_formulas": 1, "conjunctions": (6.5,)}, "conjunctions"),
    ],
)
def test_impossible_layouts_are_refused(options, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        Layout(**options)
