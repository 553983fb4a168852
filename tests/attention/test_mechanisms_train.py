"""Every mechanism in training: stacked runs, and every conditioning on top of it."""

import numpy as np
import pytest

from sandbox.attention import Mechanism
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import from_plain_experiment

pytestmark = pytest.mark.slow

CONDITIONINGS = ("spectral", "spectral:heads=first", "preconditioned:differentiate=true", "conditioned-init")


def group(arm, task, seeds, **more):
    experiment = from_plain_experiment(
        {
            "task": task | {"n_train": 64, "n_test": 64},
            "model": {"kind": "encoder", "d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 8},
            "arms": [arm],
            "batch_size": 32,
            "steps": 4,
            "seeds": list(seeds),
        }
        | more
    )
    return TorchGroup(experiment.setting(experiment.arms[0].name), experiment.seeds)


TASKS = (
    {"kind": "sparse modular addition", "length": 9, "n_terms": 3},
    {"kind": "listops", "max_length": 12},
)


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, id=task["kind"], marks=[pytest.mark.slow] * (task["kind"] == "listops"))
        for task in TASKS
    ],
)
@pytest.mark.parametrize("kind", Mechanism.variants)
def test_a_run_alone_equals_itself_in_a_stack_to_the_bit(kind, task):
    together, alone = group(kind, task, [0, 3, 5]), group(kind, task, [3])
    assert together._model.size > 1  # it does go through vmap
    losses = together.advance(4)
    assert np.isfinite(losses).all()
    assert np.array_equal(losses[:, 1], alone.advance(4)[:, 0])
    assert np.array_equal(together.theta()[1], alone.theta()[0])
    for name, values in together.evaluate().items():
        assert np.array_equal(values[1:2], alone.evaluate()[name], equal_nan=True), name


@pytest.mark.parametrize("kind", Mechanism.variants)
def test_every_conditioning_composes_with_it(kind):
    plain = group(kind, TASKS[1], [0], batch_size=5).advance(3)
    for conditioning in CONDITIONINGS:
        losses = group(f"{kind}+{conditioning}", TASKS[1], [0], batch_size=5).advance(3)
        assert np.isfinite(losses).all() and not np.array_equal(losses, plain), conditioning
    everything = f"{kind}+spectral+preconditioned+conditioned-init+post-ln"
    assert np.isfinite(group(everything, TASKS[1], [0], batch_size=5).advance(3)).all()


@pytest.mark.parametrize("kind", Mechanism.variants)
def test_every_parameter_is_trained(kind):
    trained = group(kind, TASKS[0], [0], batch_size=5)
    before = trained.layout.unflatten(trained.theta())
    trained.advance(4)
    after = trained.layout.unflatten(trained.theta())
    still = [name for name in before if np.array_equal(before[name], after[name])]
    assert still == []
