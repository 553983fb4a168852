"""Whatever ends a writer, every committed row stays, and resuming neither loses nor doubles one."""

import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.foundations.errors import RunUnavailable
from sandbox.store import RunWriter, StorageFull, open_run
from sandbox.store.checkpoint import checkpoint_files

TRAINER = """
import json, sys
from pathlib import Path
import numpy as np
from sandbox.store import RunWriter

# Each number is a function of arm, step and seed, and the state carries their sum, as weights would.
folder, plain, last = Path(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])
with RunWriter.open(folder, plain) as writer:
    found = writer.latest_checkpoint()
    step, total = (found[0], found[1]["total"]) if found else (0, np.zeros((2, 3)))
    print("resumed", step, flush=True)
    while step < last:
        step += 1
        total = total + np.sin(step * np.arange(1.0, 7.0)).reshape(2, 3)
        for arm in range(2):
            writer.scalars(arm, "loss", [step], total[arm : arm + 1])
            writer.weights(step, arm, total[arm][:, None])
        if step % 5 == 0:
            writer.event(step, "mark", str(step), arm=0, seed=5)
        if step % 3 == 0:
            writer.status("running", step, 0.0)
            writer.commit()
            print("committed", step, flush=True)
        if step % 20 == 0:
            writer.checkpoint(step, {"total": total})
    writer.status("done", step, 0.0)
"""


def trainer(folder: Path, plain: dict[str, Any], last: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", TRAINER, str(folder), json.dumps(plain), str(last)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def everything(folder: Path) -> list[Any]:
    with open_run(folder) as run:
        tables = ("scalars", "snapshots", "events")
        kept = "step, arm, seed, kind, detail"  # an event's id tells only the order of arrival
        return [
            run._database.read(
                lambda db, t=table: db.execute(
                    f"SELECT {kept if t == 'events' else '*'} FROM {t} ORDER BY 1, 2, 3"
                ).fetchall()
            )
            for table in tables
        ]


@pytest.mark.slow
def test_killed_again_and_again_a_run_ends_as_if_nothing_had_happened(
    tmp_path: Path, plain: dict[str, Any]
) -> None:
    chance, stored = random.Random(11), 0
    for kill in range(6):
        process = trainer(tmp_path / "killed", plain, 10**9)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.15))
        process.send_signal(signal.SIGKILL)
        said = re.findall(r"committed (\d+)\n", process.communicate()[0])
        with open_run(tmp_path / "killed") as run:
            steps, _ = run.group_curve("loss", plain["arms"][1]["name"])
            assert steps.tolist() == list(range(1, len(steps) + 1)), f"kill {kill}"
            assert len(steps) >= max(stored, int(said[-1]) if said else 0), f"kill {kill}"
            assert run.status["step"] <= len(steps)
            stored = len(steps)
    last = (stored // 20 + 2) * 20
    for folder in ("killed", "whole"):
        process = trainer(tmp_path / folder, plain, last)
        process.communicate()
        assert process.returncode == 0
    assert stored > 0
    assert everything(tmp_path / "killed") == everything(tmp_path / "whole")
    assert [s for s, _ in checkpoint_files(tmp_path / "killed")][-2:] == [last - 20, last]
    assert open_run(tmp_path / "killed").status["state"] == "done"


def test_a_full_database_keeps_the_rows_for_the_next_commit(writer: RunWriter) -> None:
    writer.scalars(0, "loss", range(10), np.ones((10, 3)))
    writer.commit()
    pages = writer._connection.execute("PRAGMA page_count").fetchone()[0]
    writer._connection.execute(f"PRAGMA max_page_count = {pages + 1}")
    writer.weights(10, 0, np.full((3, 10_000), 7.0))
    writer.scalars(0, "loss", [10], np.full((1, 3), 7.0))
    for _ in range(2):
        with pytest.raises(
            StorageFull, match=r"run\.sqlite cannot grow: the disk is full .* free some space"
        ):
            writer.commit()
    run = open_run(writer.path)
    assert run.group_curve("loss", "standard")[0].tolist() == list(range(10))
    writer._connection.execute("PRAGMA max_page_count = 1000000")
    writer.commit()
    assert run.group_curve("loss", "standard")[0].tolist() == list(range(11))
    assert (run.weights(10, "standard") == 7.0).all()


def test_a_file_that_may_not_grow_pauses_and_goes_on(tmp_path: Path, plain: dict[str, Any]) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))

    script = """
import json, resource, sys
from pathlib import Path
import numpy as np
from sandbox.store import RunWriter, StorageFull

with RunWriter.create(Path(sys.argv[1]), json.loads(sys.argv[2])) as writer:
    writer.checkpoint(1, {"small": np.zeros(10)})
    said = []
    for step in range(1, 60):
        writer.weights(step, 0, np.full((3, 1000), float(step)))
        try:
            writer.commit()
        except StorageFull:
            said.append("rows")
            break
    try:
        writer.checkpoint(60, {"large": np.random.default_rng(0).random(100_000)})
    except StorageFull:
        said.append("checkpoint")
    assert said == ["rows", "checkpoint"], said
    assert writer.latest_checkpoint()[0] == 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    writer.commit()
    print(step)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "a"), json.dumps(plain)],
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    last = int(done.stdout)
    run = open_run(tmp_path / "a")
    assert run.weight_steps("standard").tolist() == list(range(1, last + 1))
    assert (run.weights(last, "standard") == last).all()
    assert sorted(f.suffix for f in (tmp_path / "a").iterdir() if f.suffix == ".part") == []


def test_the_lock_dies_with_its_process(tmp_path: Path, plain: dict[str, Any]) -> None:
    process = trainer(tmp_path, plain, 10**9)
    assert process.stdout is not None
    process.stdout.readline()
    with pytest.raises(RunUnavailable, match=f"process {process.pid}"):
        RunWriter.resume(tmp_path, plain)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    RunWriter.resume(tmp_path, plain).close()


def test_a_failed_commit_leaves_no_transaction_behind(writer: RunWriter) -> None:
    writer.scalars(0, "loss", [1], np.ones((1, 3)))
    writer._pending.append(("INSERT INTO nowhere VALUES(?)", (1,)))
    with pytest.raises(RunUnavailable, match="no such table: nowhere"):
        writer.commit()
    assert not writer._connection.in_transaction
    writer._pending.pop()
    writer.commit()
    assert len(open_run(writer.path).group_curve("loss", "standard")[0]) == 1
