"""Twenty damaged run folders: each is said by name, no page falls over it, and what can go on ends right."""

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from sandbox.foundations.errors import SandboxError
from sandbox.runner import gallery
from sandbox.runner.execution import Execution
from sandbox.store import open_run
from sandbox.store.check import check_folder
from sandbox.store.summary import summarize
from tests.faults.conftest import Note
from tests.pages.conftest import Open, open_page, settled
from tests.runner.small import assert_same_numbers, tiny_experiment

__all__ = ["open_page"]
FOLDERS = 20
pytestmark = [pytest.mark.faults, pytest.mark.timeout(1200)]


def damage(folder: Path, number: int, chance: random.Random) -> str:
    """Do one thing to the folder; what it was."""
    files = sorted(path for path in folder.iterdir() if path.suffix in (".sqlite", ".json", ".safetensors"))
    file = files[number % len(files)]
    content = bytearray(file.read_bytes())
    match number % 5:
        case 0:
            file.write_bytes(content[: chance.randrange(len(content))])
            return "cut short"
        case 1:
            for _ in range(max(4, len(content) // 2000)):
                content[chance.randrange(len(content))] ^= chance.randrange(1, 256)
            file.write_bytes(content)
            return "bits flipped"
        case 2:
            file.unlink()
            return "missing"
        case 3:
            file.write_bytes(b"PK\x03\x04 something else entirely" * 40)
            return "foreign"
        case _:
            file.write_bytes(b"")
            return "empty"


def test_no_damage_is_silent_or_ends_a_page(runs_folder: Path, open_page: Open, note: Note) -> None:
    chance, said = random.Random(7), Counter[str]()
    good = runs_folder / "good"
    execution = Execution(tiny_experiment(), good, on_beat=lambda state, step: None)
    execution.run()
    for number in range(FOLDERS):
        folder = runs_folder / f"damaged-{number:02d}"
        shutil.copytree(good, folder)
        said[f"damage: {damage(folder, number, chance)}"] += 1
        checked = check_folder(folder)
        named = [words for _, words in checked.damage] + [words for _, words in checked.notes]
        said["named by check" if named else "found sound by check"] += 1
        try:
            with open_run(folder) as run:
                summarize(run)
                for arm in run.arms:
                    run.weights(int(run.weight_steps(arm)[-1]), arm)
            said["readable"] += 1
        except SandboxError as error:
            assert "\n" not in str(error) and folder.name in str(error), error
            said["refused in a sentence"] += 1
    entries, _ = gallery.entries(30.0)
    assert {entry.id for entry in entries} >= {"good"}
    settled(open_page("gallery"))
    for number in range(FOLDERS):
        settled(open_page("run", run=f"damaged-{number:02d}"))
        try:
            Execution(tiny_experiment(), runs_folder / f"damaged-{number:02d}").run()
        except SandboxError as error:
            assert "\n" not in str(error)
            said["cannot go on, in a sentence"] += 1
            continue
        with open_run(good) as alone, open_run(runs_folder / f"damaged-{number:02d}") as run:
            if check_folder(run.path).sound:
                assert_same_numbers(alone, run)
                said["went on to the same bits"] += 1
            else:
                said["went on, still said to be damaged"] += 1
    with open_run(good) as run:
        assert run.status["state"] == "done"
    note(folders=FOLDERS, pages_that_fell=0, **dict(said))
