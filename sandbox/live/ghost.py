"""The parent's curves in a run that goes on from it: their columns, and what is said of the parent."""

import sqlite3
from collections.abc import Collection, Mapping
from typing import Any

from sandbox.runner.ghost import CURVES, PARENT
from sandbox.store.rows import BEFORE

GROUPS = ("test_accuracy/", "test_accuracy0")
"""All names of accuracies by group lie between these two."""
COLUMNS = tuple(f"{BEFORE}{name}" for name in CURVES)


def ghost_columns(meta: Mapping[str, Any]) -> tuple[str, ...]:
    """The parent's curves; none where a run has no parent."""
    return COLUMNS if isinstance(meta.get(PARENT), dict) else ()


def accuracy_groups(connection: sqlite3.Connection, meta: Mapping[str, Any]) -> list[str]:
    """Names of the accuracies by group of rows that a run has, then of those that it has of its parent."""
    own = _names_between(connection, *GROUPS)
    past = own and ghost_columns(meta)
    return own + (_names_between(connection, *(BEFORE + end for end in GROUPS)) if past else [])


def ghost_readings(meta: Mapping[str, Any], drawn: Collection[str], whole: Collection[str]) -> list[str]:
    """The parent's readings per head that panels draw as curves: in `drawn`, or of a kind in `whole`."""
    told = meta.get(PARENT)
    names = told.get("readings") if isinstance(told, dict) else None
    known = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return [f"{BEFORE}{name}" for name in known if name in drawn or name.partition("/")[0] in whole]


def parent_of(meta: Mapping[str, Any]) -> dict[str, Any] | None:
    """The parent's id, the step that the run went on from, what is changed, and what was copied of it."""
    told = meta.get(PARENT)
    if not isinstance(told, dict):
        return None
    return {
        "run": str(told.get("run", "")),
        "step": int(told.get("step", 0)),
        "changed": [str(words) for words in told.get("changed") or []],
        "last": int(told.get("last", 0)),
        "mean": int(told.get("mean", 0)),
    }


def _names_between(connection: sqlite3.Connection, first: str, last: str) -> list[str]:
    asked = "SELECT DISTINCT name FROM scalars WHERE arm=0 AND name>? AND name<?"
    return [name for (name,) in connection.execute(asked, (first, last))]
