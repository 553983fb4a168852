"""Spikes and phases of a training are found from the steps alone."""

from pathlib import Path

import numpy as np
import pytest

import sandbox
from sandbox.mathematics.phases import RULES
from sandbox.mathematics.spikes import find_spikes
from sandbox.runner.costly_readings import CostlyReadings
from sandbox.runner.execution import Execution
from sandbox.runner.spike_watch import HISTORY, FoundSpike, SpikeWatch
from sandbox.runner.training_events import TrainingEvents
from sandbox.store import Run, RunWriter, open_run
from tests.diagnostics.views import random_view
from tests.runner.small import assert_same_numbers, tiny_experiment
from tests.runner.test_costly_readings import SINGULAR

N_STEPS = 400


def noisy(seed: int = 0, spikes: tuple[int, ...] = ()) -> np.ndarray:
    """Losses of three seeds that fall and rustle; the second one jumps thrice from each of `spikes`."""
    rng = np.random.default_rng(seed)
    falling = 0.7 * np.exp(-np.arange(N_STEPS) / 300)[:, None]
    losses = falling * (1 + 0.03 * rng.standard_normal((N_STEPS, 3)))
    for step in spikes:
        losses[step - 1 : step + 2, 1] *= (2.0, 3.0, 1.7)
    return losses


def watched(losses: np.ndarray, cuts: int = 1) -> list[FoundSpike]:
    """What a watch finds that is fed `cuts` steps a turn."""
    watch = SpikeWatch(1, 3)
    return [
        found for start in range(0, len(losses), cuts) for found in watch.turn([losses[start : start + cuts]])
    ]


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


def test_a_resumed_watch_finds_what_one_that_went_on_finds() -> None:
    losses = noisy(spikes=(262,))
    first = SpikeWatch(1, 3)
    first.turn([losses[:263]])
    second = SpikeWatch(1, 3)
    second.load(first.state(), 263)
    found = second.turn([losses[263:]])
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


def test_a_question_aside_is_answered_without_taking_a_turn(tmp_path: Path) -> None:
    with RunWriter.open(tmp_path / "run", tiny_experiment().to_plain()) as writer:
        costly = CostlyReadings(writer, 100)
        assert not costly.aside(SINGULAR, lambda: [random_view()], 3, [].append)  # the others go first
        for kind in list(costly._schedule._turn):
            costly._schedule.drop(kind)
        heard: list[object] = []
        assert costly.aside(SINGULAR, lambda: [random_view()], 3, heard.append)
        assert not costly.aside(SINGULAR, lambda: [random_view()], 3, heard.append)  # one is under way
        while not costly.idle:
            costly.collect(3)
        assert len(heard) == 1
        assert costly._schedule._turn == [] and costly._schedule.purse < 0
        assert not costly.aside(SINGULAR, lambda: [random_view()], 3, heard.append)
        assert costly.aside(SINGULAR, lambda: [random_view()], 3, heard.append, on_credit=True)
        costly.wait(3, 20.0)
        assert len(heard) == 2


def test_a_change_of_phase_that_comes_to_nothing_is_taken_back(tmp_path: Path) -> None:
    with RunWriter.open(tmp_path / "run", tiny_experiment(arms=["standard"]).to_plain()) as writer:
        events = TrainingEvents.__new__(TrainingEvents)
        events._writer, events._chance = writer, [0.7, 0.7]
        events._doubted = np.full((1, 2), -1, np.int64)
        points = np.array([[0, 0.69, 1], [10, 0.69, 1], [20, 0.69, 1], [30, 0.1, 1], [40, 0.69, 1]])
        told = []
        for n in (4, 5):
            events._points = np.repeat(points[None, None, :n], 2, axis=1)
            events._tell_phases()
            writer.commit()
            found = [e for e in open_run(tmp_path / "run").events() if e.seed == writer.seeds[0]]
            told.append([(e.step, e.detail.split(":")[0]) for e in found])
        assert told == [[(0, "plateau"), (30, "changing")], [(0, "plateau"), (30, "plateau")]]
