"""A check reads everything to its end, changes nothing, and names what is damaged."""

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.cli import main
from sandbox.foundations.errors import RunUnavailable
from sandbox.foundations.readings import PerHead
from sandbox.runner.places import being_written
from sandbox.runner.request_lines import append_line
from sandbox.store import RunWriter
from sandbox.store.check import MOST_FINDINGS, Checked, check_folder
from sandbox.store.folder import plain_text

CHECKPOINT = "checkpoint-000000000050.safetensors"
SNAPSHOTS = "run.sqlite, table snapshots"
CapSys = pytest.CaptureFixture[str]


ENDLESS = """CREATE VIEW events AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
SELECT x AS id, x AS step, 0 AS arm, 0 AS seed, 'nan' AS kind, '' AS detail FROM c"""


@pytest.fixture
def folder(writer: RunWriter) -> Path:
    """A finished run with everything that a run records."""
    writer.scalars(0, "loss", range(300), np.ones((300, 3)))
    writer.scalars(1, "loss", range(300), np.full((300, 3), np.nan))
    for step in range(0, 300, 10):
        reading = PerHead(columns={"mean": np.zeros((3, 1, 2))}, unit="nats")
        writer.reading(step, 0, "attention entropy", reading)
        writer.weights(step, 1, np.ones((3, 40), dtype=np.float32))
    writer.event(9, "nan", arm=1, seed=3)
    writer.checkpoint(50, {"theta": np.arange(30.0)})
    writer.status("done", 299, 3.0)
    writer.close()
    return writer.path


def change(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / "run.sqlite")) as db, db:
        for statement in statements:
            db.execute(statement)


def cut(file: str, length: int) -> Callable[[Path], None]:
    return lambda folder: os.truncate(folder / file, length)


def flip(file: str, at: int) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        content = bytearray((folder / file).read_bytes())
        content[at] ^= 0xFF
        (folder / file).write_bytes(content)

    return act


def gone(file: str) -> Callable[[Path], None]:
    return lambda folder: (folder / file).unlink()


def sql(*statements: str) -> Callable[[Path], None]:
    return lambda folder: change(folder, *statements)


def told(key: str, value: str) -> Callable[[Path], None]:
    return sql(f"INSERT OR REPLACE INTO meta(key, value) VALUES('{key}', '{value}')")


def status(step: str, seconds: str) -> Callable[[Path], None]:
    return told("status", f'{{"state": "done", "step": {step}, "seconds": {seconds}, "reason": ""}}')


def arrays(dtype: str, shape: str, length: int) -> Callable[[Path], None]:
    changed = f"dtype = '{dtype}', shape = '{shape}', data = zeroblob({length})"
    return sql(f"UPDATE snapshots SET {changed} WHERE step = 20 AND name = 'theta'")


def words_of_a_step(text: str) -> Callable[[Path], None]:
    return sql(
        f"INSERT INTO snapshots VALUES(0, 'attention entropy/', 30, 'json', '[]', CAST('{text}' AS BLOB))"
    )


def part(name: str, value: Any) -> Callable[[Path], None]:
    """An experiment with another part, in the file and in the database."""

    def act(folder: Path) -> None:
        text = plain_text(json.loads((folder / "experiment.json").read_text()) | {name: value})
        (folder / "experiment.json").write_text(text)
        told("experiment", text)(folder)

    return act


def foreign(folder: Path) -> None:
    (folder / "run.sqlite").unlink()
    change(folder, "CREATE TABLE songs(title TEXT)")


def test_a_sound_run_is_sound_and_left_as_it_was(folder: Path) -> None:
    before = {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in folder.iterdir()}
    checked = check_folder(folder)
    assert checked.sound and checked.notes == []
    assert checked.counts == {"scalars": 600, "snapshots": 60, "events": 1, "checkpoints": 1}
    assert {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in folder.iterdir()} == before


def test_a_run_that_is_being_written_can_be_checked(writer: RunWriter) -> None:
    writer.scalars(0, "loss", [0, 1], np.ones((2, 3)))
    writer.commit()
    checked = check_folder(writer.path)
    assert checked.sound and checked.counts["scalars"] == 2
    assert [file for file, _ in checked.notes] == ["checkpoint-*.safetensors"]


@pytest.mark.parametrize(
    ("damage", "file", "says"),
    [
        (gone("experiment.json"), "experiment.json", "missing"),
        (cut("experiment.json", 20), "experiment.json", "is damaged"),
        (gone("run.sqlite"), "run.sqlite", "is missing"),
        (cut("run.sqlite", 0), "run.sqlite", "empty database"),
        (cut("run.sqlite", 100), "run.sqlite", "cannot be used"),
        (cut("run.sqlite", 9000), "run.sqlite", "malformed"),
        (flip("run.sqlite", 5), "run.sqlite", "not a database"),
        (foreign, "run.sqlite", "foreign SQLite file with the tables 'songs'"),
        (sql("DROP TABLE scalars"), "run.sqlite", "no such table: scalars"),
        (sql("UPDATE meta SET value = '{' WHERE key = 'status'"), "run.sqlite", "'status' is no JSON"),
        (sql("UPDATE meta SET value = '7' WHERE key = 'schema'"), "run.sqlite", "has schema 7"),
        (sql("UPDATE meta SET value = '{}' WHERE key = 'status'"), "run.sqlite", "not one of a run"),
        (sql("UPDATE meta SET value = '{}' WHERE key = 'experiment'"), "run.sqlite", "another experiment"),
        (sql("UPDATE meta SET value = '[1,{},null]' WHERE key = 'arms'"), "run.sqlite", "list of arms"),
        (sql("UPDATE scalars SET data = x'00' WHERE step = 7"), "run.sqlite, table scalars", "7 holds 1 b"),
        (sql("UPDATE snapshots SET shape = '[3,9]' WHERE step = 20"), SNAPSHOTS, "bytes, not"),
        (sql("UPDATE snapshots SET dtype = 'what' WHERE step = 20"), SNAPSHOTS, "is no array"),
        (sql("UPDATE snapshots SET arm = 9 WHERE step = 20"), SNAPSHOTS, "of arm 9, and"),
        (sql("UPDATE scalars SET arm = 'x' WHERE arm + step = 7"), "run.sqlite, table scalars", "of arm are"),
        (sql("UPDATE scalars SET step = x'00' WHERE step = 7"), "run.sqlite, table scalars", "of step are"),
        (sql("UPDATE snapshots SET shape = x'00' WHERE step = 20"), SNAPSHOTS, "of shape are"),
        (sql("UPDATE events SET arm = 'x'"), "run.sqlite, table events", "1 values of arm are"),
        (sql("DROP TABLE events", ENDLESS), "run.sqlite", "computes 'events'"),
        (sql("ALTER TABLE events ADD COLUMN x AS (zeroblob(step))"), "run.sqlite", "computes 'events'"),
        (sql("UPDATE events SET arm = 5"), "run.sqlite, table events", "event 1 at step 9"),
        (status("1" + 400 * "0", "1"), "run.sqlite", "not one of a run"),
        (status("true", "1"), "run.sqlite", "not one of a run"),
        (status("1", "1" + 400 * "0"), "run.sqlite", "not one of a run"),
        (status("1", "NaN"), "run.sqlite", "not one of a run"),
        (status("1", "1e999"), "run.sqlite", "not one of a run"),
        (status("-1", "1"), "run.sqlite", "not one of a run"),
        (status("1", "-1"), "run.sqlite", "not one of a run"),
        (sql("UPDATE scalars SET step = -9 WHERE step = 7"), "run.sqlite, table scalars", "is at step -9"),
        (sql("UPDATE events SET step = 1 << 40"), "run.sqlite, table events", "which is none of a run"),
        (words_of_a_step("[1]"), SNAPSHOTS, "its words are not those of a reading"),
        (words_of_a_step("{"), SNAPSHOTS, "its words are not those of a reading"),
        (told("notes", '[["a"], 5, "c"]'), "run.sqlite", "'notes' is not a list of sentences"),
        (told("target", '{"curve": ["x"], "value": 1}'), "run.sqlite", "'target' is not a curve"),
        (told("target", '{"curve": "x", "value": "y"}'), "run.sqlite", "'target' is not a curve"),
        (told("lines", '{"accuracy": {"chance": 1e999}}'), "run.sqlite", "'lines' is not finite"),
        (told("lines", '{"loss": [1]}'), "run.sqlite", "'lines' is not finite"),
        (told("lines", "[1]"), "run.sqlite", "'lines' is not finite"),
        (told("task", "5"), "run.sqlite", "'task' is not a table"),
        (arrays("O", "[3]", 24), SNAPSHOTS, "is no array"),
        (arrays("U4", "[3]", 48), SNAPSHOTS, "is no array"),
        (arrays("<M8[s]", "[3, 1]", 24), SNAPSHOTS, "is no array"),
        (arrays("<f4", "[3, -1, -1]", 12), SNAPSHOTS, "is no array"),
        (arrays("<f4", "[3, true]", 12), SNAPSHOTS, "is no array"),
        (arrays("<f4", "[3, 1, 1, 1, 1, 1, 1]", 12), SNAPSHOTS, "is no array"),
        (arrays("<f4", "[3, 0, 9999999999]", 0), SNAPSHOTS, "is no array"),
        (arrays("<f4", "{}", 4), SNAPSHOTS, "is no array"),
        (arrays("<f4", "[3]", 12), SNAPSHOTS, "not one row of weights"),
        (arrays("json", "[3]", 12), SNAPSHOTS, "is no array"),
        (part("model", 5), "experiment.json", "no table as its model but 5"),
        (part("model", {"n_layers": "x"}), "experiment.json", "has 'x' as its model's n_layers"),
        (part("task", None), "experiment.json", "no table as its task but None"),
        (part("fork", [1]), "experiment.json", "no table as its fork but [1]"),
        (part("batch_size", "many"), "experiment.json", "has 'many' as its batch_size"),
        (part("steps", -3), "experiment.json", "describes no experiment"),
        (part("seeds", [0, 0, 1]), "experiment.json", "describes no experiment"),
        (part("arms", [{"name": "a"}, {"name": "a"}]), "experiment.json", "describes no experiment"),
        (part("steps", 10**30), "experiment.json", "describes no experiment"),
        (part("seeds", [10**30, 0, 1]), "experiment.json", "describes no experiment"),
        (cut(CHECKPOINT, 100), CHECKPOINT, "is damaged"),
        (flip(CHECKPOINT, -3), CHECKPOINT, "checksum"),
    ],
)  # fmt: skip
def test_what_is_damaged_is_said_by_name(
    folder: Path, damage: Callable[[Path], None], file: str, says: str
) -> None:
    damage(folder)
    checked = check_folder(folder)
    assert not checked.sound
    assert {found for found, _ in checked.damage} == {file}
    assert says in checked.damage[0][1]


def test_what_a_run_may_record_of_its_data_is_sound(folder: Path) -> None:
    for key, value in {
        "notes": '["a sentence"]', "target": '{"curve": "test_accuracy", "value": 0.9}', "task": "null",
        "lines": '{"accuracy": {"chance": 0.5, "exact": null}, "loss": {}}',
    }.items():  # fmt: skip
        told(key, value)(folder)
    arrays("|b1", "[3, 2]", 6)(folder)
    assert check_folder(folder).damage == []


def test_many_faults_are_counted_instead_of_listed(folder: Path) -> None:
    change(folder, "UPDATE scalars SET data = x'00'")
    faults = [fault for _, fault in check_folder(folder).damage]
    assert len(faults) == MOST_FINDINGS + 1
    assert faults[-1] == f"and {600 - MOST_FINDINGS} faults more"


def test_any_byte_of_the_database_may_be_wrong_without_a_crash(folder: Path) -> None:
    whole = (folder / "run.sqlite").read_bytes()
    rng = np.random.default_rng(0)
    unsound = 0
    for _ in range(40):
        content = bytearray(whole)
        for at in rng.integers(0, len(whole), 30):
            content[at] = int(rng.integers(256))
        (folder / "run.sqlite").write_bytes(content)
        unsound += not check_folder(folder).sound
    assert unsound > 20


def test_half_a_write_is_a_note(folder: Path) -> None:
    (folder / f"{CHECKPOINT}.part").write_bytes(b"half")
    checked = check_folder(folder)
    assert checked.sound
    assert [file for file, _ in checked.notes] == [f"{CHECKPOINT}.part"]


def test_without_a_folder_there_is_nothing_to_check(tmp_path: Path) -> None:
    with pytest.raises(RunUnavailable, match="no run folder"):
        check_folder(tmp_path / "nowhere")


def test_the_command_ends_with_one_where_something_is_damaged(folder: Path, capsys: CapSys) -> None:
    assert main(["check", folder.name]) == 0
    assert capsys.readouterr().out.endswith("sound (600 scalars, 60 snapshots, 1 events, 1 checkpoints)\n")
    (folder / "experiment.json").unlink()
    assert main(["check", folder.name]) == 1
    assert capsys.readouterr().out.startswith("damaged: experiment.json: ")
    assert main(["check", str(folder), "--json"]) == 1
    assert '"sound": false' in capsys.readouterr().out
    assert main(["check", "no-such-run"]) == 2


PIPES = ("labels.json", "experiment.json", "run.sqlite", CHECKPOINT, "start.safetensors", "lock")


def within(seconds: float, act: Callable[[], object]) -> None:
    """Fail where `act` has not come back by then."""
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "it waits for a pipe"


@pytest.mark.parametrize("file", PIPES)
def test_a_pipe_in_a_files_place_is_named_and_never_waited_for(folder: Path, file: str) -> None:
    (folder / file).unlink(missing_ok=True)
    os.mkfifo(folder / file)
    checked: list[Checked] = []
    within(30, lambda: checked.append(check_folder(folder)))
    assert (file == "lock") == checked[0].sound
    assert all(file in name or file in fault for name, fault in checked[0].damage)
    within(30, lambda: being_written(folder))


def test_a_pipe_in_the_place_of_requests_is_refused(folder: Path) -> None:
    os.mkfifo(folder / "questions.jsonl")
    refused: list[str] = []

    def ask() -> None:
        try:
            append_line(folder, "questions.jsonl", {"kind": "sharpness"})
        except RunUnavailable as fault:
            refused.append(str(fault))

    within(30, ask)
    assert "questions.jsonl cannot be written" in refused[0]
