"""How many runs go at once is decided by the setting, never by who else is there."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sandbox.engine.layout import Layout
from sandbox.engine.stacking import (
    LARGEST_STACK,
    STACK_FLOATS,
    StackedModel,
    floats_per_sequence,
    stack_size,
    stacks,
    with_companion,
)
from sandbox.foundations.probes import recording
from tests.engine.arms import ARMS, Setting


@given(st.integers(1, 200), st.integers(1, 128))
def test_stacks_cover_every_run_once_and_are_even(n_runs: int, size: int) -> None:
    parts = stacks(n_runs, size)
    assert [run for part in parts for run in range(n_runs)[part]] == list(range(n_runs))
    lengths = [part.stop - part.start for part in parts]
    assert max(lengths) <= size and max(lengths) - min(lengths) <= 1
    assert len(parts) == -(-n_runs // size)


@given(st.integers(1, 5000), st.integers(1, 10**6))
def test_a_stack_is_one_run_or_stays_within_the_budget(batch_size: int, floats: int) -> None:
    size = stack_size(batch_size, floats)
    assert 1 <= size <= LARGEST_STACK
    assert size == 1 or (size * batch_size * floats <= STACK_FLOATS and batch_size % 32 == 0)


@given(st.integers(1, 200), st.integers(3, 128))
def test_no_run_is_stacked_alone(n_runs: int, size: int) -> None:
    members = with_companion(n_runs, size)
    assert min(part.stop - part.start for part in stacks(len(members), size)) >= 2
    assert members == ([0, 0] if n_runs == 1 else list(range(n_runs)))


def test_the_visual_model_is_stacked_and_a_wide_encoder_is_not() -> None:
    assert stack_size(32, 12 * 2) == LARGEST_STACK
    assert stack_size(128, 12 * 32) == 1


@pytest.mark.parametrize("setting", ARMS.values(), ids=ARMS)
def test_the_cost_is_tokens_times_width(setting: Setting) -> None:
    module = setting.model.build(setting.task, 0)
    tokens = torch.zeros(1, setting.task.n_tokens, dtype=torch.int64)
    assert floats_per_sequence(module, tokens) == setting.task.n_tokens * setting.model.d_model


@pytest.mark.parametrize("setting", ARMS.values(), ids=ARMS)
@pytest.mark.parametrize("size", [1, 3])
def test_a_stacked_call_agrees_with_each_module_by_itself(setting: Setting, size: int) -> None:
    modules = [setting.model.build(setting.task, seed) for seed in range(size)]
    parameters = {
        name: torch.stack([dict(module.named_parameters())[name].detach() for module in modules])
        for name in Layout.of(modules[0].named_parameters()).names
    }
    tokens = torch.randint(
        2, (size, 5, setting.task.n_tokens), generator=torch.Generator().manual_seed(1), dtype=torch.int64
    )
    model = StackedModel(modules[0], size)
    logits, trace = model.logits(parameters, tokens), model.trace(parameters, tokens)
    projections = model.projections(parameters)
    for run, module in enumerate(modules):
        with recording(module) as expected:
            torch.testing.assert_close(logits[run], module(tokens[run]), rtol=1e-5, atol=1e-5)
        assert trace.keys() == expected.keys()
        for name, value in expected.items():
            torch.testing.assert_close(trace[name][run], value, rtol=1e-5, atol=1e-5)
        for name, value in module.projections().items():
            assert torch.equal(projections[name][run], value)
