"""Budget: fewer snapshots of a run for less room; scalars and events are never touched."""

import json
import math
import sqlite3
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from sandbox.foundations.errors import RunUnavailable
from sandbox.store.folder import DATABASE, read_experiment
from sandbox.store.run_reader import open_run
from sandbox.store.run_writer import RunWriter
from sandbox.store.schema import SCHEMA, named_faults

THINNED = "thinned"
"""Under this key a run says how many of its snapshots were given up, and up to which size."""

LEAST_KEPT = 12
"""Snapshots that a run keeps whatever the budget."""

AIM = 0.8
"""Share of the budget that is left after thinning, so that it is not needed again at once."""

_SIZES = "SELECT step, sum(length(data)) FROM snapshots GROUP BY step"
_TOTAL = "SELECT coalesce(sum(length(data)), 0) FROM snapshots"


def kept_steps(sizes: Mapping[int, int], most: float, marked: Collection[int] = ()) -> list[int]:
    """Which of the steps in `sizes` (bytes by step) stay so that together they take at most `most` bytes.

    The first and the last stay, and the `marked` ones as long as others can go; of the rest the one goes
    whose neighbours stand closest in log(1 + step), so that the beginning, where much happens, stays dense.
    At least LEAST_KEPT stay.
    """
    kept, total = sorted(sizes), sum(sizes.values())
    while total > most and len(kept) > LEAST_KEPT:
        inner = range(1, len(kept) - 1)
        free = [i for i in inner if kept[i] not in marked] or list(inner)
        gone = min(free, key=lambda i: (math.log1p(kept[i + 1]) - math.log1p(kept[i - 1]), -i))
        total -= sizes[kept.pop(gone)]
    return kept


def snapshot_bytes(writer: RunWriter) -> int:
    """Bytes of weights and readings that the run has stored."""
    with named_faults(writer.path / DATABASE):
        (found,) = writer.connection.execute(_TOTAL).fetchone()
    return int(found)


def thin_snapshots(writer: RunWriter, most: float) -> list[int]:
    """Give up snapshots until they take well under `most` bytes; the steps that went, ascending.

    What is said of the run under `thinned` follows with it. Raises StorageFull: on a full disk even deleting
    needs room.
    """
    db = writer.connection
    with named_faults(writer.path / DATABASE):
        sizes = {int(step): int(n_bytes) for step, n_bytes in db.execute(_SIZES)}
        marked = {int(step) for (step,) in db.execute("SELECT DISTINCT step FROM events")}
        kept = set(kept_steps(sizes, AIM * most, marked))
        gone = sorted(sizes.keys() - kept)
        if not gone:
            return []
        before = writer.described(THINNED) or {"steps": 0}
        said = {"steps": before["steps"] + len(gone), "bytes": most}
        db.execute("BEGIN IMMEDIATE")
        try:
            db.executemany("DELETE FROM snapshots WHERE step = ?", ((step,) for step in gone))
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
    writer.describe(**{THINNED: said})
    return gone


def thin_folder(folder: Path, keep: int) -> int:
    """Thin the run in `folder`, which is over, to about `keep` snapshots; the bytes that this gave free.

    0 for a run of an earlier format, which is left as it is. Raises RunUnavailable while it is written.
    """
    with open_run(folder) as run:
        if run.meta("schema") != SCHEMA or run.status["state"] not in ("done", "stopped", "failed"):
            return 0
    before = (folder / DATABASE).stat().st_size
    with RunWriter.open(folder, read_experiment(folder)) as writer:
        sizes = [n_bytes for _, n_bytes in writer.connection.execute(_SIZES)]
        if len(sizes) <= keep or not thin_snapshots(writer, keep * (sum(sizes) / len(sizes)) / AIM):
            return 0
        writer.commit()
        with suppress(sqlite3.Error):  # without room for a copy the pages stay in the file, to be used again
            writer.connection.execute("VACUUM")
    return max(0, before - (folder / DATABASE).stat().st_size)


def thinned(folder: Path) -> int:
    """How many snapshots the run has given up."""
    try:
        with open_run(folder) as run:
            return int((run.meta(THINNED) or {}).get("steps", 0))
    except (RunUnavailable, json.JSONDecodeError):
        return 0
