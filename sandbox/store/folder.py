"""A run's folder: its place, its file names, and files that appear whole or not at all."""

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import RunUnavailable
from sandbox.foundations.typed_text import shown
from sandbox.store.forks import is_fork
from sandbox.store.plain_shapes import is_count, is_text, is_whole
from sandbox.store.schema import named_faults

EXPERIMENT = "experiment.json"
DATABASE = "run.sqlite"
LOCK = "lock"

MOST_DEEP = 32
"""Levels of nesting within an experiment that are read; a real one has five."""

PARTS = ("task", "model", "optimizer", "fork")
"""Of an experiment: tables where they are there."""
SIZES = ("n_layers", "n_heads", "d_model")
"""Of a model: whole numbers where they are there."""
PACES = ("batch_size", "evaluate_every")
"""Of an experiment: whole numbers where they are there."""

BESIDE = STUDIES, BALLAST_FILE = "studies", "ballast"
"""What stands beside the runs in their folder: no run may be called so."""

RUN_ID = re.compile(rf"(?!(?:{'|'.join(BESIDE)})\Z)[A-Za-z0-9][A-Za-z0-9_-]{{0,63}}")
"""What an id from a link may look like; nothing else that a person types becomes part of a path."""


def runs_root() -> Path:
    """The folder of all runs: SANDBOX_RUNS, else ./runs; it need not exist yet."""
    return Path(os.environ.get("SANDBOX_RUNS") or "runs").absolute()


def run_path(run_id: str, root: Path | None = None) -> Path:
    """The folder of the run called `run_id` under `root`; RunUnavailable where that is no id or a link."""
    if not RUN_ID.fullmatch(run_id):
        raise RunUnavailable(
            f"{run_id[:80]!r} is not a run's id; ids are letters, digits, dashes and underscores, at most "
            f"64, and neither {STUDIES!r} nor {BALLAST_FILE!r}."
        )
    path = (root or runs_root()) / run_id
    if path.is_symlink():
        raise RunUnavailable(f"{path} is a link to another place; move the run's own folder there.")
    return path


def make_folder(path: Path) -> None:
    """Make the folder of a run; RunUnavailable where that is no run's place."""
    if path.name in BESIDE and path.parent == runs_root():
        raise RunUnavailable(f"{path} holds no run but stands beside them; choose another folder.")
    with named_faults(path):
        path.mkdir(parents=True, exist_ok=True)


def run_folders(root: Path | None = None) -> list[Path]:
    """The folders under `root` that hold an experiment, the youngest experiment first."""
    files = (root or runs_root()).glob(f"*/{EXPERIMENT}")
    found = [f for f in files if not f.parent.is_symlink() and f.parent.name not in BESIDE]
    return [file.parent for _, file in sorted(((_modified(f), f) for f in found), reverse=True)]


def _modified(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:  # deleted since it was listed
        return 0.0


def write_whole(path: Path, content: bytes) -> None:
    """Write `content` so that `path` holds either what it held before or all of it, whatever dies when."""
    part = path.with_name(path.name + ".part")
    with named_faults(path):
        try:
            with open(part, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except OSError:
            part.unlink(missing_ok=True)
            raise
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the new name itself must survive a power cut
        finally:
            os.close(folder)


def read_file(path: Path, most: int = -1) -> bytes:
    """The first `most` bytes of a file, all where that is negative; it never waits.

    Raises FileNotFoundError, and RunUnavailable for what is no file: a pipe would have no end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RunUnavailable(f"{path} is no file; remove it, or put the run's own there.")
        return file.read(most)


def read_experiment(folder: Path) -> dict[str, Any]:
    """The plain form stored in `folder`; RunUnavailable, naming the file, where there is none to read."""
    path = folder / EXPERIMENT
    if not folder.is_dir():
        raise RunUnavailable(f"There is no run folder {folder}; `list` prints those that exist.")
    if not path.is_file():
        raise RunUnavailable(f"{folder} is not a run's folder: {EXPERIMENT} is missing from it.")
    with named_faults(path):
        text = read_file(path)
    try:
        plain = json.loads(text)
        if _deeper_than(plain, MOST_DEEP):
            raise ValueError("tables or lists nested too deeply")
        plain_text(plain).encode()  # what cannot be written again, such as NaN, was not written by a run
    except (ValueError, RecursionError) as fault:
        raise RunUnavailable(f"{path} is damaged ({fault}); restore it from a copy.") from fault
    if not isinstance(plain, dict) or not _describes_arms(plain):
        raise RunUnavailable(f"{path} describes no experiment with arms and seeds; restore it from a copy.")
    for part in PARTS:
        if not isinstance(plain.get(part, {}), dict):
            raise RunUnavailable(
                f"{path} has no table as its {part} but {shown(plain[part])}; restore it from a copy."
            )
    if plain.get("fork") is not None and not is_fork(plain["fork"]):
        raise RunUnavailable(
            f"{path} says that it went on from {shown(plain['fork'])}, which is no fork; restore it from a "
            "copy, or start a new run."
        )
    model = plain.get("model", {})
    for size in SIZES:
        if not is_whole(model.get(size, 1)):
            raise RunUnavailable(
                f"{path} has {shown(model[size])} as its model's {size}; it must be a whole number, restore "
                "the file from a copy."
            )
    for pace in PACES:
        if not is_count(plain.get(pace, 1)):
            raise RunUnavailable(
                f"{path} has {shown(plain[pace])} as its {pace}; it must be a whole number, restore the file "
                "from a copy."
            )
    return plain


def _deeper_than(plain: Any, levels: int) -> bool:
    level = [plain]
    for _ in range(levels):
        level = [
            inner
            for outer in level
            for inner in (
                outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ()
            )
        ]
    return bool(level)


def _describes_arms(plain: dict[str, Any]) -> bool:
    arms, seeds = plain.get("arms"), plain.get("seeds")
    return (
        is_count(plain.get("steps"))
        and isinstance(arms, list)
        and bool(arms)
        and all(isinstance(arm, dict) and is_text(arm.get("name")) for arm in arms)
        and len({arm["name"] for arm in arms}) == len(arms)
        and isinstance(seeds, list)
        and bool(seeds)
        and all(map(is_whole, seeds))
        and len(set(seeds)) == len(seeds)
    )


def plain_text(plain: Any) -> str:
    """One text per value: keys sorted, so that equal experiments are equal texts."""
    return json.dumps(plain, sort_keys=True, ensure_ascii=False, allow_nan=False)


def same_plain(one: Any, other: Any) -> bool:
    """Whether two plain values are the same; a damaged one may hold what no run writes, such as NaN."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
