"""A spike says what came with it, from steps that are trained again: whichever engine, wherever turns end."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sandbox.diagnostics import probe_batch
from sandbox.diagnostics.normalization_curvature import NormalizationCurvature
from sandbox.engine.choice import group_for
from sandbox.engine.torch_engine import TorchGroup
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.kernels import found_build
from sandbox.foundations.readings import PerHead, Provenance
from sandbox.mathematics.spikes import Spike
from sandbox.runner.execution import Execution
from sandbox.runner.spike_replay import (
    KEEP_EVERY,
    MOST_STATES,
    RING_BYTES,
    RecentNorms,
    RecentStates,
    clue_words,
    curves_of,
    moments,
    sharpness_words,
    steps_around,
    train_again,
)
from sandbox.store import Event, open_run
from tests.diagnostics.views import visual_view
from tests.runner.small import tiny_experiment

SPIKE = Spike(first=262, peak=263, last=264, height=3.0, base=0.5)
ENGINES = ["torch", *(["native"] if found_build()[0] else [])]


def group_of(engine: str = "torch") -> TorchGroup:
    """A small group."""
    experiment = tiny_experiment(arms=["standard"])
    return group_for(experiment.setting("standard"), (3, 11), "cpu", engine)


def norms(value: float) -> PerHead:
    """As the reading of gradient norms is."""
    return PerHead(
        columns={"gradient: all": np.full((1, 1, 1), value)}, unit="norm", per="run",
        provenance=Provenance(precision="float32", method="made up"),
    )  # fmt: skip


def test_what_is_looked_at_depends_on_the_spike_alone() -> None:
    steps = steps_around(SPIKE, 150)
    assert steps == steps_around(SPIKE, 187) == [*range(188, 248, 4), *range(248, 264)]
    assert steps_around(SPIKE, 230)[0] > 230
    assert list(moments(SPIKE).values()) == [261, 263, 265]
    long = Spike(first=262, peak=900, last=905, height=3.0, base=0.5)
    assert len(steps_around(long, 100)) < 60 and steps_around(long, 100)[-1] == 900


def test_states_stand_apart_go_back_far_enough_and_stay_within_their_bytes() -> None:
    group = group_of()
    states = RecentStates([group])
    for step in range(1, 401):
        states.turn(step)
    held = [kept.step for kept in states._ring]
    assert held == list(range(1, 401, KEEP_EVERY)) and len(held) <= MOST_STATES
    early = states.before(SPIKE)
    assert early is not None and early.step == 151  # the latest at or before step 187
    first = states.before(Spike(first=30, peak=31, last=32, height=3.0, base=0.5))
    assert first is not None and first.step == 1
    assert states.before(Spike(first=10, peak=11, last=12, height=3.0, base=0.5)) is None
    group.change(tiny_experiment(arms=["standard"]).setting("standard"))
    assert states.before(SPIKE) is None  # what followed the states was trained otherwise


def test_norms_of_every_step_need_no_training_again(monkeypatch: pytest.MonkeyPatch) -> None:
    group, steps = group_of(), steps_around(SPIKE, -1)
    norms = RecentNorms([group])
    for step in range(1, 301):
        monkeypatch.setattr(group, "_normed", group.step)
        monkeypatch.setattr(group, "_norms", torch.full_like(group._norms, step))
        norms.turn(step)
    found = norms.curves(0, 1, steps)
    assert found is not None and found["gradient norm"][0].tolist() == steps
    assert (np.diff(found["gradient norm"][1]) > 0).all()
    assert norms.curves(0, 1, [*steps, 301]) is None


def test_large_states_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    group = group_of()
    monkeypatch.setattr(group, "state", lambda: {"theta": np.zeros((2, RING_BYTES // 4 // 5), np.float32)})
    states = RecentStates([group])
    for step in range(0, 800, KEEP_EVERY):
        states.turn(step)
    assert [kept.step for kept in states._ring] == [700, 750]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_seed_trained_again_passes_through_the_same_weights(engine: str) -> None:
    group, weights, lengths = group_of(engine), {}, {}
    for step in range(1, 13):
        group.advance(1)
        weights[step] = group.theta()[1].tobytes()
        lengths[step] = group.norms["gradient: all"][1]
        if step == 3:
            state = group.state()
    steps = [4, 5, 9, 12]
    probe = probe_batch(group.setting.task, group.task_data[0], 3)
    views = train_again(group.setting, engine, 11, state, steps, probe)
    assert [(view.step, view.seeds) for view in views] == [(step, (11,)) for step in steps]
    measured = [view.norms["gradient: all"][0] for view in views]
    assert measured == pytest.approx([lengths[step] for step in steps], rel=1e-6)
    for view, step in zip(views, steps, strict=True):
        assert np.concatenate([w.ravel() for w in view.weights.values()]).tobytes() == weights[step]


NOT_ASKED = NotApplicable("Not asked.")


def test_the_gradient_norm_that_jumped_before_the_spike_is_its_clue() -> None:
    steps = steps_around(SPIKE, 150)
    answers = [
        {"gradient norms": norms(6.0 if 258 <= step < 262 else 0.5), "normalization curvature": NOT_ASKED}
        for step in steps
    ]
    assert clue_words(SPIKE, curves_of(steps, answers)) == "gradient norm 6 at step 258, usually 0.5"
    assert clue_words(SPIKE, curves_of(steps[:4], answers[:4])) == ""


def test_a_model_with_xi_says_how_short_it_was() -> None:
    steps = steps_around(SPIKE, 150)
    seen = visual_view().for_run(0)
    answers = [
        {"gradient norms": NOT_ASKED, "normalization curvature": NormalizationCurvature().read(seen)}
        for _ in steps
    ]
    said = clue_words(SPIKE, curves_of(steps, answers))
    assert "smallest |xi|" in said and "curvature" in said and "gradient" not in said


def test_sharpness_is_told_before_at_and_after() -> None:
    answers = [
        {"sharpness": replace(norms(0.0), columns={"sharpness": np.full((1, 1, 1), value)})}
        for value in (7.0, 3.0, 1.0)
    ]
    said = "sharpness 7 before it (step 261), 3 at it (step 263), 1 after it (step 265)"
    assert sharpness_words(SPIKE, answers) == said
    assert sharpness_words(SPIKE, [{"sharpness": NOT_ASKED}] * 3) == ""


def spike_told(folder: Path, engine: str, at_once: int) -> Event:
    """The event of the one spike of a run that makes at most `at_once` steps a turn."""
    experiment = tiny_experiment(steps=460, arms=["standard"], evaluate_every=460)
    execution = Execution(experiment, folder, engine=engine)
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
    room = execution._steps_at_once
    execution._steps_at_once = lambda: min(room(), at_once)  # type: ignore[method-assign]
    execution._costly._schedule._turn.clear()
    execution._costly._schedule._purse = 1e4  # so short a run pays for one question alone
    execution.run()
    (spike,) = [e for e in open_run(folder).events() if e.kind == "spike"]
    return spike


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_spike_is_an_event_with_its_clues_and_the_sharpness_around_it_wherever_turns_end(
    tmp_path: Path, engine: str
) -> None:
    spike = spike_told(tmp_path / "one", engine, 1)
    assert (spike.arm, spike.seed) == ("standard", 11) and spike.step in (160, 161)
    assert "(steps 160 to 161)" in spike.detail and "gradient norm" in spike.detail
    assert "sharpness" in spike.detail and "before it" in spike.detail and "after it" in spike.detail
    assert spike_told(tmp_path / "many", engine, 200) == spike
