"""A fork's settings for a run from step 0: each arm is set to what it is called, and called what it is."""

from typing import Any

import pytest

from sandbox.ui.anew import anew

SHIFT, RATE = "projection.shift", "optimizer.learning_rate"
SPECTRAL = {"name": "spectral:shift=2", "projection": {"kind": "spectral", "shift": 0.5}}
STANDARD = {"name": "standard"}


def fork(arms: list[dict[str, Any]], *values: tuple[str, str, float]) -> dict[str, Any]:
    listed = [{"step": 9, "arm": arm, "key": key, "value": value} for arm, key, value in values]
    return {
        "optimizer": {"kind": "adamw", "learning_rate": 0.001}, "arms": arms,
        "model": {"kind": "encoder", "temperature": {"kind": "fixed", "tau": 1.0}},
        "fork": {"run": "old", "step": 9, "stages": [], "values": listed},
    }  # fmt: skip


def test_an_arm_is_set_to_the_value_that_its_name_says() -> None:
    plain = fork([STANDARD, SPECTRAL], (SPECTRAL["name"], SHIFT, 2.0))
    found = anew(plain)
    assert "fork" not in found
    assert found["arms"] == [STANDARD, SPECTRAL | {"projection": {"kind": "spectral", "shift": 2.0}}]
    assert plain["arms"][1]["projection"]["shift"] == 0.5, "nothing of the run's own is changed"


def test_a_part_of_the_model_becomes_the_arms_own() -> None:
    found = anew(fork([STANDARD, {"name": "standard, tau=2"}], ("standard, tau=2", "temperature.tau", 2.0)))
    assert found["arms"][1]["temperature"] == {"kind": "fixed", "tau": 2.0}
    assert found["arms"][1]["name"] == "standard, tau=2"


@pytest.mark.parametrize("renamed", [True, False])
def test_a_rate_that_one_arm_alone_had_is_left_out_and_of_its_name_too(renamed: bool) -> None:
    name = "spectral:shift=2, learning_rate=0.1"
    found = anew(fork([STANDARD, SPECTRAL | {"name": name}], (name, RATE, 0.1), (name, SHIFT, 2.0)), renamed)
    assert found["optimizer"]["learning_rate"] == 0.001
    assert found["arms"][1]["name"] == ("spectral:shift=2" if renamed else name)
    assert found["arms"][1]["projection"]["shift"] == 2.0


def test_a_rate_of_all_arms_is_the_optimizers() -> None:
    names = ["standard, learning_rate=0.1", "control, learning_rate=0.1"]
    found = anew(fork([{"name": name} for name in names], *((name, RATE, 0.1) for name in names)))
    assert found["optimizer"]["learning_rate"] == 0.1
    assert [arm["name"] for arm in found["arms"]] == ["standard", "control"]


def test_no_two_arms_get_one_name_and_what_is_no_fork_stays() -> None:
    other = "standard, learning_rate=0.1"
    found = anew(fork([STANDARD, {"name": other}], (other, RATE, 0.1)))
    assert [arm["name"] for arm in found["arms"]] == ["standard", other]
    plain = {"arms": [STANDARD], "steps": 3}
    assert anew(plain) == plain
