"""A sweep: a grid or a list over the settings of one experiment, each point an experiment of its own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from sandbox.experiment.experiment import Experiment, load, read_plain
from sandbox.experiment.override import override
from sandbox.experiment.presets import preset
from sandbox.foundations.errors import InvalidPlain, SandboxError
from sandbox.foundations.typed_text import shown

SCHEMA = 1
MAX_POINTS = 256
MAX_KEYS = 64
"""Settings that one table of a sweep names; an experiment has fewer."""
BEYOND_COUNTING = 10**9
KNOWN = ("schema", "name", "preset", "experiment", "arms", "seeds", "set", "grid", "points")
"""The keys of a sweep's plain form (docs/sweeps.md)."""


@dataclass(frozen=True)
class Point:
    """One experiment, and what is set in it by dotted key."""

    values: dict[str, Any]
    experiment: Experiment

    @property
    def words(self) -> str:
        """`model.d_model = 16, steps = 300`."""
        words = (
            f"{key} = {value if isinstance(value, str) else shown(value)}"
            for key, value in self.values.items()
        )
        return ", ".join(words) or "the experiment itself"


@dataclass(frozen=True)
class Sweep:
    """A named set of points; a sweep that exists is valid in each of them."""

    name: str
    keys: tuple[str, ...]
    points: tuple[Point, ...]


def load_sweep(source: str | Path | Mapping[str, Any]) -> Sweep:
    """Read a sweep from its plain form, or from a TOML or JSON file.

    Raises InvalidPlain for what is no sweep, and for a point that is no experiment the sentence that says so.
    """
    if isinstance(source, Mapping):
        return _sweep(dict(source), "sweep")
    path = Path(source)
    plain = read_plain(path, "a sweep")
    if not isinstance(plain, dict):
        raise InvalidPlain(f"{path.name} holds {shown(plain)}; a sweep is a table.")
    return _sweep(plain, path.stem)


def _sweep(plain: dict[str, Any], stem: str) -> Sweep:
    unknown = [key for key in plain if key not in KNOWN]
    if unknown:
        raise InvalidPlain(f"A sweep has no {str(unknown[0])[:80]!r}; it has {', '.join(KNOWN)}.")
    if plain.get("schema", SCHEMA) != SCHEMA:
        raise InvalidPlain(f"The sweep has schema {shown(plain['schema'], 40)}; this version reads {SCHEMA}.")
    name = plain.get("name", stem)
    if not isinstance(name, str) or not 1 <= len(name) <= 80:
        raise InvalidPlain(f"The sweep's name is {shown(name)}; give 1 to 80 characters of text.")
    base = _base(plain)
    found = list(_values(plain))
    keys = tuple(dict.fromkeys(key for values in found for key in values))
    points, seen = [], []
    for number, values in enumerate(found, 1):
        changed = base
        try:
            for key, value in values.items():
                changed = override(changed, key, value)
            point = Point(values, load(changed))
        except SandboxError as error:
            raise type(error)(f"Point {number} ({Point(values, load(base)).words}): {error}") from error
        if point.experiment in seen:
            raise InvalidPlain(f"Point {number} ({point.words}) is the same experiment as an earlier one.")
        seen.append(point.experiment)
        points.append(point)
    return Sweep(name, keys, tuple(points))


def _base(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The experiment that all points begin with, its defaults written out."""
    if "preset" in plain and "experiment" in plain:
        raise InvalidPlain("The sweep has both a preset and an experiment; start from one of them.")
    start = plain.get("experiment", {})
    if "preset" in plain:
        start = preset(str(plain["preset"])).experiment
    if not isinstance(start, Mapping):
        raise InvalidPlain(f"experiment is {shown(start)}; it must be a table of settings.")
    base = dict(start)
    if "arms" in plain:
        base["arms"] = plain["arms"]
    if "seeds" in plain:
        seeds = plain["seeds"]
        is_count = isinstance(seeds, int) and not isinstance(seeds, bool) and 1 <= seeds <= 128
        base["seeds"] = list(range(seeds)) if is_count else seeds
    base = load(base).to_plain()
    for key, value in _settings("set", _table(plain, "set")).items():
        base = override(base, key, value)
    return base


def _values(plain: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What each point sets: every combination of the grid, or the points as they are listed."""
    if ("grid" in plain) == ("points" in plain):
        raise InvalidPlain("A sweep has a [grid] of lists or [[points]], and one of the two.")
    if "points" in plain:
        listed = plain["points"]
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed) or not listed:
            raise InvalidPlain(f"points is {shown(listed)}; it must be a list of tables.")
        _refuse_many(len(listed))
        yield from (_settings(f"Point {number}", one) for number, one in enumerate(listed, 1))
        return
    grid = _settings("grid", _table(plain, "grid"))
    n = 1
    for key, choices in grid.items():
        if not isinstance(choices, list) or not choices:
            raise InvalidPlain(f"grid.{key[:80]} is {shown(choices)}; give the list of its values.")
        n = min(n * len(choices), BEYOND_COUNTING)
    if not grid:
        raise InvalidPlain('The grid is empty; give lists such as "model.d_model" = [16, 32].')
    _refuse_many(n)
    for combination in product(*grid.values()):
        yield dict(zip(grid, combination, strict=True))


def _refuse_many(n: int) -> None:
    if n > MAX_POINTS:
        count = n if n < BEYOND_COUNTING else f"{BEYOND_COUNTING} or more"
        raise InvalidPlain(
            f"The sweep has {count} points; at most {MAX_POINTS} are taken. Give fewer values."
        )


def _settings(name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """The table's values by dotted key; InvalidPlain where there are too many."""
    found = dict(_flat(table))
    if len(found) > MAX_KEYS:
        raise InvalidPlain(f"{name} has {len(found)} settings; at most {MAX_KEYS} are taken, so name fewer.")
    return found


def _table(plain: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = plain.get(key, {})
    if not isinstance(found, Mapping):
        raise InvalidPlain(f"{key} is {shown(found)}; it must be a table.")
    return found


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys of nested tables: TOML reads a bare model.d_model as a table within a table."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
