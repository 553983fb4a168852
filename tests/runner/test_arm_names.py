"""Names of a fork's arms: they say the values that the arms go on with, and lead back to the parent's."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import InvalidExperiment
from sandbox.runner.arm_names import MAX_NAME, arms_of_parent, named_by_values

SPECTRAL = {"name": "spectral:shift=0.5", "projection": {"kind": "spectral", "shift": 0.5}}
BOTH = {
    "name": "spectral:shift=0.5,start=3+preconditioned",
    "projection": {"kind": "spectral", "shift": 0.5, "start": 3}, "output": {"kind": "preconditioned"},
}  # fmt: skip
STANDARD = {"name": "standard"}
MINE = {"name": "my arm", "projection": {"kind": "spectral", "shift": 0.5}}
SHIFT, RATE = "projection.shift", "optimizer.learning_rate"


def named(arm: dict[str, Any], **values: Any) -> str:
    keys = {"shift": SHIFT, "rate": RATE}
    return named_by_values([arm], {(arm["name"], keys[key]): v for key, v in values.items()})[arm["name"]]


@pytest.mark.parametrize(
    ("arm", "values", "name"),
    [
        (SPECTRAL, {"shift": 2.0}, "spectral:shift=2"),
        (SPECTRAL | {"name": "spectral"}, {"shift": 2.0}, "spectral:shift=2"),
        (SPECTRAL, {}, "spectral:shift=0.5"),
        (BOTH, {"shift": 0.25}, "spectral:shift=0.25,start=3+preconditioned"),
        (STANDARD, {"rate": 0.02}, "standard, learning_rate=0.02"),
        (STANDARD | {"name": "standard, learning_rate=0.02"}, {"rate": 0.5}, "standard, learning_rate=0.5"),
        (SPECTRAL, {"shift": 2.0, "rate": 0.1}, "spectral:shift=2, learning_rate=0.1"),
        (SPECTRAL | {"name": "spectral:shift=2, learning_rate=0.1"}, {"shift": 3.0, "rate": 0.1},
         "spectral:shift=3, learning_rate=0.1"),
        (MINE, {"shift": 2.0}, "my arm, shift=2"),
        (MINE | {"name": "odd:name, here"}, {"shift": 2.0}, "odd:name, here, shift=2"),
    ],
)  # fmt: skip
def test_a_name_says_the_values_that_its_arm_goes_on_with(
    arm: dict[str, Any], values: dict[str, float], name: str
) -> None:
    assert named(arm, **values) == name
    again = arm | {"name": name}
    assert named(again, **values) == name, "saying it twice changes nothing"


def test_no_two_arms_get_the_same_name() -> None:
    other = SPECTRAL | {"name": "spectral:shift=2", "projection": {"kind": "spectral", "shift": 2.0}}
    found = named_by_values([other, SPECTRAL], {(SPECTRAL["name"], SHIFT): 2.0})
    assert list(found.values()) == ["spectral:shift=2", "spectral:shift=2 (2)"]


@given(st.text(min_size=1, max_size=MAX_NAME).filter(str.isprintable), st.floats(-1e300, 1e300))
def test_any_name_gets_a_name_of_its_length(name: str, value: float) -> None:
    found = named(MINE | {"name": name}, shift=value)
    assert 0 < len(found) <= MAX_NAME and found.isprintable()


def forked(arms: list[dict[str, Any]], values: dict[tuple[str, str], float]) -> dict[str, Any]:
    """The plain form of a fork of these arms, as far as its names go."""
    names = named_by_values(arms, values)
    return {
        "arms": [arm | {"name": names[arm["name"]]} for arm in arms],
        "fork": {
            "values": [{"arm": names[a], "key": key, "value": v} for (a, key), v in values.items()],
        },
    }  # fmt: skip


ARMS = [
    STANDARD, SPECTRAL, BOTH, MINE, {"name": "control"},
    {"name": "spectral:shift=2", "projection": {"kind": "spectral", "shift": 2.0}},
]  # fmt: skip
CHANGES = st.dictionaries(
    st.tuples(st.sampled_from([arm["name"] for arm in ARMS]), st.sampled_from([SHIFT, RATE])),
    st.sampled_from([0.5, 2.0, 0.125]),
)


@given(st.sets(st.integers(0, len(ARMS) - 1), min_size=1), CHANGES)
def test_every_arm_of_a_fork_leads_back_to_its_parents(
    chosen: set[int], changes: dict[tuple[str, str], float]
) -> None:
    arms = [ARMS[place] for place in sorted(chosen)]
    has = {arm["name"] for arm in arms if len(arm) > 1}
    values = {at: v for at, v in changes.items() if at[0] in {a["name"] for a in arms}}
    values = {at: v for at, v in values.items() if at[1] == RATE or at[0] in has}
    fork = forked(arms, values)
    found = arms_of_parent({"arms": ARMS}, fork)
    assert [found[arm["name"]] for arm in fork["arms"]] == [arm["name"] for arm in arms]


def test_an_arm_that_the_parent_has_not_is_refused() -> None:
    with pytest.raises(InvalidExperiment, match="go on from"):
        arms_of_parent({"arms": [STANDARD]}, forked([SPECTRAL], {}))
