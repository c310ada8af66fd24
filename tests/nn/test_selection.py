"""Feature selection: the mask cycle, the threshold, the penalty worked out by hand."""

import pytest
import torch

from dnfnet.nn import FeatureSelection, binary_threshold, elastic_net, straight_through_sign
from dnfnet.nn.selection import random_masks


def test_keep_probabilities_step_every_four_formulas():
    """With 1000 features the share that a mask keeps tells its probability."""
    masks = random_masks(24, 1000, (0.1, 0.3, 0.5, 0.7, 0.9), run=4, generator=torch.Generator().manual_seed(1))
    expected = [(0.1, 0.3, 0.5, 0.7, 0.9)[i // 4 % 5] for i in range(24)]
    torch.testing.assert_close(masks.double().mean(-1), torch.tensor(expected).double(), rtol=0, atol=0.06)


def test_empty_masks_are_drawn_again():
    masks = random_masks(400, 2, (0.1,), run=4, generator=torch.Generator().manual_seed(1))
    assert masks.any(-1).all()
    assert (masks.sum(-1) == 1).any()


def test_drawing_again_ends():
    masks = random_masks(50, 3, (1e-12,), run=4)
    assert (masks.sum(-1) == 1).all()


def test_masks_repeat_with_the_seed():
    draw = [random_masks(8, 50, (0.5,), run=4, generator=torch.Generator().manual_seed(s)) for s in (1, 1, 2)]
    assert torch.equal(draw[0], draw[1])
    assert not torch.equal(draw[0], draw[2])


def test_straight_through_sign():
    x = torch.tensor([-2.0, -0.1, 0.0, 0.1, 3.0], requires_grad=True)
    y = straight_through_sign(x)
    assert y.tolist() == [-1, -1, -1, 1, 1]
    y.sum().backward()
    torch.testing.assert_close(x.grad, 1 - torch.tanh(x.detach()) ** 2)


def test_threshold_is_binary_around_epsilon():
    x = torch.tensor([-1.5, -1.0, -0.99, 0.0, 0.99, 1.01])
    assert binary_threshold(x, 1.0).tolist() == [1, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("beta", [1.6, 1.3, 1.0, 0.7, 0.4, 0.1])
def test_penalty_at_the_start(beta):
    """All entries 1.5, α = 0: R2 = |2.25 − β|, R1 = |1.5 − β|, so R = R2 / 4 + R1 / 2."""
    penalty = FeatureSelection(20, 7, beta=beta).penalty().item()
    assert penalty == pytest.approx(abs(2.25 - beta) / 4 + abs(1.5 - beta) / 2, rel=1e-6)


def test_elastic_net_by_hand():
    """m_ts = (2, 0, -1): ‖·‖² / 2 = 2.5 and ‖·‖₁ / 2 = 1.5; σ(α) = 3/4."""
    m_t, m_s = torch.tensor([[2.0, 9.0, -1.0]]), torch.tensor([[1.0, 0.0, 1.0]])
    alpha = torch.log(torch.tensor(3.0))
    assert elastic_net(m_t, m_s, alpha, beta=0.5).item() == pytest.approx(0.125 * 2.0 + 0.75 * 1.0)


def test_penalty_sees_only_what_the_random_mask_kept():
    selection = FeatureSelection(20, 7, beta=0.7, generator=torch.Generator().manual_seed(3))
    selection.penalty().backward()
    assert torch.equal(selection.mask.grad != 0, selection.random_mask)


def test_either_mask_can_be_left_out():
    assert FeatureSelection(4, 3, beta=None, keep_probs=None)() is None
    assert torch.equal(FeatureSelection(4, 3, beta=0.7, keep_probs=None)(), torch.ones(4, 3))
    only_random = FeatureSelection(4, 3, beta=None)
    assert torch.equal(only_random().bool(), only_random.random_mask)
    assert only_random.penalty().item() == 0


def test_several_betas_take_turns():
    """Formulas 2, 3, 6 and 7 have masks; at the start, β = 0.7 costs 0.7875 and β = 1.3 costs 0.3375 each."""
    selection = FeatureSelection(8, 3, beta=(None, 0.7), beta_run=2, keep_probs=None)
    assert selection.masked.tolist() == [2, 3, 6, 7]
    assert selection.penalty().item() == pytest.approx(0.7875 / 2)
    both = FeatureSelection(6, 3, beta=(0.7, None, 1.3), keep_probs=None)
    assert both.masked.tolist() == [0, 2, 3, 5]
    assert both.penalty().item() == pytest.approx((0.7875 + 0.3375) / 3)


def test_a_formula_without_a_beta_keeps_what_the_random_mask_does():
    selection = FeatureSelection(8, 30, beta=(None, 0.7), beta_run=4, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        selection.mask[:, ::2] = 0.9
    kept = selection().bool()
    assert torch.equal(kept[:4], selection.random_mask[:4])
    assert not kept[4:, ::2].any()
    assert torch.equal(kept[4:, 1::2], selection.random_mask[4:, 1::2])
    selection().sum().backward()
    assert torch.equal(selection.mask.grad != 0, selection.random_mask[4:])


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"beta": ()}, "beta"),
        ({"beta": (None, -1.0)}, "beta"),
        ({"beta": (None, "0.7")}, "beta"),
        ({"beta": 0}, "beta"),
        ({"beta": float("nan")}, "beta"),
        ({"beta": 1, "keep_probs": (0.0,)}, "keep_probs"),
        ({"beta": 1, "keep_probs": ()}, "keep_probs"),
        ({"beta": 1, "epsilon": 0}, "epsilon"),
    ],
)
def test_impossible_settings_are_refused(options, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        FeatureSelection(4, 3, **options)
