"""Every pair of ideas across families: it builds, trains, survives its plain form and resumes."""

import json
import random
from collections.abc import Mapping

import numpy as np
import pytest

from sandbox.attention import Mechanism
from sandbox.conditioning.temperature.sqrt_d import SqrtTemperature
from sandbox.engine.optimizer import Optimizer
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.arm import SLOTS
from sandbox.experiment.experiment import Experiment, from_plain_experiment
from sandbox.foundations.errors import InvalidExperiment
from sandbox.tasks import Task
from tests.combinations.covering import Setting, all_pairs, covering_array, pairs_of
from tests.test_contracts import KINDS_WITH_TEACHER, TINY_TASKS

pytestmark = pytest.mark.slow

MOST = 150
IN_THE_SUITE = 20
STEPS, BEFORE = 5, 2

FAMILIES = {
    "task": list(Task.variants),
    **{
        slot: [kind for kind in registry if kind not in KINDS_WITH_TEACHER]
        for slot, registry in SLOTS.items()
    },
    "optimizer": list(Optimizer.variants),
}


def allowed(kinds: Mapping[str, str]) -> bool:
    """What the encoder refuses by itself: a temperature where scores have no scale."""
    scaled = "mechanism" not in kinds or Mechanism.variants[kinds["mechanism"]].scaled
    return scaled or kinds.get("temperature", SqrtTemperature.kind) == SqrtTemperature.kind


ARRAY = covering_array(FAMILIES, allowed)
SHORT = random.Random(0).sample(ARRAY, min(IN_THE_SUITE, len(ARRAY)))


def experiment(setting: Setting) -> Experiment:
    slots = {slot: setting[slot] for slot in SLOTS}
    return from_plain_experiment(
        {
            "task": {"kind": setting["task"]} | TINY_TASKS[setting["task"]],
            "model": {"kind": "encoder", "d_model": 8, "n_heads": 2, "n_layers": 2, "d_ff": 5},
            "optimizer": setting["optimizer"],
            "arms": [{"name": "all slots"} | slots],
            "batch_size": 5,
            "steps": STEPS,
            "seeds": [0, 3],
        }
    )


def group(of: Experiment) -> TorchGroup:
    return TorchGroup(of.setting("all slots"), of.seeds)


def hold(setting: Setting) -> None:
    asked = experiment(setting)
    again = from_plain_experiment(json.loads(json.dumps(asked.to_plain())))
    assert again == asked
    straight, first, second = group(asked), group(asked), group(again)
    losses = straight.advance(STEPS)
    assert losses.shape == (STEPS, 2) and np.isfinite(losses).all()
    np.testing.assert_array_equal(first.advance(BEFORE), losses[:BEFORE])
    second.load(first.state())
    np.testing.assert_array_equal(second.advance(STEPS - BEFORE), losses[BEFORE:])
    for name, rows in straight.state().items():
        np.testing.assert_array_equal(rows, second.state()[name])


def words(setting: Setting) -> str:
    return "+".join(setting.values())


def test_the_array_holds_every_allowed_pair_in_few_settings() -> None:
    covered = set().union(*map(pairs_of, ARRAY))
    assert covered >= all_pairs(FAMILIES, allowed) and len(ARRAY) <= MOST
    assert all(map(allowed, ARRAY)) and covering_array(FAMILIES, allowed) == ARRAY


def test_what_the_array_leaves_out_is_refused_in_one_sentence() -> None:
    refused = [
        kinds
        for mechanism in FAMILIES["mechanism"]
        for temperature in FAMILIES["temperature"]
        if not allowed(kinds := {"mechanism": mechanism, "temperature": temperature})
    ]
    assert refused
    for kinds in refused:
        with pytest.raises(InvalidExperiment, match="does nothing here"):
            group(experiment(ARRAY[0] | kinds))


@pytest.mark.parametrize("setting", SHORT, ids=words)
def test_a_sample_of_combinations_trains_and_resumes(setting: Setting) -> None:
    hold(setting)


@pytest.mark.combinations
@pytest.mark.parametrize("setting", ARRAY, ids=words)
def test_every_combination_trains_and_resumes(setting: Setting) -> None:
    hold(setting)
