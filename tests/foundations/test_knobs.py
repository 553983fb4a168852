"""Knobs: what a setting accepts, what it becomes, and what a wrong one is told."""

import math
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sandbox.foundations.errors import InvalidKnob, SandboxError
from sandbox.foundations.knobs import Knobs, knob


@dataclass(frozen=True, kw_only=True)
class Kettle(Knobs):
    """One knob of every kind."""

    litres: int = knob(2, "Litres", low=1, high=9)
    heat: float = knob(0.5, "Heat", low=0.0, high=10.0)
    free: float = knob(0.0, "Offset")
    cups: int = knob(0, "Cups", low=0)
    whistle: bool = knob(True, "Whistle")
    colour: str = knob("red", "Colour", options=("red", "blue"))


@given(litres=st.integers(1, 9), heat=st.floats(0.0, 10.0), whistle=st.booleans())
def test_every_value_within_the_bounds_is_kept(litres: int, heat: float, whistle: bool) -> None:
    kettle = Kettle(litres=litres, heat=heat, whistle=whistle)
    assert (kettle.litres, kettle.heat, kettle.whistle) == (litres, heat, whistle)


@given(litres=st.integers() | st.floats())
@example(litres=10**400)
@example(litres=-(10**400))
@example(litres=math.nan)
@example(litres=math.inf)
def test_a_whole_number_is_within_its_bounds_or_refused(litres: float) -> None:
    try:
        kettle = Kettle(litres=litres)
    except InvalidKnob as refused:
        assert "kettle.litres (Litres)" in str(refused) and "between 1 and 9" in str(refused)
        assert len(str(refused)) < 250
        assert not (litres == litres and 1 <= litres <= 9 and float(litres).is_integer())
    else:
        assert type(kettle.litres) is int and kettle.litres == litres and 1 <= kettle.litres <= 9


@given(heat=st.floats() | st.integers())
@example(heat=10**400)
@example(heat=math.nan)
@example(heat=-math.inf)
@example(heat=-0.0001)
def test_a_real_number_is_finite_and_within_its_bounds_or_refused(heat: float) -> None:
    try:
        kettle = Kettle(heat=heat)
    except InvalidKnob as refused:
        assert "between 0 and 10" in str(refused)
        assert not 0 <= heat <= 10
    else:
        assert type(kettle.heat) is float and kettle.heat == heat and 0 <= kettle.heat <= 10


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, "1", None, True, [1.0]])
def test_without_bounds_a_real_number_is_still_a_finite_number(value: Any) -> None:
    with pytest.raises(InvalidKnob, match="finite number of any size"):
        Kettle(free=value)


def test_a_lower_bound_alone_is_said_as_such() -> None:
    with pytest.raises(InvalidKnob, match="of at least 0"):
        Kettle(cups=-1)


def test_a_whole_number_written_as_a_float_becomes_an_int_and_a_fraction_is_refused() -> None:
    assert type(Kettle(litres=3.0).litres) is int  # type: ignore[arg-type]
    with pytest.raises(InvalidKnob, match=r"2\.5; it must be a whole number"):
        Kettle(litres=2.5)  # type: ignore[arg-type]


def test_an_int_given_to_a_real_knob_becomes_a_float() -> None:
    assert type(Kettle(heat=3).heat) is float


@pytest.mark.parametrize("value", [True, False])
def test_a_bool_is_no_number(value: bool) -> None:
    with pytest.raises(InvalidKnob, match="whole number"):
        Kettle(litres=value)
    with pytest.raises(InvalidKnob, match="finite number"):
        Kettle(heat=value)


@pytest.mark.parametrize("value", [0, 1, "true", None, 1.0])
def test_a_number_or_text_is_no_bool(value: Any) -> None:
    with pytest.raises(InvalidKnob, match="must be true or false"):
        Kettle(whistle=value)


@pytest.mark.parametrize("value", ["green", "", None, 3, ["red"]])
def test_a_choice_is_one_of_its_options(value: Any) -> None:
    with pytest.raises(InvalidKnob, match="choose one of red, blue"):
        Kettle(colour=value)


def test_settings_cannot_change_once_they_exist_and_equal_ones_hash_alike() -> None:
    kettle = Kettle(litres=3)
    with pytest.raises(FrozenInstanceError):
        kettle.litres = 4  # type: ignore[misc]
    assert hash(kettle) == hash(Kettle(litres=3)) and kettle == Kettle(litres=3) != Kettle()


def test_an_unknown_setting_is_refused_by_the_constructor() -> None:
    with pytest.raises(TypeError):
        Kettle(lid=1)  # type: ignore[call-arg]


def test_the_knobs_are_listed_in_the_order_they_are_written() -> None:
    assert list(Kettle.knobs()) == ["litres", "heat", "free", "cups", "whistle", "colour"]
    assert Kettle.knobs()["heat"].high == 10.0


def test_every_refusal_is_a_deliberate_error() -> None:
    assert issubclass(InvalidKnob, SandboxError)
