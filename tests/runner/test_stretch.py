"""A stretch counts waiting for a core, but not the time for which its process was held."""

import time

import pytest

from sandbox.runner.stretch import Stretch


@pytest.mark.parametrize(
    ("passed", "cpu", "counted"),
    [(0.012, 0.011, 0.012), (3.0, 0.5, 3.0), (0.5, 0.0, 0.5), (3600.0, 0.01, 0.01)],
    ids=["alone", "on a busy machine", "a short wait", "held"],
)
def test_only_a_held_process_counts_its_own_time(
    monkeypatch: pytest.MonkeyPatch, passed: float, cpu: float, counted: float
) -> None:
    clock = {"perf_counter": 100.0, "process_time": 7.0}
    for name in clock:
        monkeypatch.setattr(time, name, lambda name=name: clock[name])
    stretch = Stretch()
    clock["perf_counter"] += passed
    clock["process_time"] += cpu
    assert stretch.seconds == pytest.approx(counted)
    assert stretch.cpu == pytest.approx(cpu)
