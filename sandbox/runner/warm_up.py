"""Warm-up: what a step of a small and of a middling arm takes on each engine, in some two seconds."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from sandbox.diagnostics import SnapshotView, probe_batch, read_all
from sandbox.engine.choice import choose_engine, group_for
from sandbox.experiment.cost import estimate
from sandbox.experiment.describe import count_parameters
from sandbox.experiment.experiment import Experiment, load
from sandbox.experiment.override import override
from sandbox.experiment.presets import preset
from sandbox.runner.pace import NATIVE, TORCH, family_of, same_of

ENCODER = "conditioned against standard"
"""Preset whose steps, at two sizes, make the line through which others are guessed."""

SMALL = {"model.d_model": 8, "batch_size": 32}
OTHER = "paper default"
"""Preset of another kind of model, which the native engine trains where it is built."""

SECONDS = 0.3
"""Of each shape and engine, after its first step."""


def warm_up(seconds: float = SECONDS) -> dict[str, Any]:
    """`lines`: by engine (operations, seconds) of a step of two encoders, the smaller first.

    `look`: seconds that a reading of one arm and seed takes. `past`: (family, settings, operations, seconds,
    torch's share, arms) of another kind of model. Each is the first arm with all its seeds, on the engine
    that applies and on torch, which trains what no other can.
    """
    small, large, other = _of_preset(ENCODER, SMALL), _of_preset(ENCODER), _of_preset(OTHER)
    lines, past, plain = {}, [], other.to_plain()
    for engine in (NATIVE, TORCH):
        if engine in (TORCH, engine_of(large)):
            lines[engine] = [_step(small, engine, seconds), _step(large, engine, seconds)]
        if engine in (TORCH, engine_of(other)):
            share = float(engine == TORCH)
            past.append((family_of(plain, share), same_of(plain), *_step(other, engine, seconds), share, 1))
    return {"lines": lines, "past": past, "look": _look(large, engine_of(large))}


def engine_of(experiment: Experiment) -> str:
    """The engine that applies to the experiment's first arm."""
    return choose_engine(experiment.setting(experiment.arms[0].name)).engine


def _of_preset(name: str, changes: Mapping[str, Any] | None = None) -> Experiment:
    """The first arm of a preset alone."""
    plain = load(preset(name).experiment).to_plain()
    plain["arms"] = plain["arms"][:1]
    for key, value in (changes or {}).items():
        plain = override(plain, key, value)
    return load(plain)


def _step(experiment: Experiment, engine: str, seconds: float) -> tuple[float, float]:
    """Operations and seconds of one step."""
    cost = estimate(experiment, count_parameters(experiment))
    group = group_for(experiment.setting(experiment.arms[0].name), experiment.seeds, engine=engine)
    group.advance(1)
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        group.advance(4)
        steps += 4
    return cost.flops / experiment.steps, (time.perf_counter() - began) / steps


def _look(experiment: Experiment, engine: str) -> float:
    """Seconds that every cheap diagnostic of one seed takes, once what is made but once has been made."""
    group = group_for(experiment.setting(experiment.arms[0].name), experiment.seeds, engine=engine)
    probe = probe_batch(experiment.task, group.task_data[0], experiment.seeds[0])
    basis: dict[str, np.ndarray] = {}
    read_all(SnapshotView.of(group, probe, basis, step=0))
    group.advance(1)
    began = time.perf_counter()
    read_all(SnapshotView.of(group, probe, basis, step=1))
    return (time.perf_counter() - began) / len(experiment.seeds)
