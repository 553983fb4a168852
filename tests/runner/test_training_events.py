"""Spikes and phases of a training are found from the steps alone, and a spike says what came with it."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sandbox
from sandbox.diagnostics import SnapshotView
from sandbox.mathematics.phases import RULES
from sandbox.mathematics.spikes import find_spikes
from sandbox.runner.costly_readings import CostlyReadings
from sandbox.runner.execution import Execution
from sandbox.runner.spike_watch import HISTORY, RING_BYTES, FoundSpike, SpikeWatch
from sandbox.store import Run, RunWriter, open_run
from tests.diagnostics.views import random_view, visual_view
from tests.runner.small import assert_same_numbers, tiny_experiment
from tests.runner.test_costly_readings import SINGULAR

N_STEPS = 400
THETA = np.zeros((3, 5))


def noisy(seed: int = 0, spikes: tuple[int, ...] = ()) -> np.ndarray:
    """Losses of three seeds that fall and rustle; the second one jumps thrice from each of `spikes`."""
    rng = np.random.default_rng(seed)
    falling = 0.7 * np.exp(-np.arange(N_STEPS) / 300)[:, None]
    losses = falling * (1 + 0.03 * rng.standard_normal((N_STEPS, 3)))
    for step in spikes:
        losses[step - 1 : step + 2, 1] *= (2.0, 3.0, 1.7)
    return losses


def watched(
    losses: np.ndarray, cuts: int = 1, view: SnapshotView | None = None, norm: np.ndarray | None = None
) -> list[FoundSpike]:
    """What a watch finds that is fed `cuts` steps a turn; `norm` is the gradient's, by step."""
    seen = random_view() if view is None else view
    watch = SpikeWatch(1, 3, lambda arm, theta, step: seen)
    found = []
    for start in range(0, len(losses), cuts):
        fresh = losses[start : start + cuts]
        step = start + len(fresh)
        norms = None if norm is None else np.full(3, norm[step - 1])
        found += watch.turn(step, [fresh], [norms], lambda: [THETA])
    return found


@pytest.mark.parametrize("cuts", [1, 7, 50, 120])
def test_spikes_are_found_wherever_turns_end(cuts: int) -> None:
    found = watched(noisy(spikes=(130, 262, 349)), cuts)
    assert [(f.seed, f.spike.first, f.spike.peak, f.spike.last) for f in found] == [
        (1, 130, 131, 132), (1, 262, 263, 264), (1, 349, 350, 351),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_noise_alone_is_no_spike_and_the_whole_curve_agrees(seed: int) -> None:
    assert watched(noisy(seed)) == []
    losses = noisy(seed, (200,))
    whole = [s for column in losses.T for s in find_spikes(np.arange(1, N_STEPS + 1), column)]
    assert [(f.spike.first, f.spike.last) for f in watched(losses)] == [(s.first, s.last) for s in whole]


def test_losses_that_are_no_numbers_do_not_matter() -> None:
    losses = noisy(spikes=(262,))
    losses[:, 0] = np.nan
    losses[300:, 2] = np.inf
    assert [(f.seed, f.spike.first) for f in watched(losses)] == [(1, 262)]


def test_the_gradient_norm_that_jumped_before_the_spike_is_its_clue() -> None:
    norm = np.full(N_STEPS, 0.5)
    norm[258:262] = 6.0
    (found,) = watched(noisy(spikes=(262,)), norm=norm)
    assert "gradient norm 6 at step 259, usually 0.5" in found.words
    assert "the loss rose from" in found.words and "(steps 262 to 264)" in found.words


def test_a_model_with_xi_says_how_short_it_was_and_another_says_nothing_of_it() -> None:
    losses = noisy(spikes=(262,))
    (found,) = watched(losses, view=visual_view())
    assert "smallest |xi|" in found.words and "curvature" in found.words
    (other,) = watched(losses)
    assert "xi" not in other.words


def test_the_views_around_a_spike_are_of_its_seed_before_at_and_after() -> None:
    losses = noisy(spikes=(262,))
    asked: list[int] = []

    def look(arm: int, theta: np.ndarray, step: int) -> SnapshotView:
        asked.append(step)
        return random_view()

    watch = SpikeWatch(1, 3, look)
    found: list[FoundSpike] = []
    for step in range(1, 301):
        found += watch.turn(step, [losses[step - 1 : step]], [None], lambda: [THETA])
    asked.clear()
    views = watch.around(found[0])
    assert [word for word, _ in views] == ["before", "at", "after"] and asked == [261, 263, 265]
    assert all(len(view.seeds) == 1 for _, view in views)


def test_the_ring_stays_within_its_bytes() -> None:
    watch = SpikeWatch(1, 3, lambda *_: random_view())
    large = np.zeros(RING_BYTES // 8 // 5)
    for step in range(1, 12):
        watch.turn(step, [np.ones((1, 3))], [None], lambda: [large])
    assert 3 <= len(watch._ring) <= 5


def test_a_resumed_watch_finds_what_one_that_went_on_finds() -> None:
    losses = noisy(spikes=(262,))
    first = SpikeWatch(1, 3, lambda *_: random_view())
    first.turn(263, [losses[:263]], [None], lambda: [THETA])
    second = SpikeWatch(1, 3, lambda *_: random_view())
    second.load(first.state(), 263)
    found = second.turn(N_STEPS, [losses[263:]], [None], lambda: [THETA])
    assert [(f.seed, f.spike.first) for f in found] == [(1, 262)]
    assert second.state()["spikes/losses"].shape == (1, 3, HISTORY)


@pytest.fixture(scope="module")
def spiking(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """A run whose learning rate is far too high, in one go and resumed amid it."""
    home = tmp_path_factory.mktemp("spikes")
    experiment = tiny_experiment(
        steps=120, arms=["standard"], evaluate_every=120, optimizer={"kind": "adam", "learning_rate": 0.05}
    )
    whole = sandbox.train(experiment, out=home / "whole")
    cut = Execution(experiment, home / "cut")
    turn = cut._turn

    def stop_at_70() -> None:
        turn()
        if cut.step >= 70:
            cut.interrupt()

    cut._turn = stop_at_70  # type: ignore[method-assign]
    cut.run()
    return whole, sandbox.train(experiment, out=home / "cut")


@pytest.mark.slow
def test_a_resumed_run_has_the_same_events(spiking: tuple[Run, Run]) -> None:
    whole, cut = spiking
    assert_same_numbers(whole, cut)


def test_phases_are_told_with_their_rule(spiking: tuple[Run, Run]) -> None:
    phases = [e for e in spiking[0].events() if e.kind == "phase"]
    assert phases and {e.seed for e in phases} == {3, 11}
    for event in phases:
        name, _, rule = event.detail.partition(": ")
        assert rule == RULES[name]


def test_a_spike_is_an_event_with_its_clues_and_the_sharpness_around_it(tmp_path: Path) -> None:
    experiment = tiny_experiment(steps=230, arms=["standard"], evaluate_every=230)
    execution = Execution(experiment, tmp_path / "run")
    prepare, turn = execution._prepare, execution._turn

    def prepared(found: Any) -> None:
        prepare(found)
        group = execution._groups[0]
        advance = group.advance

        def jumping(n: int) -> np.ndarray:
            losses = advance(n)
            steps = np.arange(group.step - n + 1, group.step + 1)
            losses[np.isin(steps, (160, 161)), 1] *= 60.0  # as told; what is trained stays as it is
            return losses

        group.advance = jumping  # type: ignore[method-assign, assignment]

    def turn_and_wait() -> None:
        turn()
        while not execution._costly.idle:
            execution._costly.collect(execution.step)
            time.sleep(0.002)

    execution._prepare, execution._turn = prepared, turn_and_wait  # type: ignore[method-assign]
    # A norm and weights of every step: how many a turn has depends on the machine otherwise.
    execution._steps_at_once = lambda: 1  # type: ignore[method-assign]
    execution._costly._schedule.due = lambda left=0.0: None  # type: ignore[method-assign, misc]
    execution.run()
    (spike,) = [e for e in open_run(tmp_path / "run").events() if e.kind == "spike"]
    assert (spike.arm, spike.seed) == ("standard", 11) and spike.step in (160, 161)
    assert "(steps 160 to 161)" in spike.detail and "gradient norm" in spike.detail
    assert "sharpness" in spike.detail and "before it" in spike.detail and "after it" in spike.detail


def test_a_question_aside_is_answered_without_taking_a_turn(tmp_path: Path) -> None:
    with RunWriter.open(tmp_path / "run", tiny_experiment().to_plain()) as writer:
        costly = CostlyReadings(writer, 100)
        heard: list[object] = []
        costly.aside(SINGULAR, [random_view()], heard.append)
        costly.aside(SINGULAR, [random_view()], heard.append)  # no room: something is under way
        while not costly.idle:
            costly.collect(3)
        assert len(heard) == 1
        assert all(kind not in SINGULAR for kind in costly._schedule._turn) and costly._schedule.purse < 0
