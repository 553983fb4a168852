"""Norms of gradient and update by part: right, of the last update, and without a trace in the numbers."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from sandbox.diagnostics import Diagnostic, SnapshotView, probe_batch
from sandbox.engine.layout import Layout
from sandbox.engine.norms import PartNorms, part_of
from sandbox.engine.optimizer import AdamW
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.setting import ArmSetting
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import PerHead
from tests.runner.small import tiny_experiment

SEEDS = (3, 11)


@pytest.fixture(scope="module")
def setting() -> ArmSetting:
    return tiny_experiment().setting("standard")


@pytest.fixture
def group(setting: ArmSetting) -> Iterator[TorchGroup]:
    yield TorchGroup(setting, SEEDS)


def test_every_parameter_of_the_architectures_has_a_part(setting: ArmSetting) -> None:
    wanted = {
        "tokens.weight": "embedding", "positions": "positions", "query": "query vector",
        "blocks.1.attention.w_query.weight": "W_Q", "blocks.0.attention.correct_key.gamma": "W_K",
        "w_value.weight": "W_V", "blocks.0.attention.w_out.weight": "W_O", "up.bias": "feed-forward",
        "blocks.0.feed_forward.2.weight": "feed-forward", "blocks.0.norm_attention.bias": "norm gains",
        "final.weight": "norm gains", "classify.bias": "read-out", "something": "other",
    }  # fmt: skip
    assert {name: part_of(name) for name in wanted} == wanted


def test_parts_that_lie_apart_are_added_and_carried_numbers_are_left_out() -> None:
    layout = Layout(("w_query.a", "up.b", "w_query.c", "w_key.carried"), ((2,), (1,), (2,), (3,)), 1)
    rows = torch.arange(2 * 64, dtype=torch.float32).reshape(2, 64)
    norms = PartNorms(layout)
    assert norms.names == ("all", "W_Q", "feed-forward")
    for row, found in zip(rows.numpy(), norms.of(rows).numpy(), strict=True):
        wanted = [np.linalg.norm(row[:5]), np.linalg.norm(row[[0, 1, 3, 4]]), row[2]]
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_the_update_is_what_moved_and_the_gradient_that_of_its_batch(setting: ArmSetting) -> None:
    group = TorchGroup(setting, SEEDS)
    group.advance(3)
    before = group.theta()
    group.advance(1)
    moved = group.theta() - before
    norms = group.norms
    np.testing.assert_allclose(norms["update: all"], np.linalg.norm(moved, axis=1), rtol=1e-5)
    start = group.layout.names.index("blocks.0.attention.w_query.weight")
    offset, size = group.layout.offsets[start], group.layout.sizes[start]
    np.testing.assert_allclose(
        norms["update: W_Q"], np.linalg.norm(moved[:, offset : offset + size], axis=1), rtol=1e-4
    )
    # With the first moment alone and no weight decay the gradient can be read off Adam's own state.
    plain = replace(setting, optimizer=AdamW(beta1=0.0, weight_decay=0.0))
    other = TorchGroup(plain, SEEDS)
    other.advance(1)
    gradient = other.state()["exp_avg"][:, : other.layout.trained_size]
    np.testing.assert_allclose(other.norms["gradient: all"], np.linalg.norm(gradient, axis=1), rtol=1e-5)


def test_how_steps_are_cut_changes_no_bit_and_measures_the_last_update(setting: ArmSetting) -> None:
    whole, pieces = TorchGroup(setting, SEEDS), TorchGroup(setting, SEEDS)
    losses = whole.advance(6)
    cut = np.concatenate([pieces.advance(n) for n in (1, 3, 2)])
    np.testing.assert_array_equal(losses, cut)
    np.testing.assert_array_equal(whole.theta(), pieces.theta())
    for name, values in whole.norms.items():
        np.testing.assert_array_equal(values, pieces.norms[name])


def test_a_reading_has_them_at_the_step_and_stored_weights_have_none(group: TorchGroup) -> None:
    probe = probe_batch(group.setting.task, group.task_data[0], SEEDS[0])
    diagnostic = Diagnostic.variants["gradient norms"]()
    start = diagnostic.read(SnapshotView.of(group, probe, {}))
    assert isinstance(start, PerHead) and np.isnan(start.columns["update: all"]).all()
    group.advance(2)
    reading = diagnostic.read(SnapshotView.of(group, probe, {}))
    assert isinstance(reading, PerHead) and reading.columns["gradient: W_Q"].shape == (2, 1, 1)
    assert all((values > 0).all() for values in reading.columns.values())
    one = diagnostic.read(SnapshotView.of(group, probe, {}).for_run(1))
    assert isinstance(one, PerHead)
    np.testing.assert_array_equal(one.columns["update: all"][0], reading.columns["update: all"][1])
    stored = SnapshotView.of(group, probe, {}, theta=group.theta())
    assert isinstance(diagnostic.read(stored), NotApplicable)
    group.load(group.state())
    assert all(np.isnan(values).all() for values in group.norms.values())
