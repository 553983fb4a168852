"""Migrations: how a run of an earlier format becomes one of this, when it is trained on and only then."""

import json
import sqlite3
import time
from collections.abc import Callable

HISTORY = "migrated"
"""Under this key a run says from which format it came, when."""


def _late_readings(db: sqlite3.Connection) -> None:
    """1 to 2: a table of readings that came late for their step."""
    db.execute(
        "CREATE TABLE IF NOT EXISTS late(id INTEGER PRIMARY KEY, step INTEGER NOT NULL, at INTEGER NOT NULL, "
        "overtaken INTEGER NOT NULL, kinds TEXT NOT NULL)"
    )


STEPS: dict[int, Callable[[sqlite3.Connection], None]] = {1: _late_readings}
"""By the number of a format, what makes the next one of it."""


def migrate(db: sqlite3.Connection, known: dict[str, str], newest: int) -> None:
    """Bring the database up to the format `newest` within the open transaction; `known` is its meta table.

    A number that is none, or that of a later format, is left for the caller to refuse.
    """
    found = json.loads(known.get("schema", "null"))
    if not isinstance(found, int) or not 1 <= found < newest:
        return
    for number in range(found, newest):
        STEPS[number](db)
    history = json.loads(known.get(HISTORY, "[]"))
    known["schema"] = str(newest)
    known[HISTORY] = json.dumps([*history, {"from": found, "to": newest, "at": time.time()}])
    db.executemany(
        "INSERT OR REPLACE INTO meta VALUES(?,?)", [(key, known[key]) for key in ("schema", HISTORY)]
    )
