"""Golden runs: nothing that fixes a number changes by accident."""

import json

import numpy as np
import pytest

from tests.golden.regenerate import CURVES, curve, settings

TOLERANCE = 2e-4  # 20 float32 steps on other processors; within one process runs are equal to the bit

EXPECTED = json.loads(CURVES.read_text(encoding="utf-8"))


def test_every_setting_has_its_curve():
    assert set(EXPECTED) == set(settings()), "run `python -m tests.golden.regenerate`"


@pytest.mark.parametrize("name", EXPECTED)
def test_losses_are_the_recorded_ones(name):
    for quantity, values in curve(settings()[name]).items():
        np.testing.assert_allclose(values, EXPECTED[name][quantity], rtol=0, atol=TOLERANCE)


def test_arms_start_from_different_numbers_where_they_should():
    """The tolerance is far below what tells one arm from another."""
    first = sorted(EXPECTED[name]["test_loss"][0][0] for name in EXPECTED if name.startswith("listops"))
    assert np.diff(first).min() > 2 * TOLERANCE
