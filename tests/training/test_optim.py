"""The authors' Adam and plateau rule, worked out by hand."""

import math

import pytest
import torch

from dnfnet.training import TensorFlowAdam, halve_on_plateau


def tensorflow_adam(gradients, *, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    """Positions after each step, from the formula: lr·√(1−β2ᵗ)/(1−β1ᵗ) · m/(√v + ε)."""
    position, m, v, path = 0.0, 0.0, 0.0, []
    for t, g in enumerate(gradients, start=1):
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        position -= lr * math.sqrt(1 - beta2**t) / (1 - beta1**t) * m / (math.sqrt(v) + eps)
        path.append(position)
    return path


def run(optimizer_class, gradients, **options):
    parameter = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimizer, path = optimizer_class([parameter], **options), []
    for g in gradients:
        parameter.grad = torch.full_like(parameter, g)
        optimizer.step()
        path.append(parameter.item())
    return path


@pytest.mark.parametrize("size", [1.0, 1e-4, 1e-7, 1e-9])
def test_first_steps_are_the_formulas(size):
    gradients = [size, -0.5 * size, 2 * size, size, 0.1 * size]
    assert run(TensorFlowAdam, gradients, lr=0.05) == pytest.approx(tensorflow_adam(gradients, lr=0.05), rel=1e-12)


def test_first_step_by_hand():
    """For g = 1e-7, m = 1e-8 and √v = 1e-7·√0.001: the step is 0.05·√0.001/0.1 · 1e-8/(√v + 1e-8) = 0.01201."""
    root = math.sqrt(0.001)
    expected = 0.05 * root / 0.1 * 1e-8 / (1e-7 * root + 1e-8)
    assert expected == pytest.approx(0.01201, abs=1e-5)
    assert run(TensorFlowAdam, [1e-7], lr=0.05)[0] == pytest.approx(-expected, rel=1e-9)


def test_torch_differs_where_epsilon_matters():
    """The reason for the class: torch's own first step for g = 1e-7 is 0.0454."""
    assert run(torch.optim.Adam, [1e-7], lr=0.05)[0] == pytest.approx(-0.05 / 1.1, rel=1e-6)


def test_state_goes_on_after_saving():
    gradients = [1e-7, 2e-7, -1e-7, 3e-8]
    parameter = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
    optimizer = TensorFlowAdam([parameter], lr=0.05)
    for g in gradients[:2]:
        parameter.grad = torch.full_like(parameter, g)
        optimizer.step()
    other = TensorFlowAdam([parameter], lr=0.05)
    other.load_state_dict(optimizer.state_dict())
    for g in gradients[2:]:
        parameter.grad = torch.full_like(parameter, g)
        other.step()
    assert parameter.item() == pytest.approx(tensorflow_adam(gradients, lr=0.05)[-1], rel=1e-12)


def test_parameter_groups():
    """Groups have their own rate, and one that joins later starts its own count of steps."""
    parameters = [torch.nn.Parameter(torch.zeros(1, dtype=torch.float64)) for _ in range(2)]
    optimizer = TensorFlowAdam([{"params": parameters[:1], "lr": 0.05}])
    for step in range(2):
        if step:
            optimizer.add_param_group({"params": parameters[1:], "lr": 0.01})
        for parameter in parameters:
            parameter.grad = torch.full_like(parameter, 1e-7)
        optimizer.step()
    assert parameters[0].item() == pytest.approx(tensorflow_adam([1e-7] * 2, lr=0.05)[-1], rel=1e-9)
    assert parameters[1].item() == pytest.approx(tensorflow_adam([1e-7], lr=0.01)[-1], rel=1e-9)


def rates(losses, **options):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.05)
    schedule, seen = halve_on_plateau(optimizer, **options), []
    for loss in losses:
        schedule.step(loss)
        seen.append(optimizer.param_groups[0]["lr"])
    return seen


def test_tenth_epoch_without_improvement_halves():
    """1.0, then nine epochs that are no better, keep the rate; the tenth halves it, the twentieth again."""
    assert rates([1.0] * 21) == [0.05] * 10 + [0.025] * 10 + [0.0125]


def test_any_strict_improvement_resets_the_counter():
    losses = [1.0] + [1.0] * 9 + [1.0 - 1e-12] + [1.0] * 10
    assert rates(losses) == [0.05] * 20 + [0.025]


def test_rate_has_a_floor():
    assert rates([1.0] * 400)[-1] == 1e-6
