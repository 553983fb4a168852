"""Fork: an experiment that goes on from a step of another run, and how that step is reached again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox.engine.optimizer import Optimizer
from sandbox.experiment.live_change import LiveChange, changed
from sandbox.experiment.setting import ArmSetting, Pace
from sandbox.foundations.errors import InvalidExperiment, InvalidPlain
from sandbox.foundations.plain import from_plain, to_plain, variant_from_plain
from sandbox.foundations.typed_text import shown

MOST_STAGES, MOST_CHANGES, LONGEST_NAME = 64, 1000, 64


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A stretch of the way to a fork: what trained every arm up to and with the step `until`."""

    until: int
    optimizer: Optimizer
    batch_size: int
    steps: int
    """The step limit of the run that made the stretch: where its learning rate's decay would have ended."""
    changes: tuple[LiveChange, ...] = ()
    """Live knobs that differ from the arms' settings; each holds from the update after its step on."""

    def to_plain(self) -> dict[str, Any]:
        """The stage as JSON values."""
        return {
            "until": self.until,
            "optimizer": to_plain(self.optimizer),
            "batch_size": self.batch_size,
            "steps": self.steps,
            "changes": [change.to_plain() for change in self.changes],
        }


@dataclass(frozen=True, kw_only=True)
class Fork:
    """Where an experiment begins: after `step` of `run`, with weights, moments and batch order as they were.

    `stages` lead there from step 0, so that the plain form fixes every number also where the run is gone;
    `values` are the live knobs that the arms go on with, as changes made at `step`.
    """

    run: str
    step: int
    stages: tuple[Stage, ...] = ()
    values: tuple[LiveChange, ...] = ()

    def __post_init__(self) -> None:
        ends = [stage.until for stage in self.stages]
        if ends != sorted(set(ends)) or (ends[-1] if ends else 0) != self.step or 0 in ends:
            raise InvalidExperiment(
                f"The fork's stages end at the steps {ends[:20]}; they must ascend to its step, {self.step}."
            )

    def to_plain(self) -> dict[str, Any]:
        """The fork as JSON values."""
        return {
            "run": self.run,
            "step": self.step,
            "stages": [stage.to_plain() for stage in self.stages],
            "values": [value.to_plain() for value in self.values],
        }

    def start(self, setting: ArmSetting, arm: str) -> ArmSetting:
        """The setting with the values that `arm` goes on with."""
        return _with_changes(setting, arm, self.values)

    def way(self, settings: dict[str, ArmSetting], after: int) -> Iterator[tuple[int, list[ArmSetting]]]:
        """(step, settings of the arms that lead up to it) from the step `after` on, up to the fork's own.

        `settings` are the arms' by name, as the experiment's plain form has them without its fork.
        """
        begin = 0
        for stage in self.stages:
            inner = {change.step for change in stage.changes if begin < change.step < stage.until}
            for until in sorted({*inner, stage.until}):
                if until > after:
                    made = [change for change in stage.changes if change.step <= begin]
                    yield until, [stage_setting(stage, s, arm, made) for arm, s in settings.items()]
                begin = until


def stage_setting(stage: Stage, setting: ArmSetting, arm: str, changes: Sequence[LiveChange]) -> ArmSetting:
    """What an arm trained with in a stage, once `changes` are made."""
    at = replace(setting, optimizer=stage.optimizer, batch_size=stage.batch_size, steps=stage.steps)
    return _with_changes(at, arm, changes)


def fork_from_plain(plain: Any) -> Fork:
    """Build a fork from its plain form; unknown keys and missing ones are errors."""
    table = _table(plain, "fork", ("run", "step", "stages", "values"))
    run = table["run"]
    if not isinstance(run, str) or not 0 < len(run) <= LONGEST_NAME or not run.isprintable():
        raise InvalidPlain(f"fork.run is {shown(run)}; it must be the id of a run.")
    return Fork(
        run=run,
        step=_step(table["step"], "fork.step"),
        stages=tuple(_stage(stage) for stage in _list(table["stages"], "fork.stages", MOST_STAGES)),
        values=_changes(table["values"], "fork.values"),
    )


def _stage(plain: Any) -> Stage:
    table = _table(plain, "A stage of the fork", ("until", "optimizer", "batch_size", "steps", "changes"))
    pace = from_plain(Pace, {name: table[name] for name in ("batch_size", "steps")}, "a stage of the fork")
    return Stage(
        until=_step(table["until"], "The end of a stage of the fork"),
        optimizer=variant_from_plain(Optimizer.variants, table["optimizer"], "optimizer"),
        batch_size=pace.batch_size,
        steps=pace.steps,
        changes=_changes(table["changes"], "The changes of a stage of the fork"),
    )


def _changes(plain: Any, what: str) -> tuple[LiveChange, ...]:
    found = []
    for change in _list(plain, what, MOST_CHANGES):
        table = _table(change, what, ("step", "arm", "key", "value"))
        if not isinstance(table["arm"], str) or not isinstance(table["key"], str):
            raise InvalidPlain(f"{what} hold {shown(change)}; arm and key must be texts.")
        if isinstance(table["value"], bool) or not isinstance(table["value"], int | float):
            raise InvalidPlain(
                f"{what} have {shown(table['value'])} for {table['key'][:80]!r}; "
                "what can change are live knobs, and their values are numbers."
            )
        found.append(LiveChange(_step(table["step"], what), table["arm"], table["key"], table["value"]))
    return tuple(found)


def _table(plain: Any, what: str, keys: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(plain, dict) or set(plain) != set(keys):
        raise InvalidPlain(f"{what} is {shown(plain)}; it must be a table of {', '.join(keys)}.")
    return plain


def _list(plain: Any, what: str, most: int) -> list[Any]:
    if not isinstance(plain, list) or len(plain) > most:
        raise InvalidPlain(f"{what} is {shown(plain)}; it must be a list of at most {most}.")
    return plain


def _step(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 1_000_000:
        raise InvalidPlain(f"{what} is {shown(value)}; it must be a step between 0 and 1000000.")
    return value


def _with_changes(setting: ArmSetting, arm: str, changes: Sequence[LiveChange]) -> ArmSetting:
    for change in changes:
        if change.arm == arm:
            setting = changed(setting, change.key, change.value)
    return setting
