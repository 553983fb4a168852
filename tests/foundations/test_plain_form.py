"""The plain form: what defines a setting goes to JSON and back, and nothing else gets in."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import InvalidPlain, SandboxError, UnknownVariant
from sandbox.foundations.knobs import Knobs, knob
from sandbox.foundations.plain import from_plain, slot, to_plain, variant_from_plain
from sandbox.foundations.registry import Registry

FUELS: Registry[Any] = Registry("fuel")


@FUELS.register("gas")
@dataclass(frozen=True, kw_only=True)
class Gas(Knobs):
    pressure: float = knob(1.0, "Pressure", low=0.0, high=5.0)


@FUELS.register("wood")
@dataclass(frozen=True, kw_only=True)
class Wood(Knobs):
    logs: int = knob(3, "Logs", low=1, high=9)
    dry: bool = knob(True, "Dry")


@dataclass(frozen=True, kw_only=True)
class Stove(Knobs):
    name: str
    rings: int = knob(4, "Rings", low=1, high=6)
    fuel: Any = field(default_factory=Gas, metadata=slot(FUELS, "gas"))


# Strategies draw arguments only: what runs checked code belongs in the test's body.
gas = st.tuples(st.just(Gas), st.fixed_dictionaries({"pressure": st.floats(0, 5)}))
wood = st.tuples(st.just(Wood), st.fixed_dictionaries({"logs": st.integers(1, 9), "dry": st.booleans()}))
stoves = st.fixed_dictionaries({"name": st.text(max_size=20), "rings": st.integers(1, 6), "fuel": gas | wood})


def built(drawn: dict[str, Any]) -> Stove:
    fuel, settings = drawn["fuel"]
    return Stove(**{**drawn, "fuel": fuel(**settings)})


@given(drawn=stoves)
def test_settings_survive_the_way_through_json_and_back(drawn: dict[str, Any]) -> None:
    stove = built(drawn)
    assert from_plain(Stove, json.loads(json.dumps(to_plain(stove)))) == stove


@given(drawn=stoves)
def test_the_plain_form_of_a_plain_form_is_itself(drawn: dict[str, Any]) -> None:
    plain = to_plain(built(drawn))
    assert to_plain(from_plain(Stove, plain)) == plain


def test_the_plain_form_names_every_default_and_every_kind() -> None:
    assert to_plain(Stove(name="a")) == {
        "name": "a",
        "rings": 4,
        "fuel": {"kind": "gas", "pressure": 1.0},
    }


def test_a_missing_key_takes_its_default_and_a_kind_alone_is_a_variant() -> None:
    assert from_plain(Stove, {"name": "a", "fuel": "wood"}) == Stove(name="a", fuel=Wood())


def test_an_unknown_key_is_told_what_there_is() -> None:
    with pytest.raises(InvalidPlain, match="stove has no setting 'ring'; it has name, rings, fuel"):
        from_plain(Stove, {"name": "a", "ring": 3})


def test_an_unknown_key_inside_a_variant_is_told_where_it_stands() -> None:
    with pytest.raises(InvalidPlain, match=r"stove\.fuel has no setting 'logs'; it has pressure"):
        from_plain(Stove, {"name": "a", "fuel": {"kind": "gas", "logs": 3}})


def test_a_key_without_default_must_be_given() -> None:
    with pytest.raises(InvalidPlain, match="stove lacks name"):
        from_plain(Stove, {})


def test_another_kind_than_the_expected_one_is_refused() -> None:
    with pytest.raises(InvalidPlain, match="has kind 'wood'; 'gas' was expected"):
        from_plain(Gas, {"kind": "wood"})


def test_an_unregistered_kind_is_refused() -> None:
    with pytest.raises(UnknownVariant, match="no fuel named 'coal'"):
        variant_from_plain(FUELS, {"kind": "coal"}, "stove.fuel")


@pytest.mark.parametrize("plain", [None, 3, [], {}, {"kind": 3}, {"kind": None}, {"kind": ["gas"]}])
def test_what_is_no_variant_is_refused(plain: Any) -> None:
    with pytest.raises(InvalidPlain, match=r"stove\.fuel is .*'kind'"):
        variant_from_plain(FUELS, plain, "stove.fuel")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@given(
    plain=json_values
    | st.fixed_dictionaries(
        {"name": st.text(max_size=3)},
        optional={"rings": json_values, "fuel": json_values, "kind": json_values},
    )
)
def test_any_json_gives_settings_or_one_short_deliberate_sentence(plain: Any) -> None:
    try:
        stove = from_plain(Stove, plain)
    except SandboxError as refused:
        assert 10 < len(str(refused)) < 400 and "\n" not in str(refused)
    else:
        assert 1 <= stove.rings <= 6
