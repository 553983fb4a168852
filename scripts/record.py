"""Turn a finished run into a small recorded one, for Home to play: `python scripts/record.py RUN NAME`.

Weights and most snapshots are dropped, scalars and events stay; the result lies in assets/recorded/NAME. With
`--teacher ARM` the last weights of that arm stay, for runs that start by weight selection from it.
"""

import argparse
import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np

from sandbox.store import open_run

RECORDED = Path(__file__).resolve().parent.parent / "assets" / "recorded"


PAGE = 1024  # bytes: pictures of some kB waste less of small pages, which saves a sixth of the file


def record(source: Path, name: str, n_snapshots: int, without: list[str], teacher: str = "") -> Path:
    """Write the recorded folder and return it; steps are spread evenly, readings `without` left out."""
    target = RECORDED / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    run = open_run(source)
    run.copy_database(target / "run.sqlite")
    shutil.copy(source / "experiment.json", target)
    steps = sorted(
        {step for arm in run.arms for kind in run.reading_kinds(arm) for step in run.reading_steps(kind, arm)}
    )
    wanted = np.linspace(0, steps[-1], n_snapshots)
    kept = sorted({min(steps, key=lambda step: abs(step - target)) for target in wanted})
    with sqlite3.connect(target / "run.sqlite", isolation_level=None) as database:
        database.execute("PRAGMA journal_mode=DELETE")
        marks = ",".join(map(str, map(int, kept)))
        database.execute(f"DELETE FROM snapshots WHERE name != 'theta' AND step NOT IN ({marks})")
        taught = (run.arms.index(teacher), int(run.weight_steps(teacher)[-1])) if teacher else (-1, -1)
        database.execute("DELETE FROM snapshots WHERE name = 'theta' AND (arm, step) != (?, ?)", taught)
        for kind in without:
            database.execute("DELETE FROM snapshots WHERE name LIKE ? || '/%'", (kind,))
            database.execute("DELETE FROM meta WHERE key LIKE 'reading/%/' || ?", (kind,))
        database.execute(f"PRAGMA page_size={PAGE}")
        database.execute("VACUUM")
    return target


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("name")
    parser.add_argument("--snapshots", type=int, default=60)
    parser.add_argument("--without", action="append", default=[], metavar="KIND", help="a reading to drop")
    parser.add_argument("--teacher", default="", metavar="ARM", help="an arm whose last weights are kept")
    options = parser.parse_args()
    folder = record(options.run, options.name, options.snapshots, options.without, options.teacher)
    size = (folder / "run.sqlite").stat().st_size
    print(json.dumps({"folder": str(folder), "bytes": size}))
