"""Torch in double precision as the oracle of hand-written gradients, and how close float32 can come."""

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from sandbox.engine.native.group import NativeGroup

MOST_RELATIVE = 2e-6
UNIT = 2.0**-24  # one rounding of float32
MOST_ROUNDINGS = 16


def by_torch(
    group: NativeGroup,
    run: int,
    rows: np.ndarray,
    theta: np.ndarray | None = None,
    precision: torch.dtype = torch.float64,
) -> tuple[float, np.ndarray]:
    """The same loss and gradient in double precision, at the group's weights or at `theta`."""
    module = group.setting.model.build(group.setting.task, 0).to(precision)
    weights = group.layout.unflatten(group.theta()[run : run + 1] if theta is None else theta)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(torch.from_numpy(np.asarray(weights[name][0])))
    data = group.task_data[run]
    tokens = torch.from_numpy(data.train_tokens[rows]).long()
    loss = cross_entropy(module(tokens), torch.from_numpy(data.train_targets[rows]).long())
    loss.backward()
    gradients = {
        name: torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        for name, parameter in module.named_parameters()
    }
    return loss.item(), torch.cat([gradients[name].flatten() for name in group.layout.names]).numpy()


def rounding(group: NativeGroup, run: int, rows: np.ndarray, expected: np.ndarray) -> float:
    """How far float32 may be off: torch's own error, or how the gradient moves with the weights' last bit."""
    theta = group.theta()[run : run + 1].astype(np.float64)
    moved = [by_torch(group, run, rows, precision=torch.float32)[1]]
    for draw in range(5):
        signs = np.random.default_rng(draw).choice([-1.0, 1.0], theta.shape)
        moved.append(by_torch(group, run, rows, theta * (1 + signs * UNIT))[1])
    return max(np.linalg.norm(gradient - expected) for gradient in moved)


def assert_gradient_is_torchs(group: NativeGroup, run: int, rows: np.ndarray) -> None:
    """Loss and gradient to 2e-6, or, where a short vector is normalized somewhere, to a few roundings."""
    loss, gradient = group.gradient(run, rows)
    expected_loss, expected = by_torch(group, run, rows)
    assert abs(loss - expected_loss) <= MOST_RELATIVE * max(expected_loss, 1.0)
    difference = np.linalg.norm(gradient - expected)
    if difference > MOST_RELATIVE * np.linalg.norm(expected):
        assert difference <= MOST_ROUNDINGS * rounding(group, run, rows, expected)
