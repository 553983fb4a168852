"""Which runs the gallery lists, in which order, and which of their settings differ."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.runner.gallery import Entry
from sandbox.store.card import ArmCard, flat_settings

NEWEST, OLDEST, NAME = "Newest first", "Oldest first", "Name"
OF_ACCURACY = "test_accuracy"
ACCURACY, MEDIAN_STEP = "Held-out accuracy", "Median step to the target"
DIFFERENCE, SECONDS, DIVERGED = "Difference to the reference arm", "Seconds trained", "Seeds that diverged"
BY_TIME = (NEWEST, OLDEST, NAME)
DERIVED = (ACCURACY, DIFFERENCE, MEDIAN_STEP, SECONDS, DIVERGED)
SOLVED, SOME_DIVERGED = "every seed reached the target", "a seed diverged"
OUTCOMES = (SOLVED, SOME_DIVERGED)
LEAST_FIRST = (MEDIAN_STEP, SECONDS, DIVERGED)
"""Metrics of which the least is looked for; for all others the greatest, unless they are a loss."""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What the person asked to see; an empty part asks for nothing."""

    text: str = ""
    tasks: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    """States, and outcomes of OUTCOMES."""
    owners: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sort: str = NEWEST
    least_first: bool = False


def matching(entries: Sequence[Entry], wish: Wish) -> list[Entry]:
    """The entries that fit every part of the wish, in its order: pinned first, unknown values last."""
    found = [entry for entry in entries if _fits(entry, wish)]
    return sorted(found, key=_order(wish))


def tasks_of(entry: Entry) -> str:
    """The kind of the run's task; empty where its settings cannot be read."""
    task = entry.card.plain.get("task")
    return str(task.get("kind", "")) if isinstance(task, dict) else str(task or "")


def arms_of(entry: Entry) -> list[str]:
    """The names of the run's arms."""
    return [str(arm.get("name", "")) for arm in entry.card.plain.get("arms", ()) if isinstance(arm, dict)]


def outcomes(entry: Entry) -> list[str]:
    """The outcomes of OUTCOMES that hold for the run."""
    arms = entry.card.arms
    solved = bool(arms) and all(arm.reached == entry.card.seeds for arm in arms)
    return [SOLVED] * solved + [SOME_DIVERGED] * bool(entry.card.diverged)


def choices(entries: Sequence[Entry], of: Callable[[Entry], Sequence[str]]) -> list[str]:
    """What there is to choose from, the most frequent first."""
    counts: dict[str, int] = {}
    for entry in entries:
        for word in of(entry):
            if word:
                counts[word] = counts.get(word, 0) + 1
    return sorted(counts, key=lambda word: (-counts[word], word))


def metrics(entries: Sequence[Entry]) -> list[str]:
    """Everything that runs can be sorted by: time, name, what is derived, each curve and reading."""
    recorded = {name for entry in entries for arm in entry.card.arms for name in arm.metrics}
    return [*BY_TIME, *DERIVED, *sorted(recorded - {OF_ACCURACY})]


def value(entry: Entry, metric: str, arms: Sequence[str] = (), least: bool = False) -> float:
    """The run's number for `metric`: the greatest of its arms (of `arms`, where given), or the least.

    NaN where no arm has one.
    """
    if metric == SECONDS:
        return entry.card.seconds if entry.card.arms else math.nan
    if metric == DIVERGED:
        return float(entry.card.diverged) if entry.card.arms else math.nan
    return found[0] if (found := best(entry, metric, arms, least)) else math.nan


def best(
    entry: Entry, metric: str, arms: Sequence[str] = (), least: bool = False
) -> tuple[float, str] | None:
    """The greatest number of the run's arms (of `arms`, where given), or the least, with that arm's name."""
    of = [arm for arm in entry.card.arms if not arms or arm.name in arms]
    values = [(arm_value(arm, metric), arm.name) for arm in of]
    known = [(v, name) for v, name in values if not math.isnan(v)]
    return (min if least else max)(known, key=lambda one: one[0]) if known else None


def arm_value(arm: ArmCard, metric: str) -> float:
    """One arm's number for `metric`; NaN where it has none."""
    if metric == ACCURACY:
        return arm.metrics.get(OF_ACCURACY, math.nan)
    if metric == MEDIAN_STEP:
        return math.nan if arm.median_step is None else arm.median_step
    if metric == DIFFERENCE:
        return math.nan if arm.difference is None else arm.difference[0]
    return arm.metrics.get(metric, math.nan)


def wants_least(metric: str) -> bool:
    """Whether the least value of this metric is looked for at first."""
    return metric in LEAST_FIRST or metric.endswith("loss")


def differing(entries: Sequence[Entry]) -> dict[str, list[Any]]:
    """The settings that are not the same in all of these runs: dotted name -> a value per run, or None.

    Arms and seeds are among them where they differ.
    """
    rows = []
    for entry in entries:
        plain = entry.card.plain
        row = flat_settings(plain) if plain else {}
        if plain:
            row["seeds"] = ", ".join(map(str, plain.get("seeds", ())))
            row["arms"] = ", ".join(arms_of(entry))
        rows.append(row)
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    return {name: column for name, column in columns.items() if len({repr(v) for v in column}) > 1}


def _fits(entry: Entry, wish: Wish) -> bool:
    if wish.tasks and tasks_of(entry) not in wish.tasks:
        return False
    if wish.arms and not set(wish.arms) & set(arms_of(entry)):
        return False
    if wish.states and not set(wish.states) & {entry.state, *outcomes(entry)}:
        return False
    if wish.owners and entry.owner not in wish.owners:
        return False
    if wish.tags and not set(wish.tags) <= set(entry.labels.tags):
        return False
    return all(word in _words(entry) for word in wish.text.casefold().split())


def _words(entry: Entry) -> str:
    said = (entry.id, entry.name, tasks_of(entry), *arms_of(entry), *entry.labels.tags, entry.labels.note)
    return " ".join(said).casefold()


def _order(wish: Wish) -> Callable[[Entry], tuple[Any, ...]]:
    def key(entry: Entry) -> tuple[Any, ...]:
        pinned = not entry.labels.pinned
        if wish.sort in (NEWEST, OLDEST):
            return pinned, False, entry.created if wish.sort == OLDEST else -entry.created, entry.id
        if wish.sort == NAME:
            return pinned, False, entry.name.casefold(), entry.id
        found = value(entry, wish.sort, wish.arms, wish.least_first)
        unknown = math.isnan(found)
        return pinned, unknown, 0.0 if unknown else found if wish.least_first else -found, entry.id

    return key
