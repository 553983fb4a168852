"""The engine's promises: alone as in a group, resumed as unbroken, watched as unwatched, each bit for bit."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from sandbox.conditioning.projection.spectral import SpectralConditioning
from sandbox.engine.batches import Batches
from sandbox.engine.device import available_devices
from sandbox.engine.optimizer import Adam
from sandbox.engine.setting import GroupSetting
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import from_plain_experiment
from sandbox.foundations.errors import DeviceUnavailable, InvalidData, InvalidExperiment
from sandbox.models.encoder import Encoder
from tests.engine.arms import ARMS, OTHER_ARMS, Setting
from tests.engine.isolation import assert_a_broken_run_leaves_the_others_alone

every_arm = pytest.mark.parametrize("setting", ARMS.values(), ids=ARMS)
every_device = pytest.mark.parametrize("device", available_devices())
GROUP = (0, 1, 2, 3, 4, 5, 6, 11)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal bit for bit, NaN included."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize(
    "setting",
    [
        *(pytest.param(setting, id=name) for name, setting in ARMS.items()),
        *(pytest.param(setting, id=name, marks=pytest.mark.slow) for name, setting in OTHER_ARMS.items()),
    ],
)
@every_device
def test_a_run_alone_is_the_same_run_in_a_group(setting: Setting, device: str) -> None:
    probe = setting.task.data(0).test_tokens[:7].astype(np.int64)
    eight, three = TorchGroup(setting, GROUP, device), TorchGroup(setting, (4, 11, 0), device)
    results = {}
    for name, group in {"eight": eight, "three": three}.items():
        results[name] = group, group.advance(20), group.evaluate(), group.trace(probe)
    for seed in (0, 4, 11):
        alone = TorchGroup(setting, (seed,), device)
        loss, metrics, trace = alone.advance(20), alone.evaluate(), alone.trace(probe)
        for group, group_loss, group_metrics, group_trace in results.values():
            row = group.seeds.index(seed)
            pairs = [(alone.theta()[0], group.theta()[row]), (loss[:, 0], group_loss[:, row])]
            pairs += [(metrics[name][:1], group_metrics[name][row : row + 1]) for name in metrics]
            pairs += [(trace[name][0], group_trace[name][row]) for name in trace]
            if device == "cpu":
                assert all(same(a, b) for a, b in pairs)
            else:  # there the number of runs may choose the kernel
                assert all(np.allclose(a, b, rtol=1e-2, atol=1e-2) for a, b in pairs)


@every_arm
def test_the_engine_is_an_eager_loop_with_torchs_optimizer(setting: Setting) -> None:
    group = TorchGroup(setting, (5, 9))
    losses = group.advance(15)
    for run, seed in enumerate(group.seeds):
        data, model = setting.task.data(seed), setting.model.build(setting.task, seed)
        batches = Batches(
            data.train_tokens[None],
            data.train_targets[None],
            (seed,),
            setting.batch_size,
            torch.device("cpu"),
        )
        optimizer = torch.optim.AdamW(model.parameters(), lr=setting.optimizer.learning_rate)
        expected = []
        for step in range(15):
            tokens, targets = batches.at(step)
            optimizer.zero_grad()
            loss = cross_entropy(model(tokens[0]), targets[0])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), setting.optimizer.clip_norm)
            optimizer.step()
            expected.append(loss.item())
        np.testing.assert_allclose(losses[:, run], expected, rtol=1e-4, atol=1e-5)
        trained = torch.cat([value.detach().flatten() for value in model.parameters()])
        np.testing.assert_allclose(group.theta()[run], trained, rtol=1e-3, atol=1e-4)


@every_arm
@every_device
def test_a_group_restored_from_its_state_goes_on_as_if_unbroken(setting: Setting, device: str) -> None:
    unbroken = TorchGroup(setting, (1, 2, 3), device)
    unbroken.advance(11)
    state = unbroken.state()
    restored = TorchGroup(setting, (1, 2, 3), device)
    restored.load(state)
    assert restored.step == 11
    assert same(restored.advance(9), unbroken.advance(9))
    assert all(same(restored.state()[name], value) for name, value in unbroken.state().items())


@every_arm
def test_one_run_leaves_a_groups_state_and_goes_on_alone(setting: Setting) -> None:
    group = TorchGroup(setting, (1, 2, 3, 4))
    group.advance(11)
    alone = TorchGroup(setting, (3,))
    alone.load(group.state())
    assert same(alone.advance(9)[:, 0], group.advance(9)[:, 2])
    assert same(alone.theta()[0], group.theta()[2])


@every_arm
@every_device
def test_a_run_that_is_not_a_number_leaves_the_others_alone(setting: Setting, device: str) -> None:
    sound, broken = (TorchGroup(setting, (1, 2, 3, 4), device) for _ in range(2))
    assert_a_broken_run_leaves_the_others_alone(sound, broken, 8)


@every_arm
@every_device
def test_a_watched_run_is_an_unwatched_run(setting: Setting, device: str) -> None:
    unwatched, watched = TorchGroup(setting, (1, 2, 3), device), TorchGroup(setting, (1, 2, 3), device)
    expected = unwatched.advance(7)
    probe = watched.task_data[0].test_tokens[:5].astype(np.int64)
    losses = []
    for _ in range(7):
        watched.evaluate()
        watched.trace(probe)
        watched.trace(probe, watched.theta() * 2)
        watched.projections()
        watched.state()
        losses.append(watched.advance(1))
    assert same(np.concatenate(losses), expected)
    assert same(watched.theta(), unwatched.theta())


@every_arm
@every_device
def test_five_steps_twice_are_ten_steps(setting: Setting, device: str) -> None:
    once, twice = TorchGroup(setting, (1, 2, 3), device), TorchGroup(setting, (1, 2, 3), device)
    ten = once.advance(10)
    assert ten.shape == (10, 3) and ten.dtype == np.float32
    assert same(np.concatenate([twice.advance(5), twice.advance(5)]), ten)
    assert same(twice.theta(), once.theta())
    assert once.step == twice.step == 10
    assert once.advance(0).shape == (0, 3)


def test_arms_of_one_seed_share_data_order_and_start() -> None:
    standard = ARMS["encoder, stacked"]
    model = Encoder(d_model=12, n_heads=3, d_ff=20, projection=SpectralConditioning(shift=0.5))
    groups = [TorchGroup(setting, (1, 2)) for setting in (standard, replace(standard, model=model))]
    for part in ("train_tokens", "train_targets", "test_tokens", "test_targets"):
        for one, other in zip(groups[0].task_data, groups[1].task_data, strict=True):
            assert same(getattr(one, part), getattr(other, part))
    assert same(groups[0].theta(), groups[1].theta())
    assert not same(groups[0].advance(3), groups[1].advance(3))
    zero = replace(standard, model=replace(model, projection=SpectralConditioning(shift=0.0)))
    assert same(TorchGroup(zero, (1, 2)).advance(20), TorchGroup(standard, (1, 2)).advance(20))


@every_arm
def test_no_step_waits_for_the_device(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    group = TorchGroup(setting, (1, 2, 3))
    calls: list[str] = []

    def counted(name: str) -> Callable[..., Any]:
        original = getattr(torch.Tensor, name)

        def call(*arguments: Any, **settings: Any) -> Any:
            calls.append(name)
            return original(*arguments, **settings)

        return call

    for name in ("item", "cpu", "numpy", "tolist", "nonzero", "__bool__", "__float__", "__int__"):
        monkeypatch.setattr(torch.Tensor, name, counted(name))
    group.advance(25)  # more than two epochs
    assert calls == ["cpu", "numpy"]


@every_arm
def test_a_stored_row_is_read_as_the_weights_it_holds(setting: Setting) -> None:
    group = TorchGroup(setting, (1, 2, 3))
    probe = group.task_data[1].test_tokens[:5].astype(np.int64)
    early, trace, projections = group.theta(), group.trace(probe), group.projections()
    group.advance(4)
    stored = group.trace(probe, early)
    assert all(same(stored[name], value) for name, value in trace.items())
    assert all(same(group.projections(early)[name], value) for name, value in projections.items())
    assert not same(group.trace(probe)["logits"], trace["logits"])
    module = setting.model.build(setting.task, 2)
    assert same(early[1], torch.cat([value.detach().flatten() for value in module.parameters()]).numpy())
    assert {name: part.shape for name, part in group.layout.unflatten(early).items()} == {
        name: (3, *value.shape) for name, value in module.named_parameters()
    }


def test_a_decay_ends_at_the_step_limit() -> None:
    arm = replace(ARMS["visual model, stacked"], optimizer=Adam(learning_rate=0.01, decay="linear"), steps=6)
    group = TorchGroup(arm, (1,))
    group.advance(5)
    before = group.theta()
    group.advance(1)
    at_the_end = group.theta()
    group.advance(3)
    assert not same(before, at_the_end) and same(group.theta(), at_the_end)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda state: state.pop("exp_avg"), "lacks exp_avg"),
        (lambda state: state.update(seeds=np.array([1, 2, 4])), "no run of seed 3; it has"),
        (
            lambda state: state.update(theta=state["theta"][:, 1:]),
            r"theta has rows of shape \(195,\).*196 param",
        ),
        (lambda state: state.update(step=np.array([5, 5, 6])), r"stand at steps \[5, 6\]"),
    ],
)
def test_a_state_that_does_not_fit_is_refused_and_changes_nothing(change: object, sentence: str) -> None:
    group = TorchGroup(ARMS["visual model, stacked"], (1, 2, 3))
    state = group.state()
    state["theta"] += 1
    change(state)  # type: ignore[operator]
    before = group.theta()
    with pytest.raises(InvalidData, match=sentence):
        group.load(state)
    assert same(group.theta(), before) and group.step == 0


@pytest.mark.parametrize("seeds", [(), (1, 1)])
def test_a_group_needs_seeds_each_once(seeds: tuple[int, ...]) -> None:
    with pytest.raises(InvalidExperiment, match="each once"):
        TorchGroup(ARMS["visual model, stacked"], seeds)


def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DeviceUnavailable, match="choose 'cpu'"):
        TorchGroup(ARMS["visual model, stacked"], (1,), "cuda")


def test_an_experiments_arm_is_a_setting_of_the_engine() -> None:
    experiment = from_plain_experiment({"seeds": [3, 5], "optimizer": "adam", "batch_size": 64})
    setting = experiment.setting("standard")
    assert isinstance(setting, GroupSetting)
    assert TorchGroup(setting, setting.seeds).advance(2).shape == (2, 2)
