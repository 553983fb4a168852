"""Warm-up: what a step of a small and of a middling experiment takes on this machine, in a second or two."""

import time
from collections.abc import Mapping
from typing import Any

from sandbox.engine.choice import choose_engine, group_for
from sandbox.experiment.cost import estimate
from sandbox.experiment.describe import count_parameters
from sandbox.experiment.experiment import Experiment, load
from sandbox.experiment.override import override
from sandbox.experiment.presets import preset
from sandbox.runner.pace import family_of, same_of

ENCODER = "conditioned against standard"
"""Preset whose steps, at two sizes, make the line through which others are guessed."""

SMALL = {"model.d_model": 8, "batch_size": 32}
OTHER = "paper default"
"""Preset of another kind of model, which the native engine trains where it is built."""

SECONDS = 0.3
"""Of each shape, after its first step."""


def warm_up(seconds: float = SECONDS) -> dict[str, Any]:
    """`line`: (operations, seconds) of a step of two encoders, the smaller first; `past`: of another kind.

    Each is the first arm with all its seeds; `past` holds (family, settings, operations, seconds).
    """
    small, large, other = _of_preset(ENCODER, SMALL), _of_preset(ENCODER), _of_preset(OTHER)
    plain = other.to_plain()
    return {
        "line": [_step(small, seconds), _step(large, seconds)],
        "past": [(family_of(plain), same_of(plain), *_step(other, seconds))],
    }


def _of_preset(name: str, changes: Mapping[str, Any] | None = None) -> Experiment:
    """The first arm of a preset alone."""
    plain = load(preset(name).experiment).to_plain()
    plain["arms"] = plain["arms"][:1]
    for key, value in (changes or {}).items():
        plain = override(plain, key, value)
    return load(plain)


def _step(experiment: Experiment, seconds: float) -> tuple[float, float]:
    """Operations and seconds of one step."""
    cost = estimate(experiment, count_parameters(experiment))
    setting = experiment.setting(experiment.arms[0].name)
    group = group_for(setting, experiment.seeds, engine=choose_engine(setting).engine)
    group.advance(1)
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        group.advance(4)
        steps += 4
    return cost.flops / experiment.steps, (time.perf_counter() - began) / steps
