"""Pictures of a film: each arm's attention map, or else its trajectories, as recorded at or before a step."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from PIL import ImageColor

from sandbox.figures.animation.sheet import Box, Sheet
from sandbox.figures.palette import group_style, sequential
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import AttentionMap, Trajectory
from sandbox.store import Run

MOST_ARMS = 4
TYPES = ("AttentionMap", "Trajectory")
SHADES = 256
SAMPLES = 12
"""Steps at which it is looked how far the points of a trajectory reach."""


def ramp(dark: bool, n: int) -> Float64[np.ndarray, "shade 3"]:
    """`n` shades of the scale of attention, from none to all, as red, green and blue up to 255."""
    stops = np.array([ImageColor.getrgb(colour) for _, colour in sequential(dark)], dtype=np.float64)
    at = np.linspace(0, len(stops) - 1, n)
    return np.stack([np.interp(at, np.arange(len(stops)), channel) for channel in stops.T], axis=1)


@dataclass(frozen=True)
class Chosen:
    """Whose pictures a film shows; layer and head count from 0 and matter for attention alone."""

    seed: int
    layer: int = 0
    head: int = 0


class Pictures:
    """The first kind of picture that the run has, for the chosen seed of its first arms.

    Raises InvalidData for a seed, layer or head that the run does not have.
    """

    def __init__(self, run: Run, chosen: Chosen | None = None) -> None:
        self._run, self.chosen = run, chosen or Chosen(run.seeds[0])
        if self.chosen.seed not in run.seeds:
            known = ", ".join(map(str, run.seeds[:20]))
            raise InvalidData(f"Run {run.id} has no seed {self.chosen.seed}; choose one of {known}.")
        self.kind, self._type = self._choose()
        self._steps = {arm: run.reading_steps(self.kind, arm) for arm in run.arms} if self.kind else {}
        self.arms = [arm for arm in run.arms if len(self._steps.get(arm, ()))][:MOST_ARMS]
        self._known: dict[str, tuple[int, AttentionMap | Trajectory]] = {}
        self._check()
        self._reach = self._extent() if self._type == "Trajectory" else (np.zeros(2), 1.0)

    @property
    def words(self) -> str:
        """What the pictures show."""
        if self._type == "AttentionMap":
            layer, head = self.chosen.layer + 1, self.chosen.head + 1
            return f"Attention, layer {layer}, head {head}, seed {self.chosen.seed} (scale 0 to 1)"
        return f"{self.kind.capitalize()}, seed {self.chosen.seed}"

    def draw(self, sheet: Sheet, box: Box, step: float) -> None:
        """Draw the pictures side by side in the box."""
        left, top, right, bottom = box
        sheet.text((left, top + 2), self.words, 14)
        n = len(self.arms)
        columns = 1 if n == 1 else 2
        rows = -(-n // columns)
        side = min((right - left - 14 * (columns - 1)) / columns, (bottom - top - 26) / rows - 26)
        for place, arm in enumerate(self.arms):
            x = left + (side + 14) * (place % columns)
            y = top + 26 + (side + 26) * (place // columns)
            answer = self._at(arm, step)
            sheet.text((x, y), arm[:34], 12, faint=True)
            inner = (x, y + 17, x + side, y + 17 + side)
            if isinstance(answer, AttentionMap):
                self._map(sheet, inner, answer)
            else:
                self._points(sheet, inner, answer)

    def _check(self) -> None:
        """Whether the run has the chosen layer and head."""
        chosen = self.chosen
        if self._type != "AttentionMap" or not self.arms:
            if chosen.layer or chosen.head:
                raise InvalidData(f"Run {self._run.id} has no attention maps; leave out layer and head.")
            return
        for arm in self.arms:
            answer = self._at(arm, 0)
            assert isinstance(answer, AttentionMap)
            layers, heads = answer.weights.shape[1:3]
            if not (0 <= chosen.layer < layers and 0 <= chosen.head < heads):
                raise InvalidData(
                    f"Run {self._run.id} has layers 1 to {layers} and heads 1 to {heads}; "
                    f"layer {chosen.layer + 1}, head {chosen.head + 1} is not among them."
                )

    def _choose(self) -> tuple[str, str]:
        for wanted in TYPES:
            for index, arm in enumerate(self._run.arms):
                for kind in self._run.reading_kinds(arm):
                    if (self._run.meta(f"reading/{index}/{kind}") or {}).get("type") == wanted:
                        return kind, wanted
        return "", ""

    def _at(self, arm: str, step: float) -> AttentionMap | Trajectory:
        steps = self._steps[arm]
        at = int(steps[max(int(np.searchsorted(steps, step, "right")) - 1, 0)])
        kept = self._known.get(arm)
        if kept is None or kept[0] != at:
            answer = self._run.reading(self.kind, at, arm, self.chosen.seed)
            assert isinstance(answer, AttentionMap | Trajectory)
            kept = self._known[arm] = (at, answer)
        return kept[1]

    def _map(self, sheet: Sheet, box: Box, answer: AttentionMap) -> None:
        weights = answer.weights[0, self.chosen.layer, self.chosen.head].astype(np.float64)
        shades = np.rint(np.clip(np.nan_to_num(weights), 0, 1) * (SHADES - 1)).astype(np.int64)
        colours = ramp(sheet.dark, SHADES)[shades]
        colours[~answer.mask | ~np.isfinite(weights)] = ImageColor.getrgb(sheet.grid)
        sheet.cells(box, colours)

    def _points(self, sheet: Sheet, box: Box, answer: Trajectory) -> None:
        left, top, right, bottom = box
        sheet.line([(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], sheet.grid)
        centre, reach = self._reach
        places = np.clip((answer.points[0] - centre) / (2 * reach) + 0.5, 0, 1)
        groups = list(dict.fromkeys(answer.groups))
        for (x, y), group in zip(places, answer.groups, strict=True):
            if np.isfinite([x, y]).all():
                style = group_style(groups.index(group), sheet.dark)
                at = left + (right - left) * x, bottom - (bottom - top) * y
                sheet.marker(style.symbol, at, 3, style.colour)

    def _extent(self) -> tuple[np.ndarray, float]:
        """Centre and half width of a square around the points of all arms: one scale for all frames."""
        found = []
        for arm in self.arms:
            steps = self._steps[arm]
            for at in np.unique(np.linspace(0, len(steps) - 1, SAMPLES).round().astype(np.int64)):
                answer = self._at(arm, float(steps[at]))
                found.append(answer.points[0] if isinstance(answer, Trajectory) else np.zeros((0, 2)))
        points = np.concatenate(found)
        points = points[np.isfinite(points).all(axis=1)]
        if not len(points):
            return np.zeros(2), 1.0
        low, high = points.min(axis=0), points.max(axis=0)
        return (low + high) / 2, 0.54 * float((high - low).max()) or 1.0
