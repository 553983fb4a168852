"""Questions to run.sqlite in SQL, each answered from the primary keys alone.

What is stored wrongly raises sqlite3.DatabaseError, to which the caller adds the file's name.
"""

import json
import sqlite3
from collections.abc import Iterable
from typing import Any

import numpy as np

LAST = 2**62
"""A step after every step."""
BEFORE = "parent/"
"""What names begin with that hold the past of a run's parent, and nothing that the run itself recorded."""

_SCALARS = (
    "SELECT step, data FROM scalars WHERE arm = ? AND name = ? AND step > ? AND step <= ? ORDER BY step"
)
_ARRAY = "SELECT dtype, shape, data FROM snapshots WHERE arm = ? AND name = ? AND step = ?"
_ARRAYS = (
    "SELECT step, dtype, shape, data FROM snapshots WHERE arm = ? AND name = ? AND step > ? ORDER BY step"
)
_STEPS = "SELECT step FROM snapshots WHERE arm = ? AND name = ? AND step > ? AND step <= ? ORDER BY step"
_NAMES = {
    "scalars": (
        "SELECT name FROM scalars WHERE arm = ? AND name >= ? ORDER BY name LIMIT 1",
        "SELECT name FROM scalars WHERE arm = ? AND name > ? ORDER BY name LIMIT 1",
    ),
    "snapshots": (
        "SELECT name FROM snapshots WHERE arm = ? AND name >= ? ORDER BY name LIMIT 1",
        "SELECT name FROM snapshots WHERE arm = ? AND name > ? ORDER BY name LIMIT 1",
    ),
}
"""By table: the first name from here on, and the next one after it."""
_EVENTS = (
    "SELECT id, step, arm, seed, kind, detail FROM events WHERE id > ? AND step > ? AND step <= ? "
    "ORDER BY step, id"
)
_KEYS = "SELECT key FROM meta WHERE key >= ? AND key < ? ORDER BY key"


def meta(db: sqlite3.Connection, key: str) -> Any:
    """The JSON value under `key`, or None."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else _json(row[0], key)


def meta_keys(db: sqlite3.Connection, prefix: str) -> list[str]:
    """The keys that begin with `prefix`, ascending."""
    return [key for (key,) in db.execute(_KEYS, (prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)))]


def names(db: sqlite3.Connection, table: str, arm: int, prefix: str = "") -> list[str]:
    """The names in `table` that begin with `prefix`, by hopping along the key from name to name."""
    found: list[str] = []
    from_here, after = _NAMES[table]
    row = db.execute(from_here, (arm, prefix)).fetchone()
    while row and row[0].startswith(prefix):
        found.append(row[0])
        row = db.execute(after, (arm, row[0])).fetchone()
    return found


def scalars(
    db: sqlite3.Connection, arm: int, name: str, n_seeds: int, since: int = -1, up_to: int = LAST
) -> tuple[np.ndarray, np.ndarray]:
    """(steps (n,) int64, values (n, n_seeds) float64) after `since`, up to and with `up_to`."""
    found = db.execute(_SCALARS, (arm, name, since, up_to)).fetchall()
    data = b"".join(row[1] for row in found)
    if len(data) != 8 * n_seeds * len(found):
        raise sqlite3.DatabaseError(f"{name} has rows of the wrong length")
    return _integers(row[0] for row in found), np.frombuffer(data, dtype="<f8").reshape(len(found), n_seeds)


def array(db: sqlite3.Connection, arm: int, name: str, step: int) -> np.ndarray | None:
    """The array called `name` at `step`, or None."""
    row = db.execute(_ARRAY, (arm, name, step)).fetchone()
    return None if row is None else _array(name, *row)


def arrays(db: sqlite3.Connection, arm: int, name: str, since: int = -1) -> tuple[np.ndarray, np.ndarray]:
    """(steps (n,), values (n, *shape)) of the arrays called `name` after `since`; (0,) and (0,) if none."""
    found = db.execute(_ARRAYS, (arm, name, since)).fetchall()
    steps = _integers(row[0] for row in found)
    if not found:
        return steps, np.zeros(0)
    if len({row[1:3] for row in found}) > 1:
        raise sqlite3.DatabaseError(f"{name} changes its shape between steps")
    _, dtype, shape, _ = found[0]
    whole = json.dumps([len(found), *_json(shape, name)])
    return steps, _array(name, dtype, whole, b"".join(row[3] for row in found))


def snapshot_meta(db: sqlite3.Connection, arm: int, name: str, step: int) -> Any:
    """The JSON value stored at `step` under `name`, or None."""
    row = db.execute(_ARRAY, (arm, name, step)).fetchone()
    return None if row is None else _json(row[2], name)


def snapshot_steps(
    db: sqlite3.Connection, arm: int, name: str, since: int = -1, up_to: int = LAST
) -> np.ndarray:
    """The steps after `since` with an array called `name`, or with any below it where it ends in a slash."""
    found = names(db, "snapshots", arm, name) if name.endswith("/") else [name]
    steps = [
        _integers(step for (step,) in db.execute(_STEPS, (arm, each, since, up_to)).fetchall())
        for each in found
    ]
    return np.unique(np.concatenate([np.zeros(0, np.int64), *steps]))


def events(db: sqlite3.Connection, after: int, since: int = -1, up_to: int = LAST) -> list[tuple[Any, ...]]:
    """Rows (id, step, arm, seed, kind, detail) of events with an id above `after`, in order of step."""
    return db.execute(_EVENTS, (after, since, up_to)).fetchall()


def _integers(values: Iterable[int]) -> np.ndarray:
    return np.array(list(values), dtype=np.int64)


def _json(text: str | bytes, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError, TypeError) as fault:
        raise sqlite3.DatabaseError(f"{name} is no JSON") from fault


def _array(name: str, dtype: str, shape: str, data: bytes) -> np.ndarray:
    try:
        return np.frombuffer(data, dtype=np.dtype(dtype)).reshape(json.loads(shape))
    except (ValueError, TypeError) as fault:
        raise sqlite3.DatabaseError(f"{name} is {len(data)} bytes, not {dtype} {shape}") from fault
