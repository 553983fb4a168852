"""Experiment: a task, a base setting, arms and seeds; its plain form fixes every number."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from sandbox.engine.optimizer import AdamW, Optimizer
from sandbox.experiment.arm import Arm, arm_from_plain
from sandbox.experiment.fork import Fork, fork_from_plain
from sandbox.experiment.setting import ArmSetting, Pace
from sandbox.experiment.teacher import with_teacher
from sandbox.foundations.errors import InvalidExperiment, InvalidKnob, InvalidPlain
from sandbox.foundations.plain import from_plain, to_plain, variant_from_plain
from sandbox.foundations.seeding import MAX_SEED
from sandbox.foundations.spec import STANDARD
from sandbox.foundations.typed_text import refuse_costly_toml, shown
from sandbox.models import Architecture
from sandbox.tasks import Task

SCHEMA = 1
MAX_ARMS, MAX_SEEDS = 16, 128
MAX_PLAIN_BYTES = 100_000


@dataclass(frozen=True)
class Experiment:
    """Arms x seeds of one task; an experiment that exists is valid."""

    task: Task
    model: Architecture
    optimizer: Optimizer
    pace: Pace
    seeds: tuple[int, ...]
    arms: tuple[Arm, ...]
    fork: Fork | None = None
    """Where it begins, if not at step 0."""

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
        if self.fork is not None:
            self._check_fork(self.fork, names)

    def _check_fork(self, fork: Fork, names: list[str]) -> None:
        if fork.step >= self.pace.steps:
            raise InvalidExperiment(
                f"The step limit is {self.pace.steps} and training would go on from step {fork.step}; "
                "give a higher limit."
            )
        for change in [*fork.values, *(change for stage in fork.stages for change in stage.changes)]:
            if change.arm not in names:
                raise InvalidExperiment(
                    f"The fork changes {change.key[:80]!r} of {change.arm[:80]!r}, which is none of its arms."
                )
        bare = {name: self._bare_setting(name) for name in names}
        for name in names:
            fork.start(bare[name], name)
        list(fork.way(bare, 0))  # every value on the way is one that its knob may have

    @property
    def steps(self) -> int:
        """The step limit."""
        return self.pace.steps

    def setting(self, arm_name: str) -> ArmSetting:
        """The base setting with the arm's slots filled in, and with the values that a fork goes on with.

        A teacher that it names is read from its run.
        """
        setting = self.bare_setting(arm_name)
        return setting if self.fork is None else self.fork.start(setting, arm_name)

    def bare_setting(self, arm_name: str) -> ArmSetting:
        """The setting that the plain form has for the arm, whatever a fork changes."""
        setting = self._bare_setting(arm_name)
        return replace(setting, model=with_teacher(setting.model))

    def _bare_setting(self, arm_name: str) -> ArmSetting:
        arm = next(arm for arm in self.arms if arm.name == arm_name)
        model = replace(self.model, **arm.changes)
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
            **({} if self.fork is None else {"fork": self.fork.to_plain()}),
        }


def from_plain_experiment(plain: Any) -> Experiment:
    """Build an experiment from its plain form: unknown keys are errors, missing keys take defaults."""
    if not isinstance(plain, dict):
        raise InvalidPlain(f"The experiment is {shown(plain)}; it must be a table of settings.")
    pace_names = [f.name for f in fields(Pace)]
    known = ["schema", "task", "model", "optimizer", *pace_names, "seeds", "arms", "fork"]
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
        fork=fork_from_plain(plain["fork"]) if plain.get("fork") is not None else None,
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
    return from_plain_experiment(read_plain(Path(source), "an experiment"))


def read_plain(path: Path, what: str) -> Any:
    """What a TOML or JSON file holds, which is to be `what`, such as "an experiment".

    Raises InvalidPlain for a file that cannot be read or parsed, for one that is too long, and for what is no
    file: a pipe would have its reader wait.
    """
    try:
        if path.exists() and not path.is_file():
            raise InvalidPlain(f"{path} is no file; give a TOML or JSON file.")
        if path.stat().st_size > MAX_PLAIN_BYTES:
            raise InvalidPlain(
                f"{path.name} has {path.stat().st_size} bytes; {what} has at most {MAX_PLAIN_BYTES}."
            )
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidPlain(f"{path} cannot be read ({error}); give a TOML or JSON file.") from error
    return parse_text(text, path.suffix == ".json")


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
