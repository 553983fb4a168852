"""Described: what a run records of itself, key by key: of what kind it is, in code and in words."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import RunUnavailable
from sandbox.foundations.provenance import EXACTNESS
from sandbox.foundations.readings import PER
from sandbox.store.plain_shapes import (
    Shape,
    by_name,
    either,
    is_count,
    is_nothing,
    is_number,
    is_step,
    is_text,
    is_truth,
    is_whole,
    list_of,
    one_of,
    table,
    within,
)
from sandbox.store.schema import STATES

LATEST = 2.5e11
"""A time in the year 9892: later ones have no date."""
LONGEST_LINE = 1e9
"""Levels beyond which a reference line would leave nothing to see of any curve."""
MOST_NOTES, MOST_AXES = 10_000, 8
READING, LAYOUT = "reading/", "layout/"
_OF_ARM = re.compile(r"(?:reading|layout)/(\d{1,9})(?:/.+)?", re.DOTALL)

NO_STATUS = {"state": "queued", "step": 0, "seconds": 0.0, "reason": ""}
"""Of a run that has said nothing yet."""

TEXTS = list_of(is_text)
SIZES = list_of(list_of(is_count, MOST_AXES))
_LEVEL = either(is_nothing, within(-LONGEST_LINE, LONGEST_LINE))


@dataclass(frozen=True)
class Kind:
    """Of what kind the value under a key has to be."""

    is_sound: Shape
    words: str
    vital: bool = True
    """Whether a run cannot be understood without it. What is not vital counts as not recorded if unsound."""


_CHANGE = table({"step": is_count, "arm": is_text, "key": is_text, "value": is_number})
_QUESTION = table(
    {"id": is_text, "kind": is_text, "step": is_whole},  # whatever somebody asked for
    {"state": is_text, "done": is_count, "of": is_count, "seconds": within(0.0, LATEST), "reason": is_text},
)
_WAIT = table(
    {"kind": is_text},
    dict.fromkeys(("step", "seconds", "cost"), either(is_nothing, is_number)),
)

_STATUS = table(
    {"state": one_of(*STATES), "step": is_step, "seconds": within(0.0, LATEST), "reason": is_text},
    {"arm_seconds": by_name(within(0.0, LATEST))},
)

DESCRIBED: dict[str, Kind] = {
    "status": Kind(_STATUS, "one of a run"),
    "experiment": Kind(table({}), "a table"),
    "created": Kind(within(0.0, LATEST), "a time in seconds since 1970"),
    "notes": Kind(list_of(is_text, MOST_NOTES), "a list of sentences"),
    "target": Kind(
        table({"curve": is_text, "value": within(0.0, 1.0)}),
        "a curve and the share of 0 to 1 to reach",
        vital=False,
    ),
    "lines": Kind(by_name(either(_LEVEL, by_name(_LEVEL))), "finite levels by name", vital=False),
    "task": Kind(
        table({}, {"kind": is_text, "token_labels": TEXTS, "class_labels": TEXTS}),
        "a table of the task's words",
    ),
    "changes": Kind(list_of(_CHANGE), "a list of live changes, each with step, arm, key and value"),
    "parent": Kind(
        table(
            {"run": is_text, "step": is_count},
            {"changed": TEXTS, "readings": TEXTS, "last": is_count, "every": is_count, "mean": is_count},
        ),
        "the run and the step that it goes on from",
    ),
    "device": Kind(is_text, "a device in words", vital=False),
    "engines": Kind(
        by_name(table({"engine": is_text}, {"reason": is_text})), "an engine and a reason by arm", vital=False
    ),
    "changes_answered": Kind(is_count, "a count", vital=False),
    "questions": Kind(list_of(_QUESTION), "a list of questions", vital=False),
    "waiting": Kind(list_of(_WAIT), "a list of readings that are due", vital=False),
    "thinned": Kind(
        table({"steps": is_count}, {"bytes": is_number}), "a count of snapshots and their bytes", vital=False
    ),
    "migrated": Kind(
        list_of(table({"from": is_count, "to": is_count, "at": is_number})), "a list of formats", vital=False
    ),
}
"""By key of a run's description; null stands for nothing recorded. Schema, arms and seeds are asked by
themselves, and `layout/<arm>` and `reading/<arm>/<kind>` are below."""

LAYOUT_KIND = Kind(
    lambda found: (
        table({"names": TEXTS, "shapes": SIZES}, {"n_carried": is_count})(found)
        and len(found["names"]) == len(found["shapes"])
    ),
    "names and shapes of weights",
)

_PROVENANCE = table(
    {},
    {
        "precision": is_text, "method": is_text, "tolerance": is_number, "sample_size": is_count,
        "exactness": one_of(*EXACTNESS), "note": is_text,
    },
)  # fmt: skip
_READINGS: dict[str, Mapping[str, Shape]] = {
    "PerHead": {
        "unit": is_text, "log": is_truth, "units": by_name(is_text), "linear": TEXTS,
        "without": by_name(is_text), "per": one_of(*PER),
    },
    "Trajectory": {"labels": TEXTS, "groups": TEXTS},
    "AttentionMap": {
        "key_labels": TEXTS, "query_labels": TEXTS, "mask": list_of(list_of(within(0, 1))),
    },
    "Certificate": {"unit": is_text, "names": TEXTS, "statements": TEXTS, "reasons": TEXTS},
    "SmallModel": {
        "names": TEXTS, "shapes": SIZES, "tokens": list_of(list_of(is_count)), "classes": list_of(is_count),
        "token_labels": TEXTS, "class_labels": TEXTS, "n_prefix": either(is_nothing, is_count),
    },
    "Table": {
        "row_labels": TEXTS, "column_labels": TEXTS, "unit": is_text, "log": is_truth,
        "truth": list_of(is_count),
    },
}  # fmt: skip
"""What a reading says beside its numbers, by its type; all of them have columns and a provenance."""


def is_reading(found: Any) -> bool:
    """Whether `found` is what a reading says beside its numbers, or why it means nothing."""
    if isinstance(found, dict) and "not_applicable" in found:
        return is_text(found["not_applicable"])
    if not table({"type": one_of(*_READINGS), "columns": TEXTS}, {"provenance": _PROVENANCE})(found):
        return False
    return table({}, _READINGS[found["type"]])(found)


READING_KIND = Kind(is_reading, "a reading's type, columns and words", vital=False)


def kind_of(key: str) -> Kind | None:
    """Of what kind the value under `key` has to be; None where nobody reads it here."""
    if key.startswith(READING):
        return READING_KIND
    return LAYOUT_KIND if key.startswith(LAYOUT) else DESCRIBED.get(key)


def fault_of(key: str, value: Any) -> str:
    """What is wrong with the `value` recorded under `key`, in a clause; empty where nothing is."""
    kind = kind_of(key)
    if kind is None or value is None or kind.is_sound(value):
        return ""
    return f"what is recorded as {key[:80]!r} is not {kind.words}"


def faults_of(values: Mapping[str, Any], n_arms: int) -> Iterator[str]:
    """Every fault in what a run of `n_arms` arms says of itself, in clauses."""
    for key, value in values.items():
        of_arm = _OF_ARM.fullmatch(key)
        if of_arm and int(of_arm[1]) >= n_arms:
            yield f"{key[:80]!r} is of arm {int(of_arm[1])}, and there are {n_arms}"
        elif fault := fault_of(key, value):
            yield fault


VITAL = tuple(key for key, kind in DESCRIBED.items() if kind.vital)


def as_recorded(key: str, value: Any, path: Path) -> Any:
    """`value`, or what stands for one that is not of its kind: a reading that means nothing, else None.

    Raises RunUnavailable, naming the database `path` that holds it, where that is vital.
    """
    kind, fault = kind_of(key), fault_of(key, value)
    if kind is None or not fault:
        return value
    if kind.vital:
        raise RunUnavailable(f"In {path} {fault}; restore it from a copy.")
    return {"not_applicable": f"{fault}; `check` names all damage"} if kind is READING_KIND else None


def sound_of(values: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """What of `values` is of its kind; those that are in `known` were asked before.

    ValueError, a clause, where a run cannot be drawn without one that is not.
    """
    found = {}
    for key, value in values.items():
        if key not in known or known[key] != value:
            kind, fault = kind_of(key), fault_of(key, value)
            if kind is not None and fault:
                if kind.vital or kind is READING_KIND:
                    raise ValueError(fault)
                continue
        found[key] = value
    return found


def reading_in(text: str | bytes) -> Any:
    """What a reading at one step says beside its numbers, from its JSON; None where that is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if is_reading(found) else None


def numbers_of(layout: Any) -> int:
    """How many numbers a row of weights of this layout holds; 0 where it is no layout."""
    return sum(map(prod, layout["shapes"])) if LAYOUT_KIND.is_sound(layout) else 0
