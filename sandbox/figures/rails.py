"""Rails: where values stand that an axis cannot show, each marked and counted, none replaced."""

from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go

from sandbox.figures.drawing import LOG_TICKS
from sandbox.figures.palette import Style

BELOW, ABOVE = "y2", "y3"
RAIL = 0.05
"""Height of a rail as a share of the figure."""


@dataclass
class Rails:
    """Counts what was put on the rails of one figure, to lay them out and to say it."""

    log: bool
    below: int = 0
    above: int = 0
    not_finite: list[str] = field(default_factory=list)

    def add(
        self, figure: go.Figure, name: str, steps: np.ndarray, values: np.ndarray, style: Style
    ) -> np.ndarray:
        """The values that the axis can show, NaN elsewhere; the others are put on their rail or marked.

        On a log axis zero and negative values stand below and infinite ones above as open marks; on a
        linear axis a value that is not finite is a cross at the last finite one.
        """
        shown = np.where(np.isfinite(values), values, np.nan)
        if self.log:
            low, high = shown <= 0, values == np.inf
            self.below += self._rail(figure, name, steps, low, BELOW, style, "at or below 0")
            self.above += self._rail(figure, name, steps, high, ABOVE, style, "infinite")
            shown = np.where(low, np.nan, shown)
            lost = np.isnan(values) | (values == -np.inf)
        else:
            lost = ~np.isfinite(values)
        if lost.any():
            self._cross(figure, name, steps, values, lost, style)
        return shown

    def lay_out(self, figure: go.Figure) -> list[str]:
        """Make room for the rails that are used; returns the sentences that say what stands there."""
        bottom = 2 * RAIL if self.below else 0.0
        top = 1 - 2 * RAIL if self.above else 1.0
        figure.update_layout(yaxis={"domain": [bottom, top], "type": "log" if self.log else "linear"})
        if self.log:
            figure.update_layout(yaxis=LOG_TICKS)
        sentences = []
        for count, axis, domain, word in (
            (self.below, "yaxis2", [0, RAIL], "≤ 0"),
            (self.above, "yaxis3", [1 - RAIL, 1], "∞"),
        ):
            if count:
                rail = {
                    "domain": domain,
                    "range": [0, 1],
                    "fixedrange": True,
                    "showgrid": False,
                    "zeroline": False,
                }
                figure.update_layout({axis: rail | {"tickvals": [0.5], "ticktext": [word], "anchor": "x"}})
                sentences.append(
                    f"{count} {'point' if count == 1 else 'points'} {word}, on the labelled rail"
                )
        return sentences + self.not_finite

    def _rail(
        self,
        figure: go.Figure,
        name: str,
        steps: np.ndarray,
        which: np.ndarray,
        axis: str,
        style: Style,
        word: str,
    ) -> int:
        if which.any():
            figure.add_scatter(
                x=steps[which],
                y=np.full(int(which.sum()), 0.5),
                yaxis=axis,
                mode="markers",
                name=f"{name}, {word}",
                legendgroup=name,
                showlegend=False,
                hovertemplate=f"{word} at step %{{x}}<extra></extra>",
                marker={"symbol": f"{style.symbol}-open", "color": style.colour, "size": 8},
            )
        return int(which.sum())

    def _cross(
        self,
        figure: go.Figure,
        name: str,
        steps: np.ndarray,
        values: np.ndarray,
        lost: np.ndarray,
        style: Style,
    ) -> None:
        first = int(lost.argmax())
        word = "NaN" if np.isnan(values[first]) else "infinite"
        sentence = f"{name}: {word} at step {steps[first]}"
        shown = np.isfinite(values[:first]) & ((values[:first] > 0) | (not self.log))
        at = int(np.flatnonzero(shown)[-1]) if shown.any() else None
        self.not_finite.append(f"{sentence}, {int(lost.sum())} points")
        here = steps[first if at is None else at]
        height = values[at] if at is not None else 0.5 if self.log else 0.0
        figure.add_scatter(
            x=[here],
            y=[height],
            yaxis="y",
            mode="markers+text",
            text=[f"{word} at step {steps[first]}"],
            textposition="top center",
            name=sentence,
            legendgroup=name,
            showlegend=False,
            hovertemplate=f"{sentence}<extra></extra>",
            marker={"symbol": "x-thin", "size": 11, "line": {"width": 2.5, "color": style.colour}},
        )
