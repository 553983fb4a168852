"""Experiment: a task, a base setting, arms and seeds; its plain form fixes every number."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from sandbox.engine.optimizer import AdamW, Optimizer
from sandbox.experiment.arm import Arm, arm_from_plain
from sandbox.experiment.teacher import with_teacher
from sandbox.foundations.errors import InvalidExperiment, InvalidKnob, InvalidPlain
from sandbox.foundations.knobs import Knobs, knob
from sandbox.foundations.plain import from_plain, to_plain, variant_from_plain
from sandbox.foundations.seeding import MAX_SEED
from sandbox.foundations.spec import STANDARD
from sandbox.foundations.typed_text import refuse_costly_toml, shown
from sandbox.models import Architecture
from sandbox.tasks import Task

SCHEMA = 1
MAX_ARMS, MAX_SEEDS = 16, 128
MAX_PLAIN_BYTES = 100_000


@dataclass(frozen=True, kw_only=True)
class Pace(Knobs):
    """How long and in which portions an experiment trains."""

    batch_size: int = knob(128, "Batch size", low=1, high=4096, step=1)
    steps: int = knob(1500, "Steps", low=1, high=1_000_000, step=1, help="One step is one optimizer update.")
    evaluate_every: int = knob(
        20,
        "Evaluate every",
        low=1,
        high=100_000,
        step=1,
        help="Steps between evaluations on the full sets.",
        expert=True,
    )
    reference_start: bool = knob(
        False,
        "Reference start",
        help="Draw data and weights in the published code's order, so that first losses agree with it.",
        expert=True,
    )


@dataclass(frozen=True)
class ArmSetting:
    """All that fixes the numbers of one arm."""

    task: Task
    model: Architecture
    optimizer: Optimizer
    batch_size: int
    steps: int
    seeds: tuple[int, ...]
    evaluate_every: int
    reference_start: bool


@dataclass(frozen=True)
class Experiment:
    """Arms x seeds of one task; an experiment that exists is valid."""

    task: Task
    model: Architecture
    optimizer: Optimizer
    pace: Pace
    seeds: tuple[int, ...]
    arms: tuple[Arm, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.arms) <= MAX_ARMS:
            raise InvalidExperiment(f"There are {len(self.arms)} arms; an experiment has 1 to {MAX_ARMS}.")
        names = [arm.name for arm in self.arms]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InvalidExperiment(f"Two arms are named {twice!r}; give each its own name.")
        if self.pace.reference_start and not self.model.has_reference_start:
            raise InvalidExperiment(
                f"The {self.model.kind} has no reference start; turn it off or use the visual model."
            )
        for arm in self.arms:
            for slot in arm.changes:
                if slot in self.model.slots_without_effect:
                    raise InvalidExperiment(
                        f"Arm {arm.name!r}: {self.model.slots_without_effect[slot].reason}"
                    )

    @property
    def steps(self) -> int:
        """The step limit."""
        return self.pace.steps

    def setting(self, arm_name: str) -> ArmSetting:
        """The base setting with the arm's slots filled in; a teacher it names is read from its run."""
        arm = next(arm for arm in self.arms if arm.name == arm_name)
        model = with_teacher(replace(self.model, **arm.changes))
        pace = {f.name: getattr(self.pace, f.name) for f in fields(Pace)}
        return ArmSetting(task=self.task, model=model, optimizer=self.optimizer, seeds=self.seeds, **pace)

    def to_plain(self) -> dict[str, Any]:
        """Nested JSON values, defaults included, with the schema number first."""
        return {
            "schema": SCHEMA,
            "task": to_plain(self.task),
            "model": to_plain(self.model),
            "optimizer": to_plain(self.optimizer),
            **to_plain(self.pace),
            "seeds": list(self.seeds),
            "arms": [arm.to_plain() for arm in self.arms],
        }


def from_plain_experiment(plain: Any) -> Experiment:
    """Build an experiment from its plain form: unknown keys are errors, missing keys take defaults."""
    if not isinstance(plain, dict):
        raise InvalidPlain(f"The experiment is {shown(plain)}; it must be a table of settings.")
    pace_names = [f.name for f in fields(Pace)]
    known = ["schema", "task", "model", "optimizer", *pace_names, "seeds", "arms"]
    unknown = [key for key in plain if key not in known]
    if unknown:
        raise InvalidPlain(
            f"The experiment has no setting {str(unknown[0])[:80]!r}; it has {', '.join(known)}."
        )
    schema = plain.get("schema", SCHEMA)
    if schema != SCHEMA or isinstance(schema, bool):
        raise InvalidPlain(
            f"The experiment has schema {shown(schema, 40)}; this version reads schema {SCHEMA}."
        )
    return Experiment(
        task=variant_from_plain(Task.variants, plain.get("task", "sparse modular addition"), "task"),
        model=variant_from_plain(Architecture.variants, plain.get("model", "encoder"), "model"),
        optimizer=variant_from_plain(Optimizer.variants, plain.get("optimizer", AdamW.kind), "optimizer"),
        pace=from_plain(Pace, {name: plain[name] for name in pace_names if name in plain}, "experiment"),
        seeds=read_seeds(plain.get("seeds", [0])),
        arms=_arms(plain.get("arms", [{"name": STANDARD}])),
    )


def _arms(plain: Any) -> tuple[Arm, ...]:
    if not isinstance(plain, list):
        raise InvalidPlain(f"arms is {shown(plain)}; it must be a list of arms.")
    if len(plain) > MAX_ARMS:
        raise InvalidExperiment(f"There are {len(plain)} arms; an experiment has 1 to {MAX_ARMS}.")
    return tuple(arm_from_plain(arm) for arm in plain)


def read_seeds(seeds: Any) -> tuple[int, ...]:
    """Check a list of seeds: whole numbers, each once, at most 128 of them."""
    if not isinstance(seeds, list | tuple) or not 1 <= len(seeds) <= MAX_SEEDS:
        raise InvalidKnob(f"seeds is {shown(seeds)}; give a list of 1 to {MAX_SEEDS} whole numbers.")
    for seed in seeds:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
            raise InvalidKnob(f"A seed is {shown(seed)}; it must be a whole number between 0 and {MAX_SEED}.")
    if len(set(seeds)) < len(seeds):
        raise InvalidKnob(f"seeds is {shown(list(seeds))}; give each seed once.")
    return tuple(seeds)


def load(source: str | Path | Mapping[str, Any]) -> Experiment:
    """Read an experiment from a plain form, or from a TOML or JSON file."""
    if isinstance(source, Mapping):
        return from_plain_experiment(dict(source))
    path = Path(source)
    try:
        if path.stat().st_size > MAX_PLAIN_BYTES:
            raise InvalidPlain(
                f"{path.name} has {path.stat().st_size} bytes; an experiment has at most {MAX_PLAIN_BYTES}."
            )
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidPlain(f"{path} cannot be read ({error}); give a TOML or JSON file.") from error
    return from_plain_experiment(parse_text(text, path.suffix == ".json"))


def parse_text(text: str, as_json: bool) -> Any:
    """Parse TOML or JSON; raises InvalidPlain with the parser's place and reason."""
    if not as_json:
        refuse_costly_toml(text)
    try:
        return json.loads(text) if as_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidPlain(
            f"The {'JSON' if as_json else 'TOML'} text cannot be read: {str(error)[:120]}."
        ) from error
