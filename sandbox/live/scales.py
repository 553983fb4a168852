"""Scales: how far the axes of pictures reach: over all that is recorded, the same for all arms and seeds."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from sandbox.live.feed import Feed
from sandbox.live.frames import spread
from sandbox.live.panels import columns_side_by_side
from sandbox.live.planes import Plane, planes_of
from sandbox.live.visual_layers import SPACE, look

MOST_LOOKS = 240
"""Steps of one arm that are looked at when a picture is first opened."""
MOST_MODEL_LOOKS = 60
"""The same for small models, whose points have to be worked out."""
AT_ONCE = 16
"""Steps of all seeds whose points are worked out together."""
ROOM, NEAR = 1.25, 0.95
"""Once points come within a twentieth of the edge, the axis widens to a quarter beyond them."""
LEAST = 1e-6
COLUMNS = {
    "Trajectory": ("points",),
    "SmallModel": ("values",),
    "Table": ("cells",),
    "Certificate": ("bound", "measured"),
}
"""The stored columns of each type of reading that has axes of its own."""


@dataclass
class Square:
    """A square window that holds every point seen, widens with room to spare, and never shrinks."""

    centre: tuple[float, float] = (0.0, 0.0)
    half: float = 0.0
    low: np.ndarray = field(default_factory=lambda: np.full(2, np.inf))
    high: np.ndarray = field(default_factory=lambda: np.full(2, -np.inf))

    def widen(self, points: Float[np.ndarray, "point 2"]) -> None:
        """Take in points; those that are not finite stand nowhere."""
        points = points[np.isfinite(points).all(axis=1)].astype(np.float64)
        if not len(points):
            return
        self.low, self.high = (
            np.minimum(self.low, points.min(axis=0)),
            np.maximum(self.high, points.max(axis=0)),
        )
        if np.maximum(self.high - self.centre, self.centre - self.low).max() <= NEAR * self.half:
            return
        middle = (self.low + self.high) / 2
        self.centre = (float(middle[0]), float(middle[1]))
        self.half = float(max(ROOM * (self.high - self.low).max() / 2, LEAST))

    def plain(self) -> dict[str, Any]:
        """JSON values, of six digits: an axis need not be sharper."""
        return {"centre": [float(f"{c:.6g}") for c in self.centre], "half": float(f"{self.half:.6g}")}


@dataclass
class Range:
    """Least positive and greatest finite number seen."""

    low: float = np.inf
    high: float = -np.inf

    def widen(self, values: np.ndarray) -> None:
        """Take in numbers of any shape; what is not finite is no end of an axis."""
        finite = values[np.isfinite(values)]
        positive = finite[finite > 0]
        if positive.size:
            self.low = min(self.low, float(positive.min()))
        if finite.size:
            self.high = max(self.high, float(finite.max()))


class Scales:
    """The scales of one run's pictures, as far as somebody looks at them."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.squares: dict[str, dict[str, Square]] = {}
        self.ranges: dict[str, Range] = {}
        self.planes: dict[str, dict[str, Plane]] = {}
        """By kind and space, of models wider than two."""
        self._looked: dict[tuple[str, int], int] = {}
        self._late: dict[tuple[str, int], int] = {}
        self._beside = columns_side_by_side()

    def look(self, kinds: Iterable[str]) -> dict[str, Any]:
        """Take in what is new of all arms, and answer the scales of `kinds` as JSON values by kind."""
        known = self.feed.readings()
        found: dict[str, Any] = {}
        for kind in kinds:
            for arm, meta in known.get(kind, {}).items():
                if meta.get("type") in COLUMNS:
                    self._take_in(kind, arm, meta)
                for name in self._beside.get(kind, ()):
                    self._take_in_rows(kind, arm, name)
            if kind in self.squares:
                found[kind] = {name: square.plain() for name, square in self.squares[kind].items()}
                if planes := self.planes.get(kind):
                    found[kind]["planes"] = {name: plane.plain() for name, plane in planes.items()}
            if kind in self.ranges and np.isfinite(self.ranges[kind].high):
                ends = self.ranges[kind]
                found.setdefault(kind, {})["range"] = [
                    ends.low if np.isfinite(ends.low) else 0.0, ends.high
                ]  # fmt: skip
        return found

    def _take_in(self, kind: str, arm: int, meta: dict[str, Any]) -> None:
        after = self._looked.get((kind, arm), -1)
        columns = COLUMNS[meta["type"]]
        steps = self.feed.frame_steps(arm, kind, columns[0], after)
        overtaken = self.feed.overtaken.after(self._late.get((kind, arm), 0))
        late = [one.step for one in overtaken if (one.arm, one.kind) == (arm, kind) and one.step <= after]
        self._late[kind, arm] = self.feed.overtaken.last
        if not steps + late:
            return
        most = MOST_MODEL_LOOKS if meta["type"] == "SmallModel" else MOST_LOOKS
        for column in columns:
            new = late + spread(steps, latest_only=False, most=most)
            frames = [values for _, values in self.feed.frames(arm, kind, column, new)]
            if meta["type"] == "Trajectory" and frames:
                self._square(kind, "points").widen(np.concatenate(frames).reshape(-1, 2))
            elif meta["type"] == "SmallModel":
                for start in range(0, len(frames), AT_ONCE):
                    self._model(kind, arm, np.stack(frames[start : start + AT_ONCE]).astype(np.float64), meta)
            else:
                for values in frames:
                    self.ranges.setdefault(kind, Range()).widen(values)
        self._looked[kind, arm] = max(after, *steps, *late)

    def _take_in_rows(self, kind: str, arm: int, name: str) -> None:
        """Values that stand side by side on one axis; of these all seeds, layers and heads are in memory."""
        rows, start = self.feed.rows.get((arm, name)), self._looked.get((name, arm), 0)
        if rows is not None and rows.count > start:
            self.ranges.setdefault(kind, Range()).widen(rows.values[start:])
            self._looked[name, arm] = rows.count

    def _square(self, kind: str, name: str) -> Square:
        return self.squares.setdefault(kind, {}).setdefault(name, Square())

    def _model(self, kind: str, arm: int, values: np.ndarray, meta: dict[str, Any]) -> None:
        """Points of all layers; of more than two dimensions as they stand in the run's plane."""
        if not self.planes.get(kind):
            self.planes[kind] = planes_of(self.feed, kind, arm, meta)
        planes = self.planes[kind]
        flat = values.reshape(-1, values.shape[-1])
        finite = np.isfinite(flat).all(axis=1)
        if not finite.any():
            return
        layers, rows = look(flat[finite], meta)
        for name, points in layers.items():
            if points.shape[-1] > 2:
                if SPACE[name] not in planes:
                    continue
                points = planes[SPACE[name]].place(points)
            self._square(kind, name).widen(points.reshape(-1, 2))
        self.ranges.setdefault(kind, Range()).widen(rows)
