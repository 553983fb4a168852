"""A run of an earlier format is read without a byte of it changed; only who trains it on brings it up."""

import hashlib
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.store import RunWriter, open_run
from sandbox.store.budget import thin_folder
from sandbox.store.check import check_folder
from sandbox.store.migrations import HISTORY, STEPS
from sandbox.store.schema import SCHEMA
from sandbox.store.summary import summarize


@pytest.fixture
def old(tmp_path: Path, plain: dict[str, Any]) -> Path:
    """A run as the first version left it: schema 1, without a table of late readings."""
    folder = tmp_path / "old"
    with RunWriter.create(folder, plain) as writer:
        for step in range(20):
            for arm in range(2):
                writer.scalars(arm, "loss", [step], np.full((1, 3), 0.5 * step))
                writer.scalars(arm, "test_accuracy", [step], np.full((1, 3), 0.5))
                writer.weights(step, arm, np.full((3, 4), float(step), np.float32))
        writer.status("done", 19, 2.0)
    with sqlite3.connect(folder / "run.sqlite") as db:
        db.execute("DROP TABLE late")
        db.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
    db.close()
    (folder / "lock").unlink()
    return folder


def bytes_of(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() + str(path.stat().st_mtime_ns)
        for path in sorted(folder.iterdir())
    }


def test_reading_an_old_run_changes_not_a_byte(old: Path) -> None:
    before = bytes_of(old)
    with open_run(old) as run:
        assert run.group_curve("loss", "standard")[0].tolist() == list(range(20))
        assert run.weights(7, "standard")[0, 0] == 7.0
        assert run.since(-1).step == 19 and run.events() == [] and len(summarize(run)) == 2
        assert len(run.to_pandas()) == 20 * 2 * 2 * 3
    assert check_folder(old).sound
    assert thin_folder(old, 12) == 0  # a budget does not reach it either
    assert bytes_of(old) == before


def test_training_on_brings_it_up_and_keeps_every_row(old: Path, plain: dict[str, Any]) -> None:
    with RunWriter.resume(old, plain) as writer:
        writer.scalars(0, "loss", [20], np.full((1, 3), 9.0))
        history = writer.described(HISTORY)
    assert [(change["from"], change["to"]) for change in history] == [(1, SCHEMA)]
    with open_run(old) as run:
        assert run.meta("schema") == SCHEMA
        assert run.group_curve("loss", "standard")[0].tolist() == list(range(21))
        assert run.weight_steps("standard").tolist() == list(range(20))
    assert check_folder(old).sound
    with RunWriter.resume(old, plain) as writer:
        assert writer.described(HISTORY) == history


def test_every_format_has_a_way_to_the_next() -> None:
    assert sorted(STEPS) == list(range(1, SCHEMA))
