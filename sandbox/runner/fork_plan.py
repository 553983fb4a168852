"""Fork plan: the experiment that goes on from a step of a run, with what may change and why not the rest."""

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from sandbox.foundations.errors import InvalidExperiment, InvalidKnob
from sandbox.foundations.typed_text import shown
from sandbox.runner.arm_names import named_by_values
from sandbox.runner.live_requests import unanswered
from sandbox.store import Run
from sandbox.store.forks import begun_at

Plain = dict[str, Any]
Setting = tuple[str | None, str, Any]
"""Arm (None: every arm that has it), dotted key, value."""

PACE = ("batch_size", "evaluate_every")
OPTIMIZER = "optimizer"
RATE = "learning_rate"
NEW_RUN = "start a new run for that"
REFUSED = {
    "task": f"a fork goes on with its parent's data and batch order; {NEW_RUN}",
    "model": f"the weights and the optimizer's moments are of the parent's model; {NEW_RUN}",
    "reference_start": f"it decides how weights are drawn at step 0, which lies behind a fork; {NEW_RUN}",
    "seeds": "choose among the parent's seeds instead, or take new seeds from step 0",
    "arms": "choose among the parent's arms instead",
    "steps": "give the step limit by itself",
    "fork": "it says where the parent itself began",
    "schema": "it is the version of the form",
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a person asks of a fork; None keeps what the parent has."""

    step: int
    arms: Sequence[str] | None = None
    seeds: Sequence[int] | None = None
    steps: int | None = None
    """The step limit."""
    settings: Sequence[Setting] = field(default=())


def forked(parent: Run, plan: Plan) -> Plain:
    """The plain form of the experiment that `plan` asks for; nothing is read or written but the parent.

    Its arms are called by what they go on with (`arm_names`), in the fork's stages too. Names and steps are
    checked here, values where experiments are checked. Raises InvalidKnob or InvalidExperiment in one
    sentence.
    """
    whole = parent.experiment
    _own_fork(parent)
    step = checked_step(parent, plan.step)
    arms = _chosen("arm", parent.arms, plan.arms)
    seeds = list(plan.seeds) if step == 0 and plan.seeds else _chosen("seed", parent.seeds, plan.seeds)
    plain: Plain = deepcopy({key: value for key, value in whole.items() if key != "fork"})
    plain["arms"] = [arm for arm in plain["arms"] if arm["name"] in arms]
    plain["seeds"] = seeds
    if plan.steps is not None:
        plain["steps"] = plan.steps
    if plain["steps"] <= step:
        raise InvalidExperiment(
            f"The step limit is {shown(plain['steps'], 20)} and training would go on from step {step}; "
            f"give a higher limit, such as {step + 1000}."
        )
    values = values_at(parent, step)
    for arm, key, value in plan.settings:
        _apply(plain, values, arm, key, value)
    names = named_by_values(plain["arms"], values)
    plain["arms"] = [arm | {"name": names[arm["name"]]} for arm in plain["arms"]]
    plain["fork"] = {
        "run": parent.id,
        "step": step,
        "stages": [
            stage | {"changes": _renamed(stage["changes"], names)} for stage in _stages(parent, step, arms)
        ],
        "values": _renamed(_changes(values, step, arms), names),
    }
    return plain


def checked_step(parent: Run, step: Any) -> int:
    """The step, if the parent has been there; InvalidKnob in one sentence otherwise."""
    begin, last = begun_at(parent.experiment), int(parent.status["step"])
    if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step <= last:
        raise InvalidKnob(
            f"The step is {shown(step)}; run {parent.id} has been trained from {begin} to {last}."
        )
    if step < begin:
        raise InvalidKnob(
            f"Run {parent.id} itself went on from step {begin} of {parent.experiment['fork']['run']}; "
            f"for step {step} continue that run."
        )
    return step


def values_now(run: Run) -> dict[tuple[str, str], Any]:
    """The live knobs as they were changed since the run began, or as they are asked for and not refused."""
    # What is asked for is read first: what is acted on meanwhile is among the changes then, never in neither.
    asked = {(one["arm"], one["key"]): one["value"] for one in unanswered(run)}
    return values_at(run, math.inf) | asked


def values_at(parent: Run, step: float) -> dict[tuple[str, str], Any]:
    """The live knobs that had been changed by `step`, changes made at `step` itself included."""
    start = _own_fork(parent)["values"]
    made = [change for change in parent.meta("changes") or [] if change["step"] <= step]
    return {(change["arm"], change["key"]): change["value"] for change in [*start, *made]}


def read_steps(text: str, step: int) -> int:
    """The step limit that a person typed: a number, or +N for N steps more than `step`."""
    digits = text.strip().removeprefix("+")
    if not digits.isdecimal() or len(digits) > 9:
        raise InvalidKnob(f"The step limit is {shown(text)}; give a number such as 3000, or +1000 for more.")
    return int(digits) + (step if text.strip().startswith("+") else 0)


def _apply(plain: Plain, values: dict[tuple[str, str], Any], arm: str | None, key: str, value: Any) -> None:
    """Put one setting where it belongs: the plain form, or the live knobs of the arms that have it."""
    place, _, name = key.partition(".")
    if place in REFUSED:
        raise InvalidKnob(f"{key[:80]!r} cannot change in a fork: {REFUSED[place]}.")
    names = [a["name"] for a in plain["arms"]]
    if key in PACE and arm is None:
        plain[key] = value
    elif place == OPTIMIZER and name != RATE:
        if name == "kind":
            raise InvalidKnob(
                f"The optimizer's kind cannot change in a fork: its moments are those of "
                f"{plain[OPTIMIZER]['kind']}; {NEW_RUN}."
            )
        _known(name, plain[OPTIMIZER], OPTIMIZER)
        plain[OPTIMIZER][name] = value
    elif key == f"{OPTIMIZER}.{RATE}" and arm is None:
        plain[OPTIMIZER][RATE] = value
        for one in names:
            values.pop((one, key), None)
    elif name:
        having = [a for a in plain["arms"] if arm in (None, a["name"]) and _has(plain, a, place, name)]
        if not having:
            raise InvalidKnob(
                f"No arm of the fork has {key[:80]!r}{f' and is {arm[:80]!r}' if arm else ''}; "
                "what can change are batch_size, optimizer.learning_rate and its like, and the live knobs "
                "of an arm, such as projection.shift."
            )
        for one in having:
            values[one["name"], key] = value
    else:
        raise InvalidKnob(
            f"A fork has no setting {key[:80]!r}; write it as batch_size, optimizer.learning_rate or "
            "projection.shift."
        )


def _has(plain: Plain, arm: Plain, place: str, name: str) -> bool:
    settings = plain[OPTIMIZER] if place == OPTIMIZER else arm.get(place) or plain["model"].get(place)
    return isinstance(settings, dict) and name in settings


def _known(name: str, settings: Plain, where: str) -> None:
    if name not in settings:
        has = ", ".join(key for key in settings if key != "kind")
        raise InvalidKnob(f"{where} has no setting {name[:80]!r}; it has {has}.")


def _chosen(what: str, has: Sequence[Any], wanted: Sequence[Any] | None) -> list[Any]:
    """The parent's arms or seeds that are wanted, in the parent's order."""
    if wanted is None:
        return list(has)
    for one in wanted:
        if one not in has:
            more = "" if what == "arm" else "; another seed has no weights there and starts from step 0"
            raise InvalidKnob(
                f"The parent has no {what} {shown(one)}; it has {', '.join(map(str, has))[:300]}{more}."
            )
    if not wanted:
        raise InvalidKnob(f"No {what} is chosen; choose at least one of {', '.join(map(str, has))[:300]}.")
    return [one for one in has if one in wanted]


def _stages(parent: Run, step: int, arms: Sequence[str]) -> list[Plain]:
    """How `step` was reached from step 0, for the arms that go on."""
    whole, begin = parent.experiment, begun_at(parent.experiment)
    fork = _own_fork(parent)
    stages = [
        stage | {"changes": [change for change in stage["changes"] if change["arm"] in arms]}
        for stage in fork["stages"]
    ]
    if step == begin:
        return stages
    made = [change for change in parent.meta("changes") or [] if change["step"] < step]
    own = {
        "until": step,
        "optimizer": whole[OPTIMIZER],
        "batch_size": whole["batch_size"],
        "steps": whole["steps"],
        "changes": [change for change in [*fork["values"], *made] if change["arm"] in arms],
    }
    return [*stages, own]


def _own_fork(parent: Run) -> Plain:
    """Where the parent itself began; no stages and values where that was step 0."""
    fork = parent.experiment.get("fork")
    return {"stages": [], "values": []} if fork is None else dict(fork)


def _renamed(changes: Sequence[Plain], names: Mapping[str, str]) -> list[Plain]:
    return [change | {"arm": names[change["arm"]]} for change in changes]


def _changes(values: dict[tuple[str, str], Any], step: int, arms: Sequence[str]) -> list[Plain]:
    return [
        {"step": step, "arm": arm, "key": key, "value": value}
        for (arm, key), value in values.items()
        if arm in arms
    ]
