"""Describe: all families, variants and knobs as plain data, for processes without torch."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from sandbox.diagnostics import Diagnostic
from sandbox.engine.choice import choose_engine
from sandbox.engine.device import DEVICES, available_devices, device_sentences
from sandbox.engine.optimizer import Optimizer
from sandbox.experiment.arm import SLOTS, arm_kinds
from sandbox.experiment.cost import estimate, of_arm, refuse_excess
from sandbox.experiment.experiment import SCHEMA, Experiment, from_plain_experiment
from sandbox.experiment.override import override
from sandbox.experiment.presets import presets
from sandbox.experiment.setting import Pace
from sandbox.foundations.errors import SandboxError
from sandbox.foundations.idea import Idea
from sandbox.foundations.knobs import Knobs, knob_fields
from sandbox.foundations.plain import to_plain
from sandbox.foundations.registry import Registry
from sandbox.foundations.spec import STANDARD
from sandbox.models import Architecture
from sandbox.tasks import Task

WORDS = ("title", "sentence", "equation", "source", "certainty", "our_reading")


def describe() -> dict[str, Any]:
    """The catalogue: families with their variants, words, knobs and slots; presets; arm kinds."""
    families: dict[str, Registry[Any]] = {
        "task": Task.variants,
        "architecture": Architecture.variants,
        "optimizer": Optimizer.variants,
        **SLOTS,
        "diagnostic": Diagnostic.variants,
    }
    return {
        "schema": SCHEMA,
        "families": {
            family: {kind: _variant(variant) for kind, variant in registry.items()}
            for family, registry in families.items()
        },
        "family_titles": {family: registry.family for family, registry in families.items()},
        "pace": _knobs(Pace),
        "devices": {
            name: {"available": name in available_devices(), "sentence": sentence}
            for name, sentence in device_sentences().items()
        },
        "slots": list(SLOTS),
        "arm_kinds": {STANDARD: None} | arm_kinds(),
        "presets": {
            name: {
                "sentence": preset.sentence,
                "experiment": from_plain_experiment(preset.experiment).to_plain(),
            }
            for name, preset in presets().items()
        },
    }


def _variant(variant: type[Idea]) -> dict[str, Any]:
    slots = {
        f.name: {"default": f.metadata["default_kind"]} for f in fields(variant) if "registry" in f.metadata
    }
    without = getattr(variant, "slots_without_effect", {})
    return {word: getattr(variant, word, "") for word in WORDS} | {
        "knobs": _knobs(variant),
        "slots": slots,
        "not_applicable": {slot: answer.reason for slot, answer in without.items()},
    }


def _knobs(settings: type[Knobs]) -> dict[str, Any]:
    return {f.name: {"default": f.default} | asdict(spec) for f, spec in knob_fields(settings)}


def check(plain: Any) -> dict[str, Any]:
    """Validate a plain experiment: canonical form, cost, each arm's engine; or a sentence on what is wrong.

    `engines` says per device and arm {"engine", "reason"}: what a new run would be trained by.
    """
    try:
        experiment = from_plain_experiment(plain)
        parameters = count_parameters(experiment)
        cost = estimate(experiment, parameters)
        refuse_excess(cost)
    except SandboxError as error:
        return {"ok": False, "error": str(error), "plain": None, "arms": [], "cost": None, "engines": {}}
    settings = {arm.name: experiment.setting(arm.name) for arm in experiment.arms}
    arms = [{"name": name} | asdict(of_arm(setting, parameters[name])) for name, setting in settings.items()]
    return {
        "ok": True,
        "error": None,
        "plain": experiment.to_plain(),
        "arms": arms,
        "cost": {"flops": cost.flops, "bytes": cost.bytes, "storage": cost.storage, "torch": cost.torch},
        "engines": {
            device: {name: choose_engine(setting, device).to_plain() for name, setting in settings.items()}
            for device in DEVICES
        },
    }


def count_parameters(experiment: Experiment) -> dict[str, int]:
    """Trained parameters of each arm, counted on a built model."""
    counts = {}
    for arm in experiment.arms:
        model = experiment.setting(arm.name).model.build(experiment.task, experiment.seeds[0])
        counts[arm.name] = sum(value.numel() for value in model.parameters() if value.requires_grad)
    return counts


def with_task(plain: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The plain experiment with another task at its defaults."""
    return override(dict(plain), "task", to_plain(Task.variants[kind]()))
