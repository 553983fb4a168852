"""Reading leaves no trace, works beside a writer and after its death, and names what is damaged."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.foundations.errors import RunUnavailable
from sandbox.foundations.readings import PerHead
from sandbox.store import RunWriter, open_run

ARM = "standard"


def contents(folder: Path) -> dict[str, str]:
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in folder.iterdir() if f.is_file()}


def record(writer: RunWriter, first: int, last: int) -> None:
    """Rows of `first` to `last`, each holding its own step, so that a torn one shows."""
    for step in range(first, last + 1):
        writer.scalars(0, "loss", [step], np.full((1, 3), float(step)))
        writer.reading(
            step,
            0,
            "attention entropy",
            PerHead(columns={"mean": np.full((3, 1, 2), float(step))}, unit="nats"),
        )
    writer.status("running", last, last / 10)
    writer.commit()


def crashed(folder: Path, plain: dict[str, Any]) -> Path:
    """A run of 20 steps in `folder` whose writer was killed with -9 after its commit."""
    script = (
        "import sys, json, os, signal, numpy as np; from pathlib import Path\n"
        "from sandbox.store import RunWriter\n"
        "w = RunWriter.create(Path(sys.argv[1]), json.loads(sys.argv[2]))\n"
        "w.scalars(0, 'loss', range(1, 21), np.tile(np.arange(1.0, 21.0)[:, None], 3)); w.commit()\n"
        "w.scalars(0, 'loss', [21], np.ones((1, 3)))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(folder), json.dumps(plain)], check=False)
    assert done.returncode == -9
    return folder


def test_since_brings_what_is_new_and_nothing_else(writer: RunWriter) -> None:
    record(writer, 1, 30)
    run = open_run(writer.path)
    first = run.since(-1, up_to=10)
    assert (first.step, first.status["step"]) == (10, 30)
    record(writer, 31, 32)
    writer.event(32, "threshold", arm=ARM, seed=5)
    writer.commit()
    new = run.since(30)
    assert (new.since, new.step) == (30, 32)
    assert list(new.scalars) == [(ARM, "loss")]
    assert new.scalars[ARM, "loss"][0].tolist() == [31, 32]
    assert new.scalars[ARM, "loss"][1].tolist() == [[31.0] * 3, [32.0] * 3]
    assert new.readings[ARM, "attention entropy"].tolist() == [31, 32]
    assert [e.kind for e in new.events] == ["threshold"]
    nothing = run.since(32)
    assert (nothing.step, nothing.scalars, nothing.readings, nothing.events) == (32, {}, {}, ())


def test_since_walks_over_new_rows_alone(writer: RunWriter) -> None:
    for arm in range(2):
        for name in ("loss", "test_loss"):
            writer.scalars(arm, name, np.arange(16_000), np.zeros((16_000, 3)))
    writer.commit()
    run, work = open_run(writer.path), []

    def instructions(since: int) -> int:
        work.clear()
        run.since(since)
        return len(work)

    run._database.read(lambda db: db.set_progress_handler(lambda: work.append(1), 10))
    assert instructions(15_990) < instructions(-1) / 200


def test_a_finished_run_is_read_without_touching_its_folder(runs_folder: Path, plain: dict[str, Any]) -> None:
    with RunWriter.create(runs_folder / "a", plain) as writer:
        record(writer, 1, 5)
    before = contents(runs_folder / "a")
    assert not {name for name in before if name.endswith(("-wal", "-shm"))}
    with open_run(runs_folder / "a") as run:
        assert len(run.group_curve("loss", ARM)[0]) == 5
    assert contents(runs_folder / "a") == before


def test_a_copy_of_a_crashed_run_is_read_whole_without_touching_it(
    tmp_path: Path, plain: dict[str, Any]
) -> None:
    folder = crashed(tmp_path / "a", plain)
    assert open_run(folder).group_curve("loss", ARM)[0].tolist() == list(range(1, 21))
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*-shm", "lock"))
    before = contents(copy)
    with open_run(copy) as run:
        steps, values = run.group_curve("loss", ARM)
        assert steps.tolist() == list(range(1, 21))
        assert values[:, 2].tolist() == [float(step) for step in range(1, 21)]
    assert contents(copy) == before


@pytest.mark.parametrize("crash", [True, False])
def test_a_folder_that_may_not_be_written_can_be_read(
    tmp_path: Path, plain: dict[str, Any], crash: bool
) -> None:
    folder = tmp_path / "a"
    if crash:
        crashed(folder, plain)
    else:
        with RunWriter.create(folder, plain) as writer:
            writer.scalars(0, "loss", range(1, 21), np.ones((20, 3)))
    script = (
        "import os, sys; from pathlib import Path\n"
        "import sandbox.store\n"
        "os.getuid() or os.setuid(65534)\n"
        "print(len(sandbox.store.open_run(Path(sys.argv[1])).group_curve('loss', 'standard')[0]))"
    )
    for above in (folder, *folder.parents):
        if (mode := above.stat().st_mode & 0o777) & 0o005 != 0o005:
            above.chmod(mode | 0o055)
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=False
    )
    folder.chmod(0o755)
    assert (done.stdout, done.stderr) == ("20\n", "")


def test_an_open_run_follows_a_writer_that_comes_and_goes(runs_folder: Path, plain: dict[str, Any]) -> None:
    RunWriter.create(runs_folder / "a", plain).close()
    run = open_run(runs_folder / "a")
    for last in (3, 6, 9):
        with RunWriter.resume(runs_folder / "a", plain) as writer:
            record(writer, last - 2, last)
            assert run.group_curve("loss", ARM)[0].tolist() == list(range(1, last + 1))
        assert run.group_curve("loss", ARM)[0].tolist() == list(range(1, last + 1))
    run.close()


def test_readers_in_threads_see_whole_commits_while_a_writer_writes(writer: RunWriter) -> None:
    record(writer, 1, 1)
    run, over, faults = open_run(writer.path), threading.Event(), []

    def look() -> None:
        while not over.is_set():
            seen = run.since(-1)
            steps, values = seen.scalars[ARM, "loss"]
            whole = (
                steps.tolist() == list(range(1, seen.step + 1))
                and seen.step % 10 == 1
                and seen.readings[ARM, "attention entropy"].tolist() == steps.tolist()
                and (values == steps[:, None]).all()
            )
            if not whole:
                faults.append(seen.step)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for first in range(2, 302, 10):
        record(writer, first, first + 9)
    over.set()
    for thread in threads:
        thread.join()
    assert faults == []
    assert run.since(-1).step == 301


def damage_nothing(folder: Path) -> None:
    shutil.rmtree(folder)


def damage_experiment(folder: Path) -> None:
    (folder / "experiment.json").write_text('{"arms": [')


def damage_kind(folder: Path) -> None:
    (folder / "experiment.json").write_text("[1, 2]")


def damage_pair(folder: Path) -> None:
    plain = json.loads((folder / "experiment.json").read_text())
    (folder / "experiment.json").write_text(json.dumps(plain | {"steps": 9}))


def damage_header(folder: Path) -> None:
    (folder / "run.sqlite").write_bytes(b"not a database" * 1000)


def damage_length(folder: Path) -> None:
    os.truncate(folder / "run.sqlite", 5000)


def damage_emptied(folder: Path) -> None:
    os.truncate(folder / "run.sqlite", 0)


def damage_missing(folder: Path) -> None:
    (folder / "run.sqlite").unlink()


def damage_foreign(folder: Path) -> None:
    (folder / "run.sqlite").unlink()
    with sqlite3.connect(folder / "run.sqlite") as foreign:
        foreign.execute("CREATE TABLE songs(title TEXT)")
    foreign.close()


def damage_newer(folder: Path) -> None:
    with sqlite3.connect(folder / "run.sqlite") as newer:
        newer.execute("UPDATE meta SET value = '3' WHERE key = 'schema'")
    newer.close()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (damage_nothing, "no run folder"),
        (damage_experiment, r"experiment\.json is damaged"),
        (damage_kind, r"experiment\.json describes no experiment"),
        (damage_pair, r"experiment\.json is not the experiment that run\.sqlite"),
        (damage_header, r"run\.sqlite cannot be used: file is not a database"),
        (damage_length, r"run\.sqlite cannot be used: database disk image is malformed"),
        (damage_emptied, r"run\.sqlite is an empty database; nothing was recorded"),
        (damage_missing, r"run\.sqlite is missing"),
        (damage_foreign, r"run\.sqlite is a foreign SQLite file with the tables 'songs'"),
        (damage_newer, r"run\.sqlite has schema 3 and this version reads up to 2"),
    ],
)
def test_a_damaged_folder_is_named_and_left_as_it_is(
    runs_folder: Path, plain: dict[str, Any], damage: Any, says: str
) -> None:
    folder = runs_folder / "a"
    with RunWriter.create(folder, plain) as writer:
        record(writer, 1, 60)
    damage(folder)
    before = contents(folder) if folder.exists() else {}
    with pytest.raises(RunUnavailable, match=says) as fault:
        open_run(folder)
    assert str(folder) in str(fault.value)
    assert (contents(folder) if folder.exists() else {}) == before


def test_damage_that_shows_only_later_is_named_too(runs_folder: Path, plain: dict[str, Any]) -> None:
    with RunWriter.create(runs_folder / "a", plain) as writer:
        record(writer, 1, 60)
        writer._connection.execute("UPDATE scalars SET data = x'00' WHERE step = 7")
        writer._connection.execute("UPDATE snapshots SET shape = '[3]' WHERE step = 7")
    run = open_run(runs_folder / "a")
    with pytest.raises(
        RunUnavailable, match=r"run\.sqlite cannot be used: loss has rows of the wrong length"
    ):
        run.group_curve("loss", ARM)
    with pytest.raises(RunUnavailable, match=r"attention entropy/mean is 48 bytes, not <f8 \[3\]"):
        run.reading("attention entropy", 7, ARM)
    with pytest.raises(RunUnavailable, match="changes its shape between steps"):
        run.reading_column("attention entropy", "mean", ARM)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("status", '"done"'),
        ("status", '{"state": "done"}'),
        ("status", '{"state": "out", "step": 1, "seconds": 0.0, "reason": ""}'),
        ("status", '{"state": ["done"], "step": 1, "seconds": 0.0, "reason": ""}'),
        ("status", '{"state": "done", "step": "1", "seconds": 0.0, "reason": ""}'),
        ("status", '{"state": "done", "step": 1, "seconds": NaN, "reason": ""}'),
        ("status", '{"state": "done", "step": 1, "seconds": 0.0, "reason": "", "arm_seconds": {"a": "x"}}'),
        ("status", "[" * 100_000),
        ("created", "1e300"),
        ("created", '"now"'),
    ],
)
def test_a_status_that_is_none_is_refused_in_one_sentence(writer: RunWriter, key: str, value: str) -> None:
    with open_run(writer.path) as run:
        with closing(sqlite3.connect(writer.path / "run.sqlite")) as database, database:
            database.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))
        with pytest.raises(RunUnavailable, match=r"run\.sqlite"):
            getattr(run, key)
    with pytest.raises(RunUnavailable, match=r"run\.sqlite"):
        open_run(writer.path)
