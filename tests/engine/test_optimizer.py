"""Our Adam and AdamW are torch's, on every row by itself."""

import pytest
import torch

from sandbox.engine.optimizer import Adam, AdamW, Optimizer, clip_rows

N_RUNS, N_PARAMETERS, N_STEPS = 3, 17, 50
CASES = [
    (AdamW(learning_rate=0.02, weight_decay=0.1), torch.optim.AdamW),
    (AdamW(learning_rate=0.05, beta1=0.8, beta2=0.95, epsilon=1e-3), torch.optim.AdamW),
    (Adam(learning_rate=0.03), torch.optim.Adam),
    (Adam(learning_rate=0.03, weight_decay=0.2, beta1=0.0), torch.optim.Adam),
]


def gradients(theta: torch.Tensor, step: int) -> torch.Tensor:
    """A gradient that depends on theta, so that a difference would grow."""
    return torch.sin(3 * theta + step) + 0.1 * theta


@pytest.mark.parametrize(("ours", "theirs"), CASES)
def test_fifty_steps_equal_those_of_torch(ours: Optimizer, theirs: type[torch.optim.Optimizer]) -> None:
    theta = torch.linspace(-2, 2, N_RUNS * N_PARAMETERS, dtype=torch.float64).view(N_RUNS, N_PARAMETERS)
    models = [torch.nn.Parameter(row.clone()) for row in theta]
    optimizers = [
        theirs(
            [model],
            lr=ours.learning_rate,
            betas=(ours.beta1, ours.beta2),
            eps=ours.epsilon,
            weight_decay=ours.weight_decay,
        )
        for model in models
    ]
    state = ours.start(theta)
    for step in range(N_STEPS):
        ours.update(theta, gradients(theta, step), state, step, N_STEPS)
        for model, optimizer in zip(models, optimizers, strict=True):
            model.grad = gradients(model.detach(), step)
            optimizer.step()
    expected = torch.stack([model.detach() for model in models])
    torch.testing.assert_close(theta, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("clip_norm", [0.3, 2.0, 1e3])
def test_each_row_is_clipped_as_torch_clips_one_model(clip_norm: float) -> None:
    grad = torch.linspace(-1, 3, 24, dtype=torch.float64).view(4, 6)
    grad[0] *= 1e-3
    models = [torch.nn.Parameter(torch.zeros(6, dtype=torch.float64)) for _ in grad]
    for model, row in zip(models, grad.clone(), strict=True):
        model.grad = row
        torch.nn.utils.clip_grad_norm_([model], clip_norm)
    clip_rows(grad, clip_norm)
    torch.testing.assert_close(grad, torch.stack([model.grad for model in models]), rtol=1e-9, atol=1e-12)


def test_a_row_that_is_not_a_number_is_clipped_alone() -> None:
    grad = torch.ones(3, 4)
    grad[1, 2] = torch.nan
    clip_rows(grad, 1.0)
    assert grad[1].isnan().all()
    torch.testing.assert_close(grad[[0, 2]], torch.full((2, 4), 0.5))


def test_clipping_at_zero_is_off() -> None:
    grad = torch.full((2, 3), 1e6)
    clip_rows(grad, 0.0)
    assert (grad == 1e6).all()


def test_the_rate_rises_in_equal_parts_then_falls_to_zero_at_the_last_step() -> None:
    optimizer = AdamW(learning_rate=1.0, warmup_steps=4, decay="linear")
    rates = [optimizer.rate(step, 12) for step in range(14)]
    assert rates[:5] == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert rates[5:] == pytest.approx([7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8, 0.0, 0.0])


def test_without_schedule_the_rate_stays() -> None:
    assert {AdamW(learning_rate=0.5).rate(step, 10) for step in range(30)} == {0.5}


def test_the_schedule_is_what_the_update_uses() -> None:
    optimizer = Adam(learning_rate=0.1, warmup_steps=10)
    theta = torch.zeros(1, 2, dtype=torch.float64)
    optimizer.update(theta, torch.tensor([[2.0, -3.0]], dtype=torch.float64), optimizer.start(theta), 0, 100)
    # The first step of Adam has the length of the rate in each direction.
    torch.testing.assert_close(theta, torch.tensor([[-0.01, 0.01]], dtype=torch.float64), rtol=1e-6, atol=0)
