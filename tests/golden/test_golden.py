"""Golden runs: nothing that fixes a number changes by accident."""

import json
from itertools import combinations

import numpy as np
import pytest

from tests.golden.regenerate import CURVES, curve, settings

TOLERANCE = 2e-4  # 20 float32 steps on other processors; within one process runs are equal to the bit

EXPECTED = json.loads(CURVES.read_text(encoding="utf-8"))


def test_every_setting_has_its_curve():
    assert set(EXPECTED) == set(settings()), "run `python -m tests.golden.regenerate`"


IN_THE_FAST_SUITE = [
    f"sparse modular addition, {arm}"
    for arm in ("standard", "spectral", "preconditioned", "conditioned-init")
]
OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in EXPECTED if name not in IN_THE_FAST_SUITE]


@pytest.mark.parametrize("name", IN_THE_FAST_SUITE + OTHERS)
def test_losses_are_the_recorded_ones(name):
    for quantity, values in curve(settings()[name]).items():
        np.testing.assert_allclose(values, EXPECTED[name][quantity], rtol=0, atol=TOLERANCE)


def test_the_tolerance_tells_every_arm_from_every_other():
    for task in ("listops", "sparse modular addition"):
        curves = {name: np.array(EXPECTED[name]["loss"]) for name in EXPECTED if name.startswith(task)}
        for one, other in combinations(curves, 2):
            assert np.abs(curves[one] - curves[other]).max() > 2 * TOLERANCE, (one, other)
