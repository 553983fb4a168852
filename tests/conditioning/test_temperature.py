"""Temperature: what scores are divided by, the schedule, and what stands still at sqrt(d)."""

import math

import numpy as np
import pytest
import torch

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.attention.softmax import Softmax
from sandbox.conditioning.output.direct import DirectOutput
from sandbox.conditioning.projection.plain import PlainProjection
from sandbox.conditioning.temperature.constant import ConstantTemperature
from sandbox.conditioning.temperature.sqrt_d import SqrtTemperature
from sandbox.conditioning.temperature.unit import UnitTemperature
from sandbox.conditioning.temperature.warm_up import WarmUpTemperature
from sandbox.foundations.errors import InvalidExperiment
from sandbox.foundations.probes import recording
from sandbox.mathematics.entropy import row_entropy
from tests.test_contracts import group, tiny


def trace_of(temperature):
    torch.manual_seed(0)
    layer = MultiHeadAttention(
        12, 3, Softmax(), PlainProjection(), DirectOutput(), temperature=temperature
    ).double()
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    with recording(layer) as trace:
        layer(x, None)
    return trace


@pytest.mark.parametrize(
    ("temperature", "tau"),
    [
        (SqrtTemperature(), 2.0),
        (UnitTemperature(), 1.0),
        (ConstantTemperature(tau=3.5), 3.5),
        (WarmUpTemperature(factor=5.0), 10.0),
    ],
)
def test_scores_are_products_over_the_temperature(temperature, tau):
    trace = trace_of(temperature)
    expected = trace["query"] @ trace["key"].transpose(-2, -1) / tau
    torch.testing.assert_close(trace["scores"], expected, rtol=1e-6, atol=0)


def test_the_standard_temperature_leaves_every_bit():
    standard, again = group(arm="standard"), group(arm="sqrt-d")
    constant = group(arm="constant:tau=2")  # tiny heads have four channels
    assert np.array_equal(standard.advance(4), again.advance(4))
    assert np.array_equal(standard.theta(), again.theta())
    constant.advance(4)
    assert np.array_equal(standard.theta(), constant.theta())


def test_a_higher_temperature_means_more_even_rows():
    entropies = [
        row_entropy(trace_of(ConstantTemperature(tau=tau))["weights"].detach().numpy()).mean()
        for tau in (0.1, 1.0, 10.0, 1000.0)
    ]
    assert entropies == sorted(entropies) and entropies[-1] == pytest.approx(math.log(5), abs=1e-4)


def test_the_warm_up_falls_linearly_and_ends_at_the_standard_scale():
    scale = WarmUpTemperature(factor=3.0, steps=10).build(4)
    assert [1 / scale.at(step) for step in (0, 5, 10, 99)] == pytest.approx([6.0, 4.0, 2.0, 2.0])


def test_each_step_of_a_run_has_its_own_temperature_and_stored_steps_keep_it():
    trained = group(arm="warm-up:factor=3,steps=4")
    tokens = trained.task_data[0].test_tokens[:3].astype(np.int64)
    stored = []
    for _ in range(6):
        trace = trained.trace(tokens)
        q, k = (trace[f"blocks.0.attention.{name}"] for name in ("query", "key"))
        ratio = trace["blocks.0.attention.scores"] / (q @ np.swapaxes(k, -1, -2))
        stored.append((np.median(1 / ratio), trained.theta()))
        trained.advance(1)
    assert [tau for tau, _ in stored] == pytest.approx([6, 5, 4, 3, 2, 2], rel=1e-4)
    then = trained.trace(tokens, stored[1][1])
    now = trained.trace(tokens)
    assert not np.array_equal(then["logits"], now["logits"])
    q, k = (then[f"blocks.0.attention.{name}"] for name in ("query", "key"))
    ratio = then["blocks.0.attention.scores"] / (q @ np.swapaxes(k, -1, -2))
    assert np.median(1 / ratio) == pytest.approx(5.0, rel=1e-4)


@pytest.mark.parametrize("mechanism", ["linear", "cross-covariance"])
def test_a_mechanism_without_a_scale_says_that_a_temperature_means_nothing(mechanism):
    tiny(arm=mechanism)
    with pytest.raises(InvalidExperiment, match="does nothing here"):
        group(arm=f"{mechanism}+unit")
