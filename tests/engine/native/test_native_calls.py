"""Calls of the kernels come back in time, wherever in a step they stand, and nothing shows that they did."""

import ctypes
import time
from dataclasses import replace

import numpy as np
import pytest

from sandbox.engine.native import group as native_group
from sandbox.engine.native.group import NativeGroup
from sandbox.models.encoder import Encoder
from sandbox.models.visual_model import VisualModel
from sandbox.tasks.sparse_modular_addition import SparseModularAddition
from tests.engine.arms import Setting
from tests.engine.native.test_native_group import ENCODERS, SETTINGS
from tests.engine.test_torch_engine import same

LONG = SparseModularAddition(length=128, n_train=32, n_test=16, split="overlapping")
WIDE = {
    "visual model": (Setting(VisualModel(d_model=64, d_ff=300), 256, replace(LONG, n_train=256)), 3),
    "encoder": (Setting(Encoder(d_model=256, n_heads=4, n_layers=1, d_ff=1024), 16, LONG), 1),
}
"""Setting and steps."""

PIECE_SECONDS = 0.01
"""A call ends with the piece of work during which its 10 ms ran out, so it lasts 20 ms at the most."""


@pytest.mark.parametrize("name", WIDE)
def test_no_piece_of_work_takes_longer_than_it_may(name: str, monkeypatch: pytest.MonkeyPatch):
    setting, n_steps = WIDE[name]
    monkeypatch.setattr(native_group, "CALL_NANOSECONDS", 0)  # every call is one piece
    took = [_seconds_of_each_call(NativeGroup(setting, (0, 1)), n_steps, monkeypatch) for _ in range(4)]
    least = np.min(took, axis=0)  # a busy machine makes single calls slow, the work makes all of them
    assert len(least) > 20 and least.max() < PIECE_SECONDS


def _seconds_of_each_call(group: NativeGroup, n_steps: int, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    took = []
    go_on = group._kernels.sandbox_go_on

    def timed(*arguments: ctypes._SimpleCData) -> int:
        started = time.thread_time()
        answer = go_on(*arguments)
        took.append(time.thread_time() - started)
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(group._kernels, "sandbox_go_on", timed)
        group.advance(n_steps)
        group.evaluate()
    return took


@pytest.mark.parametrize("name", ["paper", *ENCODERS])
def test_a_step_that_is_left_wherever_it_stands_has_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch):
    calm, hurried = (NativeGroup(SETTINGS[name], (1, 2, 3), threads=threads) for threads in (1, 2))
    losses, metrics = calm.advance(20), calm.evaluate()
    monkeypatch.setattr(native_group, "CALL_NANOSECONDS", 0)
    n_calls = 0

    def count() -> None:
        nonlocal n_calls
        n_calls += 1

    assert same(hurried.advance(20), losses) and same(hurried.theta(), calm.theta())
    found = hurried.evaluate(count)
    assert all(same(found[key], value) for key, value in metrics.items())
    assert n_calls > 2


def test_a_job_given_up_half_way_leaves_the_group_as_it_was(monkeypatch: pytest.MonkeyPatch):
    group = NativeGroup(ENCODERS["encoder, conditioned"], (1, 2))
    expected = group.evaluate()
    monkeypatch.setattr(native_group, "CALL_NANOSECONDS", 0)

    def give_up() -> None:
        raise KeyboardInterrupt

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            group.evaluate(give_up)
    assert all(same(value, expected[key]) for key, value in group.evaluate().items())
    assert np.isfinite(group.advance(2)).all()
