"""Carried numbers: renewed by steps, untouched by optimizers, rows like all others."""

import numpy as np
import pytest
import torch

from sandbox.conditioning.carried import renewals
from sandbox.conditioning.projection.sigma_reparam import SigmaReparam
from sandbox.conditioning.projection.spectral_svd import SpectralSvd
from sandbox.conditioning.temperature.constant import ConstantTemperature
from sandbox.conditioning.temperature.warm_up import WarmUpTemperature
from sandbox.engine.layout import Layout, in_row_order
from sandbox.engine.optimizer import Adam, AdamW
from sandbox.engine.torch_engine import TorchGroup
from sandbox.foundations.errors import InvalidExperiment
from sandbox.models.encoder import Encoder
from tests.engine.arms import Setting

SLOTS = {
    "sigma-reparam": {"projection": SigmaReparam()},
    "spectral-svd": {"projection": SpectralSvd(every=3)},
    "warm-up": {"temperature": WarmUpTemperature(steps=7)},
}
OPTIMIZERS = {
    "adamw": AdamW(learning_rate=1e-2, weight_decay=0.5, clip_norm=0.5),
    "adam": Adam(learning_rate=1e-2, weight_decay=0.5),
}


def setting(kind="sigma-reparam", batch_size=32, optimizer="adamw", d_model=16, **slots):
    model = Encoder(d_model=d_model, d_ff=32, **(SLOTS.get(kind, {}) | slots))
    return Setting(model, batch_size, optimizer=OPTIMIZERS[optimizer])


@pytest.fixture(params=[32, 21], ids=["stacked", "one by one"])
def batch_size(request):
    return request.param


@pytest.mark.parametrize("kind", SLOTS)
def test_a_run_alone_is_itself_in_a_group_bit_for_bit(kind, batch_size):
    together = TorchGroup(setting(kind, batch_size), [5, 2, 9])
    alone = TorchGroup(setting(kind, batch_size), [2])
    np.testing.assert_array_equal(together.advance(5)[:, 1:2], alone.advance(5))
    np.testing.assert_array_equal(together.theta()[1:2], alone.theta())


@pytest.mark.parametrize("kind", SLOTS)
def test_a_group_resumes_bit_for_bit(kind, batch_size):
    straight, first, second = (TorchGroup(setting(kind, batch_size), [0, 1]) for _ in range(3))
    straight.advance(5)
    first.advance(2)
    second.load(first.state())
    second.advance(3)
    for name, rows in straight.state().items():
        np.testing.assert_array_equal(rows, second.state()[name])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("kind", SLOTS)
def test_carried_numbers_are_what_the_module_makes_of_weights_and_step(kind, optimizer, batch_size):
    """Weight decay of 0.5 would show at once if an optimizer moved them."""
    group = TorchGroup(setting(kind, batch_size, optimizer), [3, 4])
    group.advance(2)
    before = group.layout.unflatten(group.theta())
    group.advance(1)
    after = group.layout.unflatten(group.theta())
    assert group.layout.carried
    module = group.setting.model.build(group.setting.task, 0)
    for run in range(2):
        given = {
            name: torch.tensor((before if name in group.layout.carried else after)[name][run])
            for name in after
        }
        for name, parameter in module.named_parameters():
            parameter.data = given[name]
        expected = renewals(module, group.step)
        assert set(expected) <= set(group.layout.carried)
        for name in group.layout.carried:
            value = expected[name].numpy() if name in expected else before[name][run]
            np.testing.assert_array_equal(after[name][run], value)


def test_matrices_stand_first_and_carried_numbers_last():
    model = setting("sigma-reparam").model.build(setting().task, 0)
    layout = Layout.of(in_row_order(model))
    plain = Layout.of(in_row_order(setting("none").model.build(setting().task, 0)))
    assert layout.names[: len(plain.names)] == plain.names
    lone = layout.names[len(plain.names) : -layout.n_carried]
    assert [name.rsplit(".", 1)[1] for name in lone] == ["gamma"] * 3
    assert {name.rsplit(".", 1)[1] for name in layout.carried} == {"u", "v"}
    assert layout.trained_size + 6 * 16 == layout.size
    assert Layout.from_plain(layout.to_plain()) == layout


def test_a_diverged_run_leaves_its_neighbours_alone():
    together, alone = (
        TorchGroup(setting("spectral-svd"), [1, 2, 3]),
        TorchGroup(setting("spectral-svd"), [1, 3]),
    )
    state = together.state()
    state["theta"][1] = np.nan
    together.load(state)
    losses = together.advance(4)
    assert np.isnan(losses[:, 1]).all()
    np.testing.assert_array_equal(losses[:, [0, 2]], alone.advance(4))


class TestChangingTheSetting:
    def test_goes_on_from_the_same_weights_with_the_new_temperature(self, batch_size):
        def at(tau, learning_rate=1e-2):
            arm = setting("none", batch_size, temperature=ConstantTemperature(tau=tau))
            return Setting(arm.model, batch_size, optimizer=AdamW(learning_rate=learning_rate))

        changing, fresh = TorchGroup(at(4.0), [0, 1]), TorchGroup(at(1.0, 0.1), [0, 1])
        changing.advance(3)
        theta = changing.theta()
        changing.change(at(1.0, 0.1))
        np.testing.assert_array_equal(theta, changing.theta())
        fresh.load(changing.state())
        np.testing.assert_array_equal(changing.advance(3), fresh.advance(3))
        np.testing.assert_array_equal(changing.theta(), fresh.theta())

    def test_to_the_same_setting_changes_no_bit(self, batch_size):
        straight, changed = (TorchGroup(setting("warm-up", batch_size), [0]) for _ in range(2))
        changed.advance(2)
        changed.change(setting("warm-up", batch_size))
        changed.advance(2)
        straight.advance(4)
        np.testing.assert_array_equal(straight.theta(), changed.theta())

    def test_refuses_other_parameters(self):
        with pytest.raises(InvalidExperiment, match="keeps its parameters"):
            TorchGroup(setting(), [0]).change(setting(d_model=8))
