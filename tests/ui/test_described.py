"""Described: a preset is named only for a run of its own task and arms, whose knobs alone may differ."""

from pathlib import Path
from typing import Any

import pytest

from sandbox.ui import choices
from sandbox.ui.complete import complete
from sandbox.ui.described import difference
from tests.ui import described

CATALOGUE = described.catalogue()
CONDITIONED = "conditioned against standard"


@pytest.fixture(autouse=True)
def known(runs_folder: Path) -> None:
    """The presets stand in the catalogue."""
    described.put_into(runs_folder)


def near(**changed: Any) -> str:
    """What is said of the preset with these parts otherwise."""
    return difference(complete(CATALOGUE, choices.preset(CONDITIONED) | changed))


def test_a_preset_is_named_for_itself_and_for_other_knobs() -> None:
    assert near().startswith(f"Preset {CONDITIONED} ·")
    assert near(steps=77).startswith(f"Preset {CONDITIONED}; Steps: 1,500 to 77 ·")


def test_an_arm_with_another_knob_is_the_same_arm() -> None:
    arms = choices.preset(CONDITIONED)["arms"]
    at = next(n for n, arm in enumerate(arms) if arm["name"].startswith("spectral:"))
    old = arms[at]["name"]
    arms[at] = {"name": "spectral:shift=9", "projection": arms[at]["projection"] | {"shift": 9.0}}
    said = near(arms=arms)
    assert f"Arm {old} to spectral:shift=9 ·" in said and said.startswith(f"Preset {CONDITIONED}")


@pytest.mark.parametrize("arms", [["standard"], ["standard", "nystrom"], ["nystrom"]])
def test_no_preset_is_named_where_the_arms_are_others(arms: list[str]) -> None:
    """As of a sweep's point: one word of difference would do, and yet nobody chose the preset."""
    for name in CATALOGUE.presets:
        plain = complete(CATALOGUE, choices.preset(name) | {"arms": arms})
        if plain["arms"] != choices.preset(name)["arms"]:
            said = difference(plain)
            assert "added" not in said and "removed" not in said, name


def test_no_preset_is_named_where_the_task_is_another() -> None:
    assert near(task="listops").startswith("ListOps snippets, ")
