"""What the groups of a comparison are set to: what differs, and what makes the comparison an unfair one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.runner.fork_plan import values_at
from sandbox.store import Run
from sandbox.store.card import ORIGIN, flat_settings
from sandbox.ui.named import setting_title

START = "initialization"
MOST_SHOWN = 6


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One group's settings, flat, and which of them its arm set."""

    label: str
    values: dict[str, Any]
    own: frozenset[str]
    """First parts, such as `model.projection`, of what the arm changes."""
    seeds: tuple[int, ...]
    circumstances: dict[str, str]
    """What is no setting and yet matters: engine, device, live changes, data."""


def setting_of(run: Run, arm: str, label: str) -> Setting:
    """The settings of one group: those of its run, with what its arm changes in their place."""
    plain = run.experiment
    changes = next(a for a in plain["arms"] if a["name"] == arm)
    slots = {slot: value for slot, value in changes.items() if slot != "name"}
    model = plain.get("model")
    merged = plain | {"model": (model if isinstance(model, dict) else {"kind": model}) | slots}
    engines = run.meta("engines") or {}
    engine = engines.get(arm) if isinstance(engines, dict) else None
    changed = run.meta("changes") or []
    values = flat_settings(merged)
    going_on = {key: value for (own, key), value in values_at(run, 0).items() if own == arm}
    values |= {key if key.startswith("optimizer.") else f"model.{key}": v for key, v in going_on.items()}
    return Setting(
        label=label,
        values=values,
        own=frozenset([*(f"model.{slot}" for slot in slots), *_parts(going_on)]),
        seeds=run.seeds,
        circumstances={
            "engine": str(
                engine.get("engine", engine) if isinstance(engine, dict) else engine or "not recorded"
            ),
            "device": str(run.meta("device") or "not recorded"),
            "changes during the run": str(len(changed)) if isinstance(changed, list) else "not recorded",
            "data": "; ".join(map(str, run.notes)),
        },
    )


def _parts(going_on: Iterable[str]) -> Iterator[str]:
    """What a fork's arm goes on with is its own, as what an arm sets."""
    for key in going_on:
        yield key if key.startswith("optimizer.") else f"model.{key.partition('.')[0]}"


def differing(settings: Sequence[Setting]) -> dict[str, list[Any]]:
    """Settings that are not the same in all groups: name -> one value per group; None where there is none.

    A knob of an arm's part that has one value wherever the part is says no more than the part itself.
    """
    names = list(dict.fromkeys(name for setting in settings for name in setting.values))
    rows = {name: [setting.values.get(name) for setting in settings] for name in names}
    found = {name: row for name, row in rows.items() if len({repr(value) for value in row}) > 1}
    found = {name: row for name, row in found.items() if not _with_its_part(name, rows)}
    if len({setting.seeds for setting in settings}) > 1:
        found["seeds"] = [", ".join(map(str, setting.seeds)) for setting in settings]
    for name in ("engine", "device", "changes during the run"):
        row = [setting.circumstances[name] for setting in settings]
        if len(set(row)) > 1:
            found[name] = list(row)
    return found


def _with_its_part(name: str, rows: dict[str, list[Any]]) -> bool:
    """Whether `model.<slot>.<knob>` is missing only where the slot is filled otherwise, else equal."""
    model, slot, knob = (*name.split(".", 2), "", "")[:3]
    part = rows.get(f"{model}.{slot}")
    if not knob or part is None:
        return False
    there = {repr(kind) for kind, value in zip(part, rows[name], strict=True) if value is not None}
    elsewhere = {repr(kind) for kind, value in zip(part, rows[name], strict=True) if value is None}
    values = {repr(value) for value in rows[name] if value is not None}
    return len(values) == 1 and bool(elsewhere) and not there & elsewhere


def warnings(settings: Sequence[Setting]) -> list[str]:
    """Sentences for everything that differs beside what the arms are meant to change; none is good news."""
    found = differing(settings)
    meant = {slot for setting in settings for slot in setting.own}
    beside = [
        name for name in found if not any(name == slot or name.startswith(f"{slot}.") for slot in meant)
    ]
    said: list[str] = []
    data = [name for name in beside if name == "task" or name.startswith("task.")]
    if data:
        said.append(f"The data are not the same: {_listed(data)} differs. Nothing here is paired by data.")
    shared = set.intersection(*(set(setting.seeds) for setting in settings)) if settings else set()
    if "seeds" in beside:
        are = "is" if len(shared) == 1 else "are"
        words = f"{len(shared)} {are} shared" if shared else "none is shared, so that nothing is paired"
        said.append(f"The seeds are not the same, which are the seeds of data, order and start; {words}.")
    order = [name for name in beside if name in ("batch_size", "reference_start")]
    if order:
        said.append(f"The batches are not the same, or not in the same order: {_listed(order)} differs.")
    model = [name for name in beside if name == "model" or name.startswith("model.")]
    if model:
        said.append(
            f"The model differs in more than the arms: {_listed(model)}; starting weights differ too."
        )
    if ORIGIN in beside:
        origins = list(dict.fromkeys(s.values[ORIGIN] for s in settings if ORIGIN in s.values))
        ways = "; ".join(f"one goes on from {origin}" for origin in origins[:MOST_SHOWN])
        said.append(f"Not all began alike: {ways}.")
    rest = [name for name in beside if name not in {*data, *order, *model, "seeds", ORIGIN}]
    if rest:
        said.append(f"Beside the arms there differs: {_listed(rest)}.")
    if (
        not data
        and len({setting.circumstances["data"] for setting in settings}) > 1
        and "seeds" not in beside
    ):
        said.append("The runs describe their data differently, although their settings are the same.")
    return said


def by_design(settings: Sequence[Setting]) -> str:
    """What differs at the start because an arm is about the start; empty where it is not."""
    starts = {setting.values.get(f"model.{START}") for setting in settings}
    return (
        "An arm changes the starting weights: pairs share data and order, not their start."
        if len(starts) > 1
        else ""
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(map(setting_title, names[:MOST_SHOWN])) + more
