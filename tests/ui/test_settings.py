"""Settings, arms and changes: the same words and bounds as the trainer's own classes, without torch."""

from typing import Any

import pytest

from sandbox.experiment.arm import parse_arm as trainer_parse_arm
from sandbox.experiment.experiment import from_plain_experiment
from sandbox.foundations.errors import SandboxError
from sandbox.foundations.knobs import knob_fields
from sandbox.ui.arms import menu, parse_arm, spec_of
from sandbox.ui.changes import changes
from sandbox.ui.complete import complete
from sandbox.ui.rail import read_seeds
from tests.ui import described

CATALOGUE = described.catalogue()


def test_the_empty_form_is_what_the_trainer_makes_of_it() -> None:
    assert complete(CATALOGUE, {}) == from_plain_experiment({}).to_plain()


@pytest.mark.parametrize(
    "spec",
    [
        "standard", "spectral", "spectral:shift=2", "spectral:shift=0.5,heads=first,query=false",
        "preconditioned", "spectral:shift=0.5+preconditioned", "conditioned-init:values=first+post-ln",
    ],
)  # fmt: skip
def test_a_spec_means_here_what_it_means_to_the_trainer(spec: str) -> None:
    assert parse_arm(CATALOGUE, spec) == trainer_parse_arm(spec).to_plain()


@pytest.mark.parametrize(
    "spec",
    ["", "spektral", "spectral:shift", "spectral:shift=x", "spectral:shift=99", "plain+spectral", "a:b=c:d"],
)
def test_a_spec_that_the_trainer_refuses_is_refused_here(spec: str) -> None:
    with pytest.raises(SandboxError):
        trainer_parse_arm(spec)
    with pytest.raises(SandboxError):
        parse_arm(CATALOGUE, spec)


@pytest.mark.parametrize(
    "spec", ["standard", "spectral:shift=0.5", "preconditioned:differentiate=true+post-ln"]
)
def test_the_spec_of_an_arm_names_it_again(spec: str) -> None:
    arm = parse_arm(CATALOGUE, spec)
    assert parse_arm(CATALOGUE, spec_of(CATALOGUE, arm)) | {"name": spec} == arm


def test_the_menu_offers_every_variant_that_the_base_does_not_have() -> None:
    model = complete(CATALOGUE, {})["model"]
    offered = {(slot, entry.kind) for slot, entry, reason in menu(CATALOGUE, model)}
    everything = {(slot, kind) for slot in CATALOGUE.slots for kind in CATALOGUE.families[slot]}
    assert offered == everything - {(slot, model[slot]["kind"]) for slot in CATALOGUE.slots}


def test_the_menu_says_why_the_visual_model_has_no_place_for_them() -> None:
    model = complete(CATALOGUE, {"model": "visual model"})["model"]
    reasons = [reason for _, _, reason in menu(CATALOGUE, model)]
    assert reasons
    assert all(reason.endswith(".") and len(reason) > 20 for reason in reasons)


def changed(**parts: Any) -> list[str]:
    before = complete(CATALOGUE, {})
    return changes(CATALOGUE, before, complete(CATALOGUE, parts))


def test_equal_experiments_have_no_changes() -> None:
    assert changed() == []


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"steps": 77}, ["Steps: 1,500 to 77"]),
        ({"seeds": [0, 1]}, ["Seeds: 0 to 0, 1"]),
        ({"task": "listops"}, ["Task: Sparse modular addition to ListOps snippets"]),
        ({"model": {"kind": "encoder", "n_heads": 4}}, ["Heads: 2 to 4"]),
        ({"arms": ["standard", "preconditioned"]}, ["Arm preconditioned added"]),
        ({"arms": ["preconditioned"]}, ["Arm preconditioned added", "Arm standard removed"]),
    ],
)
def test_a_change_is_said_in_the_words_of_its_knob(parts: dict[str, Any], words: list[str]) -> None:
    assert changed(**parts) == words


def test_no_knob_can_change_unnoticed() -> None:
    """Whatever a link or the rail can set shows up as a change."""
    before = complete(CATALOGUE, {})
    for name, entry in CATALOGUE.pace.items():
        other = not entry.default if isinstance(entry.default, bool) else entry.default + 1
        assert changes(CATALOGUE, before, before | {name: other}), name


def test_the_catalogue_keeps_every_bound_of_the_classes() -> None:
    from sandbox.tasks import Task

    for kind, cls in Task.variants.items():
        entries = CATALOGUE.families["task"][kind].knobs
        assert {f.name: spec for f, spec in knob_fields(cls)} == {n: e.spec for n, e in entries.items()}


@pytest.mark.parametrize(
    ("text", "seeds"), [("0", [0]), ("0, 2,5", [0, 2, 5]), ("0-3", [0, 1, 2, 3]), ("7, 1 - 2", [7, 1, 2])]
)
def test_seeds_are_read_as_people_write_them(text: str, seeds: list[int]) -> None:
    assert read_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "x", "1.5", "-3", "0-999999999", "3-1", "1,1", "9" * 30, "²", "0-200"])
def test_other_seeds_get_a_sentence(text: str) -> None:
    with pytest.raises(SandboxError):
        read_seeds(text)
