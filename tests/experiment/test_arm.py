"""Arms: the SPEC people type, and every wrong way to type it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.experiment.arm import SLOTS, arm_from_plain, arm_kinds, parse_arm
from sandbox.foundations.errors import InvalidKnob, InvalidPlain, SandboxError, UnknownVariant


def test_no_kind_stands_in_two_slots():
    assert len(arm_kinds()) == sum(len(registry) for registry in SLOTS.values())


def test_a_spec_fills_its_slot_and_names_the_arm():
    arm = parse_arm("spectral:shift=2,heads=first,key=false")
    assert arm.name == "spectral:shift=2,heads=first,key=false"
    spectral = arm.changes["projection"]
    assert (spectral.shift, spectral.heads, spectral.key, spectral.query) == (2.0, "first", False, True)


def test_kinds_are_joined_by_a_plus():
    arm = parse_arm("spectral:shift=0.5+preconditioned+conditioned-init")
    assert set(arm.changes) == {"projection", "output", "initialization"}


def test_standard_changes_nothing():
    assert parse_arm("standard").changes == {}


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        ("spectrl", UnknownVariant, "did you mean 'spectral'"),
        ("", UnknownVariant, "choose one of standard"),
        ("spectral:shift", InvalidPlain, "key=value"),
        ("spectral:shift=", InvalidPlain, "key=value"),
        ("spectral:size=1", InvalidPlain, "no setting 'size'"),
        ("spectral:shift=-1", InvalidKnob, "between 0 and 16"),
        ("spectral:shift=nan", InvalidKnob, "finite number"),
        ("spectral:shift=1e999", InvalidKnob, "finite number"),
        ("spectral:shift=true", InvalidKnob, "finite number"),
        ("spectral:heads=all", InvalidKnob, "choose one of fused, first"),
        ("spectral+plain", InvalidPlain, "twice"),
        ("standard:shift=1", UnknownVariant, "arm kind"),
    ],
)
def test_a_wrong_spec_gets_one_clear_sentence(spec, error, words):
    with pytest.raises(error, match=words) as caught:
        parse_arm(spec)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < (300 if spec else 600)  # all kinds


@given(st.text(max_size=40))
def test_any_text_is_an_arm_or_a_clear_error(text):
    try:
        arm = parse_arm(text)
    except SandboxError as error:
        assert str(error)
    else:
        assert arm_from_plain(arm.to_plain()) == arm
