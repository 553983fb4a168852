"""A study's file: several experiments that differ in a few settings, and the runs that they became."""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import InvalidPlain, RunUnavailable
from sandbox.store.described import LATEST
from sandbox.store.folder import STUDIES, plain_text, run_path, runs_root, write_whole
from sandbox.store.plain_shapes import is_count, is_text, is_whole, list_of, table, within
from sandbox.store.schema import named_faults

SCHEMA = 1
MOST_STEPS, MOST_COST = 2**31, 1e30
COSTS = ("bytes", "storage", "torch")
LONGEST_NAME = 40
"""Characters of a name within the ids of its runs, which may have 64 and end in two hashes."""


_EXPERIMENT = {
    "steps": within(1, MOST_STEPS),
    "arms": list_of(table({"name": is_text})),
    "seeds": list_of(is_whole),
    "task": table({"kind": is_text}),
    "model": table({"kind": is_text}),
}
_POINT = table({
    "run": is_text, "values": table({}), "plain": table(_EXPERIMENT), "state": is_text, "step": is_count,
    "cost": table({"flops": within(0.0, MOST_COST)}, dict.fromkeys(COSTS, within(0.0, MOST_COST))),
})  # fmt: skip
_HEAD = table({
    **dict.fromkeys(("id", "name", "owner", "device"), is_text), "created": within(0.0, LATEST),
    "keys": list_of(is_text),
})  # fmt: skip
"""Of what kind the parts of a study's file have to be."""


@dataclass(frozen=True)
class StudyPoint:
    """One experiment of a study and the run that it is."""

    run: str
    """Id of the run; it follows from the experiment, so that the same point is the same run."""
    values: dict[str, Any]
    """What is set here and elsewhere otherwise, by dotted key of the plain form."""
    plain: dict[str, Any]
    """The experiment, complete."""
    cost: dict[str, float]
    """As `sandbox.experiment.cost` estimates it: flops, bytes, storage, and torch, its share of the flops."""
    state: str = "new"
    """What was last known of the run, for a copy of the file that is far from its runs."""
    step: int = 0


@dataclass(frozen=True)
class Study:
    """A study as its file holds it."""

    id: str
    name: str
    owner: str
    device: str
    created: float
    keys: tuple[str, ...]
    """The dotted keys that differ between points, in the order in which they were written."""
    points: tuple[StudyPoint, ...]

    @property
    def run_ids(self) -> list[str]:
        """The run of each point."""
        return [point.run for point in self.points]


def study_id(name: str, owner: str) -> str:
    """The id of the study that `owner` calls `name`; InvalidPlain for a name without a letter or digit.

    Names that are spelled alike in an id, such as "a b" and "a-b", and equal names of two owners are studies
    of their own: its last part is of the whole name and the owner.
    """
    found = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST_NAME].strip("-")
    if not found:
        raise InvalidPlain(f"The study's name is {name[:80]!r}; give it a letter or a digit.")
    return f"{found}-{blake2b(plain_text([name, owner]).encode(), digest_size=3).hexdigest()}"


def point_id(study: str, plain: Mapping[str, Any]) -> str:
    """The id of the run that `plain` becomes in a study: the same experiment is never run twice."""
    return f"{study}-{blake2b(plain_text(plain).encode(), digest_size=5).hexdigest()}"


def study_path(found: str, root: Path | None = None) -> Path:
    """The file of the study called `found`; RunUnavailable where that is no id."""
    return run_path(found, (root or runs_root()) / STUDIES).with_suffix(".json")


def write_study(study: Study, root: Path | None = None) -> Path:
    """Write the study's file, whole or not at all."""
    path = study_path(study.id, root)
    with named_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({"schema": SCHEMA, **asdict(study)}, indent=1, ensure_ascii=False).encode())
    return path


def read_study(found: str, root: Path | None = None) -> Study:
    """The study called `found`; RunUnavailable, naming the file, where there is none or it is damaged."""
    path = study_path(found, root)
    if not path.is_file():
        raise RunUnavailable(f"There is no study {found!r} here; `python -m sandbox sweep FILE` makes one.")
    with named_faults(path):
        text = path.read_bytes()
    try:
        plain = json.loads(text)
        if plain["schema"] != SCHEMA:
            raise ValueError(f"schema {plain['schema']!r}, and this version reads {SCHEMA}")
        points = tuple(_point(point) for point in plain["points"])
        if not _HEAD(plain):
            raise ValueError("a name that is no text, or no time of its start")
        return Study(
            plain["id"], plain["name"], plain["owner"], plain["device"], float(plain["created"]),
            tuple(plain["keys"]), points,
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise RunUnavailable(f"{path} is no study ({fault}); restore it, or start it again.") from fault


def _point(plain: dict[str, Any]) -> StudyPoint:
    if not _POINT(plain):
        raise ValueError("a point without its run, values, experiment or cost")
    point = StudyPoint(**{f.name: plain[f.name] for f in fields(StudyPoint)})
    run_path(point.run)
    return point


def studies(root: Path | None = None) -> list[Study]:
    """Every readable study, the newest first."""
    found = []
    for path in ((root or runs_root()) / STUDIES).glob("*.json"):
        try:
            found.append(read_study(path.stem, root))
        except RunUnavailable:
            continue  # its own page says what is wrong with it
    return sorted(found, key=lambda study: -study.created)


def new_study(
    name: str, owner: str, device: str, keys: tuple[str, ...], points: tuple[StudyPoint, ...]
) -> Study:
    """A study of today."""
    return Study(study_id(name, owner), name, owner, device, time.time(), keys, points)
