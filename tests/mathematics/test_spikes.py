"""Spikes: found where the loss jumps above its recent level, and nowhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.spikes import GAP, clues, find_spikes


def noisy(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.arange(1, n + 1), 0.5 + 0.01 * rng.standard_normal(n)


def test_one_jump_is_one_spike_with_its_peak_and_level() -> None:
    steps, losses = noisy()
    losses[200:204] = (0.9, 1.4, 1.1, 0.8)
    (spike,) = find_spikes(steps, losses)
    assert (spike.first, spike.peak, spike.last) == (201, 202, 204)
    assert spike.height == 1.4 and spike.base == pytest.approx(0.5, abs=0.01)


@given(st.integers(0, 200))
def test_noise_alone_has_no_spike(seed: int) -> None:
    assert find_spikes(*noisy(seed=seed)) == []


def test_a_falling_loss_and_a_slow_rise_are_no_spikes() -> None:
    steps = np.arange(1, 501)
    assert find_spikes(steps, np.exp(-steps / 60)) == []
    assert find_spikes(steps, 1 + steps / 500) == []


def test_a_new_level_is_a_spike_of_at_most_a_window_and_then_the_level() -> None:
    steps, losses = noisy(600)
    losses[200:] += 1.0
    (spike,) = find_spikes(steps, losses, window=50)
    assert spike.first == 201 and spike.last - spike.first <= 50


def test_a_spike_found_while_training_stays_one() -> None:
    steps, losses = noisy()
    losses[[150, 300]] = 2.0
    whole = find_spikes(steps, losses)
    assert [spike.peak for spike in whole] == [151, 301]
    assert find_spikes(steps[:200], losses[:200]) == whole[:1]


def test_losses_that_are_not_finite_are_left_out() -> None:
    steps, losses = noisy()
    losses[100:110] = np.nan
    losses[300:] = np.inf
    assert find_spikes(steps, losses) == []


def test_clues_name_what_left_its_level_most() -> None:
    steps, losses = noisy()
    losses[300] = 3.0
    (spike,) = find_spikes(steps, losses)
    length, gradient = np.ones(400), np.ones(400)
    length[295], gradient[299] = 0.01, 5.0
    found = clues(
        spike,
        {"gradient norm": (steps, gradient), "min |xi|": (steps, length), "empty": (steps, length * np.nan)},
        falling=("min |xi|",),
    )
    assert [(c.name, c.step) for c in found] == [("min |xi|", 296), ("gradient norm", 300)]
    assert found[0].ratio == pytest.approx(0.01) and found[1].ratio == pytest.approx(5.0)


def test_a_window_too_short_for_a_level_is_refused() -> None:
    with pytest.raises(InvalidData, match="a window of at least 5"):
        find_spikes(np.arange(3), np.zeros(3), window=2)


@pytest.mark.parametrize(("apart", "n"), [(3, 1), (GAP + 1, 1), (GAP + 2, 2)])
def test_rises_a_few_losses_apart_are_one_spike(apart: int, n: int) -> None:
    losses = np.full(200, 0.5)
    losses[[100, 100 + apart]] = 2.0, 4.0
    found = find_spikes(np.arange(200), losses)
    assert len(found) == n and found[0].first == 100
    assert (found[0].last, found[0].height) == ((100 + apart, 4.0) if n == 1 else (100, 2.0))


def test_a_rise_of_less_than_a_thousandth_of_a_nat_is_none() -> None:
    losses = np.full(200, 1e-6)
    losses[100] = 9e-4
    assert find_spikes(np.arange(200), losses) == []
    losses[100] = 2e-3
    assert len(find_spikes(np.arange(200), losses)) == 1
