"""Ghosts: a parent's curve, thin and pale, behind that of the run that goes on from it."""

import numpy as np
import plotly.graph_objects as go

from sandbox.figures.drawing import literal
from sandbox.figures.groups import POINTS, drawable
from sandbox.figures.palette import Style
from sandbox.mathematics.group_band import group_band
from sandbox.store import Run
from sandbox.store.rows import BEFORE
from sandbox.store.thinning import thinned_indices

PARENT = "parent"
"""Key of the run's description that tells of its parent."""


class Ghosts:
    """Draws the parent's curves into one figure; `notes` says once whose they are."""

    def __init__(self, run: Run, figure: go.Figure, log: bool) -> None:
        self._run, self._figure, self._log = run, figure, log
        told = run.meta(PARENT)
        self._parent = str(told.get("run", "")) if isinstance(told, dict) else ""
        self._last = -1

    def curve(self, name: str, arm: str, style: Style, dash: str) -> None:
        """The parent's scalar `name` of an arm, where it has one."""
        if self._parent:
            self._draw(arm, *self._run.group_curve(BEFORE + name, arm), style, dash)

    def reading(
        self, kind: str, column: str, arm: str, place: tuple[int, int], style: Style, dash: str
    ) -> None:
        """The parent's column of a reading per head, at a layer and head."""
        if not self._parent:
            return
        steps, values = self._run.reading_column(BEFORE + kind, column, arm)
        if len(steps) and place[0] < values.shape[2] and place[1] < values.shape[3]:
            self._draw(arm, steps, values[:, :, *place].astype(np.float64), style, dash)

    @property
    def notes(self) -> list[str]:
        """What the pale lines are; nothing where there are none."""
        if self._last < 0:
            return []
        return [f"thin pale lines are the parent, {self._parent}, up to its step {self._last}"]

    def _draw(self, arm: str, steps: np.ndarray, values: np.ndarray, style: Style, dash: str) -> None:
        if not len(steps):
            return
        self._last = max(self._last, int(steps[-1]))
        centre = group_band(values, log=self._log).middle
        kept = thinned_indices(centre, POINTS)
        name = literal(arm)
        self._figure.add_scatter(
            x=steps[kept], y=drawable(centre[kept], self._log), mode="lines", name=f"{name}, parent",
            legendgroup=name, showlegend=False, connectgaps=False,
            line={"color": style.faded(0.45), "width": 1, "dash": dash},
            hovertemplate=f"{name}, parent %{{y:.4g}}<extra></extra>",
        )  # fmt: skip
