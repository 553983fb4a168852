"""Warm-up: what a step of a small and of a middling experiment takes on this machine, in a second or two."""

import time

from sandbox.engine.choice import choose_engine, group_for
from sandbox.experiment.cost import estimate
from sandbox.experiment.describe import count_parameters
from sandbox.experiment.experiment import load
from sandbox.experiment.presets import preset

SHAPES = ("paper default", "conditioned against standard")
"""Presets whose steps are timed: a thousand-fold apart in operations."""

SECONDS = 0.3
"""Of each shape, after its first step."""


def warm_up(seconds: float = SECONDS) -> list[tuple[float, float]]:
    """(operations, seconds) of one step of each shape's first arm with all its seeds, smallest first."""
    found = []
    for name in SHAPES:
        plain = dict(preset(name).experiment)
        plain["arms"] = load(plain).to_plain()["arms"][:1]
        experiment = load(plain)
        cost = estimate(experiment, count_parameters(experiment))
        setting = experiment.setting(experiment.arms[0].name)
        group = group_for(setting, experiment.seeds, engine=choose_engine(setting).engine)
        group.advance(1)
        began, steps = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            group.advance(4)
            steps += 4
        found.append((cost.flops / experiment.steps, (time.perf_counter() - began) / steps))
    return sorted(found)
