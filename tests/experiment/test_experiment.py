"""Experiments: the plain form is complete, and nothing invalid can be built from it."""

import json
from copy import deepcopy

import pytest

from sandbox.experiment.describe import check, describe
from sandbox.experiment.experiment import from_plain_experiment, load
from sandbox.experiment.override import override, override_text
from sandbox.experiment.presets import preset, presets
from sandbox.foundations.catalogue import Catalogue
from sandbox.foundations.errors import (
    InvalidExperiment,
    InvalidKnob,
    InvalidPlain,
    SandboxError,
    UnknownVariant,
)

PROMISED = [
    "paper default",
    "wide visual model",
    "conditioned against standard",
    "one-minute listops",
    "fast listops",
    "lra plateau",
]


def plain():
    return deepcopy(preset("conditioned against standard").experiment)


@pytest.mark.parametrize("name", presets())
def test_every_preset_is_valid_and_affordable(name):
    answer = check(presets()[name].experiment)
    assert answer["ok"], answer["error"]
    assert from_plain_experiment(answer["plain"]).to_plain() == answer["plain"]


def test_promised_presets_keep_their_names():
    assert set(PROMISED) <= set(presets())


def test_an_unknown_preset_names_the_nearest():
    with pytest.raises(UnknownVariant, match="did you mean 'fast listops'"):
        preset("fast listop")


def test_the_plain_form_survives_json_and_keeps_every_number():
    experiment = from_plain_experiment(plain())
    text = json.dumps(experiment.to_plain())
    assert from_plain_experiment(json.loads(text)) == experiment


def test_toml_and_json_files_load_alike(tmp_path):
    as_json = tmp_path / "e.json"
    as_json.write_text(json.dumps(plain()), encoding="utf-8")
    as_toml = tmp_path / "e.toml"
    as_toml.write_text('steps = 7\nseeds = [4]\n[task]\nkind = "listops"\nn_train = 64\n', encoding="utf-8")
    assert load(as_json) == from_plain_experiment(plain())
    assert load(as_toml).steps == 7 and load(as_toml).task.kind == "listops"


def test_arms_replace_slots_and_share_everything_else():
    experiment = from_plain_experiment(plain())
    standard, spectral = experiment.setting("standard"), experiment.setting("spectral:shift=0.5")
    assert spectral.model.projection.kind == "spectral" and standard.model.projection.kind == "plain"
    assert (standard.task, standard.optimizer, standard.seeds) == (
        spectral.task,
        spectral.optimizer,
        spectral.seeds,
    )


@pytest.mark.parametrize(
    ("key", "value", "error", "words"),
    [
        ("colour", 1, InvalidPlain, "no setting 'colour'"),
        ("task.colour", 1, InvalidPlain, "no setting 'colour'"),
        ("task.kind", "sorting", UnknownVariant, "no task named 'sorting'"),
        ("task", 7, InvalidPlain, "task is 7"),
        ("model.projection", {"shift": 1}, InvalidPlain, "'kind'"),
        ("steps", 0, InvalidKnob, "between 1 and"),
        ("steps", float("nan"), InvalidKnob, "whole number"),
        ("steps", 1e30, InvalidKnob, "must lie"),
        ("steps", "many", InvalidKnob, "whole number"),
        ("batch_size", None, InvalidKnob, "whole number"),
        ("optimizer.learning_rate", float("inf"), InvalidKnob, "finite"),
        ("seeds", [], InvalidKnob, "1 to 128"),
        ("seeds", [1, 1], InvalidKnob, "once"),
        ("seeds", [-1], InvalidKnob, "between 0"),
        ("seeds", [True], InvalidKnob, "whole number"),
        ("seeds", list(range(129)), InvalidKnob, "1 to 128"),
        ("arms", [], InvalidExperiment, "0 arms"),
        ("arms", [{"name": "a"}, {"name": "a"}], InvalidExperiment, "Two arms"),
        ("arms", ["standard"] * 17, InvalidExperiment, "17 arms"),
        ("arms", [{"name": "a", "colour": 1}], InvalidPlain, "no slot 'colour'"),
        ("arms", [{"name": "a\nb"}], InvalidPlain, "printable"),
        ("schema", 2, InvalidPlain, "schema 2"),
        ("reference_start", True, InvalidExperiment, "no reference start"),
    ],
)
def test_a_wrong_value_gets_one_clear_sentence(key, value, error, words):
    with pytest.raises(error, match=words) as caught:
        from_plain_experiment(override(plain(), key, value))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_a_toggle_without_meaning_says_why():
    visual = deepcopy(preset("paper default").experiment)
    visual["arms"] = ["spectral:shift=0.5"]
    with pytest.raises(InvalidExperiment, match="one learned query and no key matrix"):
        from_plain_experiment(visual)


def test_a_huge_request_is_refused_before_it_starts():
    huge = plain() | {"steps": 1_000_000, "batch_size": 4096, "seeds": list(range(128))}
    answer = check(huge)
    assert not answer["ok"] and "floating point operations" in answer["error"]


@pytest.mark.parametrize("text", ["steps", "=1", "steps=", "a..b=1", "seeds.x=1"])
def test_a_wrong_assignment_is_refused(text):
    with pytest.raises(SandboxError):
        from_plain_experiment(override_text(plain(), text))


def test_an_assignment_reads_its_value():
    changed = override_text(plain(), "optimizer.learning_rate=0.01")
    assert from_plain_experiment(changed).optimizer.learning_rate == 0.01


@pytest.mark.parametrize(("name", "text"), [("e.json", "{"), ("e.toml", "a = "), ("e.json", "[" * 100_000)])
def test_a_file_that_does_not_parse_is_refused(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidPlain):
        load(path)


def test_a_missing_or_oversized_file_is_refused(tmp_path):
    with pytest.raises(InvalidPlain, match="cannot be read"):
        load(tmp_path / "none.toml")
    big = tmp_path / "big.json"
    big.write_text(" " * 100_001, encoding="utf-8")
    with pytest.raises(InvalidPlain, match="at most 100000"):
        load(big)


def test_the_catalogue_holds_every_knob_as_plain_data():
    catalogue = Catalogue(json.loads(json.dumps(describe())))
    shift = catalogue.variant("projection", "spectral").knobs["shift"]
    assert shift.default == 0.5 and shift.spec.high == 16 and shift.spec.marks == ((10.0, "paper"),)
    assert "no key matrix" in catalogue.variant("architecture", "visual model").not_applicable["projection"]
    with pytest.raises(InvalidKnob):
        shift.check("spectral", 17)
    with pytest.raises(UnknownVariant):
        catalogue.variant("projection", "spectrl")


@pytest.mark.parametrize(
    "where", ["schema", "task", "model", "optimizer", "steps", "seeds", "arms", "tokens"]
)
@pytest.mark.parametrize("what", ["huge", "deep", "huge in a list"])
def test_values_that_python_cannot_write_are_refused_in_one_sentence(where, what):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    value = {"huge": 16**5000, "deep": deep, "huge in a list": [16**5000]}[what]
    wrong = {"arms": [{"name": "a", "tokens": value}]} if where == "tokens" else {where: value}
    with pytest.raises(SandboxError) as caught:
        from_plain_experiment(wrong)
    assert len(str(caught.value)) < 400


def test_a_long_slot_name_is_cut():
    with pytest.raises(InvalidPlain) as caught:
        from_plain_experiment({"arms": [{"name": "a", "x" * 5000: 1}]})
    assert len(str(caught.value)) < 400


def test_a_file_with_a_byte_order_mark_is_read(tmp_path):
    file = tmp_path / "e.json"
    file.write_text(json.dumps(plain()), encoding="utf-8-sig")
    assert load(file) == from_plain_experiment(plain())


def test_toml_with_endless_dots_is_refused_at_once(tmp_path):
    file = tmp_path / "e.toml"
    file.write_text("a" + ".a" * 45_000 + " = 1", encoding="utf-8")
    with pytest.raises(InvalidPlain, match="45000 dots"):
        load(file)
