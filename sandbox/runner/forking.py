"""Forking: makes the folder of a run that goes on from another, with all it needs when that one is gone."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sandbox.foundations.errors import RunUnavailable, SandboxError
from sandbox.foundations.written import whole as number
from sandbox.runner import queue
from sandbox.runner.arm_names import arms_of_parent
from sandbox.runner.fork_plan import OPTIMIZER, PACE, Plain, values_at
from sandbox.runner.ghost import PARENT, copy_ghost, history
from sandbox.runner.names import new_run_id
from sandbox.store import Event, Run, RunWriter, run_path
from sandbox.store.checkpoint import checkpoint_files, read_checkpoint, read_start, save_start

FORK = "fork"
"""Kind of the event that says where a run went on from, and with what."""

ENGINES = "engines"
SPIKE_HISTORY = 200
"""Batch losses that the watch for spikes looks back on."""

State = dict[str, np.ndarray]


def enqueue_fork(
    parent: Run,
    plain: Plain,
    owner: str,
    device: str = "cpu",
    *,
    cost: Mapping[str, float] | None = None,
    keeps_on: bool = False,
) -> str:
    """Make the run that `plain`, as the trainer has checked it, asks for, and put it in the queue; its id.

    `cost` is what the check answered for all of its steps; `keeps_on` as the queue has it.
    """
    run_id = new_run_id()
    folder = run_path(run_id)
    try:
        make_folder(folder, parent, plain)
        return queue.enqueue(plain, owner, device=device, run_id=run_id, cost=cost, keeps_on=keeps_on)
    except SandboxError:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def make_folder(folder: Path, parent: Run, plain: Plain) -> None:
    """Make the folder of a run of `plain`, which goes on from `parent`: its start, its ghost, its event.

    Raises RunUnavailable where the folder holds a run already.
    """
    step, arms, seeds = plain["fork"]["step"], [arm["name"] for arm in plain["arms"]], plain["seeds"]
    of_parent = arms_of_parent(parent.experiment, plain)
    changed = differences(parent, plain)
    recorded = parent.meta(ENGINES) or {}
    engines = {arm: recorded[was] for arm, was in of_parent.items() if was in recorded}
    parent = parent.with_arms({was: arm for arm, was in of_parent.items()})
    with RunWriter.create(folder, plain) as writer:
        copied = copy_ghost(parent, writer, step)
        writer.describe(
            **{PARENT: {"run": parent.id, "step": step, "changed": changed, **copied}},
            **({ENGINES: engines} if engines else {}),
        )
        kept = "weights, optimizer moments and batch order as they were" if step else "its start"
        other = "; ".join(changed) or "nothing is changed"
        if step:
            begin, state = _start(parent, step)
            if begin < step:
                kept += f", by way of the checkpoint at step {begin}, from where it is trained again"
            save_start(
                folder, begin, _of_runs(state, parent, arms, seeds) | _known(parent, step, arms, seeds)
            )
        writer.event(step, FORK, f"goes on from step {step} of {parent.id}, {kept}: {other}"[:1000])


def differences(parent: Run, plain: Plain) -> list[str]:
    """What a fork does otherwise than its parent at that step, one short sentence for each."""
    whole, step = parent.experiment, plain["fork"]["step"]
    found = [
        f"{key} {number(whole[key])} to {number(plain[key])}"
        for key in (*PACE, "steps")
        if whole.get(key) != plain.get(key)
    ]
    found += [
        f"{OPTIMIZER}.{name} {whole[OPTIMIZER].get(name)} to {value}"
        for name, value in plain[OPTIMIZER].items()
        if whole[OPTIMIZER].get(name) != value
    ]
    of_parent, before = arms_of_parent(whole, plain), values_at(parent, step)
    after = {(value["arm"], value["key"]): value["value"] for value in plain["fork"]["values"]}
    for arm, parents in of_parent.items():
        keys = [key for own, key in before if own == parents] + [key for own, key in after if own == arm]
        for key in dict.fromkeys(keys):
            was, now = _value(whole, before, parents, key), _value(plain, after, arm, key)
            if was != now:
                found.append(f"{parents}: {key} {was} to {now}")
    found += [
        f"{len(plain[what])} of {len(whole[what])} {what}"
        for what in ("arms", "seeds")
        if len(plain[what]) < len(whole[what]) and (what == "arms" or set(plain[what]) <= set(whole[what]))
    ]
    if not set(plain["seeds"]) <= set(whole["seeds"]):
        found.append(f"seeds {', '.join(map(str, plain['seeds'][:20]))}")
    return found


def _value(form: Plain, values: dict[tuple[str, str], Any], arm: str, key: str) -> Any:
    if (arm, key) in values:
        return values[arm, key]
    place, _, name = key.partition(".")
    own = next(one for one in form["arms"] if one["name"] == arm)
    settings = form[OPTIMIZER] if place == OPTIMIZER else own.get(place) or form["model"].get(place) or {}
    return settings.get(name)


def _start(parent: Run, step: int) -> tuple[int, State]:
    """The state of the parent nearest before `step`; (0, {}) where only its beginning is to be had."""
    for at, path in reversed(checkpoint_files(parent.path)):
        if at <= step:
            try:
                return at, read_checkpoint(path)
            except RunUnavailable:
                continue  # dropped by its writer since, or damaged: the one before it leads there too
    found = read_start(parent.path)
    return found if found is not None and found[0] <= step else (0, {})


def _of_runs(state: State, parent: Run, arms: Sequence[str], seeds: Sequence[int]) -> State:
    """The rows of the arms and seeds that go on, and a clock that begins."""
    found: State = {}
    rows = [parent.seeds.index(seed) for seed in seeds]
    for place, arm in enumerate(arms):
        own = f"group/{parent.arms.index(arm)}/"
        for name, array in state.items():
            if name.startswith(own):
                found[f"group/{place}/{name.removeprefix(own)}"] = array[rows]
    if "clock" in state:  # the parent's time is its own
        found["clock"] = np.zeros(1 + len(arms))
    return found


def _known(parent: Run, step: int, arms: Sequence[str], seeds: Sequence[int]) -> State:
    """What the parent knew at `step` beside its groups: events, losses, phases, planes, and its weights."""
    events, shape = parent.events(), (len(arms), len(seeds))
    losses = np.full((*shape, SPIKE_HISTORY), np.nan)
    columns = [parent.seeds.index(seed) for seed in seeds]
    found: State = {}
    for place, arm in enumerate(arms):
        at, values = history(parent, arm, "loss")
        recent = (at > step - SPIKE_HISTORY) & (at <= step)
        losses[place][:, at[recent] - step - 1] = values[recent][:, columns].T
        if step in parent.weight_steps(arm):
            found[f"weights/{place}"] = parent.weights(step, arm)[columns]
    for kind, name in (("threshold", "crossed"), ("nan", "diverged")):
        found[f"events/{name}"] = _last(events, kind, step, arms, seeds) >= 0
    found["spikes/losses"], found["spikes/told"] = losses, _last(events, "spike", step, arms, seeds)
    return found | _fitted(parent, step, arms, columns)


def _last(
    events: Sequence[Event], kind: str, step: int, arms: Sequence[str], seeds: Sequence[int]
) -> np.ndarray:
    """(arm, seed): the last step up to `step` at which that kind of thing happened, -1 where none did."""
    last = np.full((len(arms), len(seeds)), -1, np.int64)
    for event in events:
        if event.kind == kind and event.step <= step and event.arm in arms and event.seed in seeds:
            last[arms.index(event.arm), seeds.index(event.seed)] = event.step
    return last


def _fitted(parent: Run, step: int, arms: Sequence[str], columns: Sequence[int]) -> State:
    """The planes fitted once for the whole run, and the points that tell phases, from its youngest state."""
    at, state = _start(parent, int(parent.status["step"]) + 1)
    if not at:
        return {}
    found = {name: array for name, array in state.items() if name.startswith("basis/")}
    points = state.get("phases/points")
    if points is not None:
        places = [parent.arms.index(arm) for arm in arms]
        mine = points[places][:, columns]
        found["phases/points"] = mine[:, :, mine[0, 0, :, 0] <= step]
    return found
