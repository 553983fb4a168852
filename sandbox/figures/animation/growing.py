"""Growing curves: every arm's seeds, their mean and band up to a step, on axes that stand still."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Num

from sandbox.figures.animation.sheet import Box, Point, Sheet
from sandbox.figures.palette import arm_style
from sandbox.foundations.written import percent
from sandbox.mathematics.group_band import group_band
from sandbox.store import Run
from sandbox.store.thinning import thinned_indices

POINTS = 500
"""Most points of a line; extremes, NaN and Inf stay."""


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from `low` to `high`, three to six of them."""
    rough = max(high - low, 1e-12) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(round_ * power for round_ in (1, 2, 2.5, 5, 10) if round_ * power >= rough * (1 - 1e-9))
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Axes:
    """Where numbers stand in a box."""

    box: Box
    last: float
    low: float
    high: float

    def place(self, step: float, value: float) -> Point:
        """The place of a value at a step."""
        left, top, right, bottom = self.box
        return (
            left + (right - left) * step / max(self.last, 1),
            bottom - (bottom - top) * (value - self.low) / (self.high - self.low),
        )

    def places(self, steps: Num[np.ndarray, " n"], values: Num[np.ndarray, " n"]) -> list[Point]:
        """The places of values at their steps."""
        return [self.place(step, value) for step, value in zip(steps.tolist(), values.tolist(), strict=True)]


class Curves:
    """One curve of every arm, ready to be drawn up to any step."""

    def __init__(self, run: Run, name: str, title: str, share: bool, levels: dict[str, float]) -> None:
        self.title, self.levels, self._share = title, levels, share
        self._arms = [_thinned(*run.group_curve(name, arm)) for arm in run.arms]
        found = [values[np.isfinite(values)] for _, values in self._arms]
        whole = np.concatenate([*found, np.array(list(levels.values()), dtype=np.float64)])
        self.known = any(len(steps) for steps, _ in self._arms)
        self.last = max((int(steps[-1]) for steps, _ in self._arms if len(steps)), default=0)
        high = 1.0 if share else float(whole.max(initial=1e-9))
        self._range = (min(0.0, float(whole.min(initial=0.0))), high)

    def draw(self, sheet: Sheet, box: Box, last: int, step: float) -> None:
        """Draw what was known at `step`; `last` is where the axis ends."""
        left, top, right, bottom = box
        axes = Axes((left + 44, top + 26, right - 10, bottom - 22), last, *self._range)
        self._frame(sheet, axes)
        for index, (steps, values) in enumerate(self._arms):
            seen = int(np.searchsorted(steps, step, "right"))
            if seen:
                self._arm(sheet, axes, index, steps[:seen], values[:seen])

    def _frame(self, sheet: Sheet, axes: Axes) -> None:
        left, top, right, bottom = axes.box
        sheet.text((left - 40, top - 24), self.title, 14)
        for value in ticks(axes.low, axes.high):
            y = axes.place(0, value)[1]
            sheet.line([(left, y), (right, y)], sheet.grid)
            sheet.text(
                (left - 6, y), percent(value, 0) if self._share else f"{value:.3g}", 11, "rm", faint=True
            )
        for at in ticks(0, axes.last):
            sheet.text((axes.place(at, 0)[0], bottom + 5), f"{at:.0f}", 11, "ma", faint=True)
        for level in self.levels.values():
            y = axes.place(0, level)[1]
            for x in np.arange(left, right - 4, 9.0):
                sheet.line([(x, y), (x + 4, y)], sheet.faint)

    def _arm(self, sheet: Sheet, axes: Axes, index: int, steps: np.ndarray, values: np.ndarray) -> None:
        style = arm_style(index, sheet.dark)
        found = group_band(values)
        if values.shape[1] > 1:
            inside = np.isfinite(found.low)
            upper = axes.places(steps[inside], found.high[inside])
            lower = axes.places(steps[inside], found.low[inside])
            sheet.area(upper + lower[::-1], style.colour, 0.13)
        for column in values.T:
            self._line(sheet, axes, steps, column, style.colour, 1.0, 0.4)
            lost = np.flatnonzero(~np.isfinite(column))
            if len(lost):
                self._cross(sheet, axes, steps, column, int(lost[0]), style.colour)
        self._line(sheet, axes, steps, found.middle, style.colour, 2.4, 1.0)
        ends = np.flatnonzero(np.isfinite(found.middle))
        if len(ends):
            sheet.marker(
                style.symbol, axes.places(steps[ends[-1:]], found.middle[ends[-1:]])[0], 4, style.colour
            )

    def _line(
        self, sheet: Sheet, axes: Axes, steps: np.ndarray, values: np.ndarray, colour: str, width: float,
        opacity: float,
    ) -> None:  # fmt: skip
        finite = np.isfinite(values)
        for part in np.split(np.arange(len(values)), np.flatnonzero(finite[1:] != finite[:-1]) + 1):
            if len(part) and finite[part[0]]:
                sheet.line(axes.places(steps[part], values[part]), colour, width, opacity)

    def _cross(
        self, sheet: Sheet, axes: Axes, steps: np.ndarray, values: np.ndarray, first: int, colour: str
    ) -> None:
        """The mark of a seed that is no number from `first` on, where it last was one."""
        at = max(first - 1, 0)
        x, y = axes.place(float(steps[at]), float(values[at]) if first else axes.low)
        for dx in (-5, 5):
            sheet.line([(x - dx, y - 5), (x + dx, y + 5)], colour, 2.0)
        sheet.text((x + 8, y), f"NaN at {steps[first]}", 11, "lm")


def _thinned(steps: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not len(steps):
        return steps, values
    kept = np.unique(np.concatenate([thinned_indices(column, POINTS) for column in values.T]))
    return steps[kept], values[kept]
