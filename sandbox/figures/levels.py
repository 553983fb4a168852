"""Levels: lines that a curve has to pass, such as chance, and where their names meet no curve."""

from collections.abc import Iterator

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float64

from sandbox.figures.drawing import HEIGHT, literal

NEAR = 0.05
"""Levels closer than this share of the axis are named together: two labels would overprint one another."""
NARROW = 560
"""Pixels of a narrow figure's axis; on a wider one a name takes a smaller share, and has more room."""
LETTER, TALL = 6.4, 17.0
"""Pixels of a letter's width, and of a name's height with what stays free around it."""
LOOKS = 9
"""Places along a name at which it is looked whether a curve runs through it."""
PLACES = (("right", "top"), ("right", "bottom"), ("left", "top"), ("left", "bottom"))
"""Where a name may stand: at which end of its line, and with which of its edges on it; the first is usual."""

Line = tuple[Float64[np.ndarray, " _"], Float64[np.ndarray, " _"]]
"""Steps and heights of a drawn line, as many of each; other lines have other numbers of them."""


def reference_lines(figure: go.Figure, lines: dict[str, float], log: bool = False) -> None:
    """Draw the levels in `lines`, by name, and name them.

    A name stands at that end of its line where no curve runs through it, else in the margin beside the axis.
    """
    drawn: dict[float, list[str]] = {}
    shown = {name: np.log10(y) if log else y for name, y in lines.items() if y > 0 or not log}
    height = _height(figure, list(shown.values()), log)
    for name, place in sorted(shown.items(), key=lambda line: line[1]):
        near = next((other for other in drawn if place - other <= NEAR * height), place)
        drawn.setdefault(near, []).append(name)
        figure.add_hline(y=lines[name], line={"color": "gray", "width": 1, "dash": "dot"})
    curves = list(_curves(figure, log))
    taken: list[tuple[str, float, float]] = []
    for place, names in drawn.items():
        text = " · ".join(names)
        free = _free(curves, taken, text, place, height)
        if free is None:
            room = max(int(figure.layout.margin.r or 0), round(LETTER * len(text)) + 12)
            figure.update_layout(margin={"r": room})
        end, edge = free or ("left", "middle")  # beyond the right end, in the margin
        figure.add_annotation(
            x=0 if free and end == "left" else 1,
            xref="x domain",
            xanchor=end,
            xshift=0 if free else 5,
            y=place,
            yref="y",
            yanchor=edge,
            text=literal(text),
            showarrow=False,
            font={"size": 11, "color": "gray"},
        )


def _free(
    curves: list[Line], taken: list[tuple[str, float, float]], text: str, place: float, height: float
) -> tuple[str, str] | None:
    """The first of PLACES through which no curve runs; None where there is none. `taken` has other names'."""
    first = min((steps[0] for steps, _ in curves), default=0.0)
    last = max((steps[-1] for steps, _ in curves), default=1.0)
    wide = min(1.0, (LETTER * len(text) + 8) / NARROW) * (last - first)
    tall = TALL / (HEIGHT - 2 * TALL) * height
    for end, edge in PLACES:
        left = last - wide if end == "right" else first
        low, high = (place - tall, place) if edge == "top" else (place, place + tall)
        looks = np.linspace(left, left + wide, LOOKS)
        named = any(end == other and low < top and bottom < high for other, bottom, top in taken)
        if not named and not any(_meets(curve, looks, low, high) for curve in curves):
            taken.append((end, low, high))
            return end, edge
    return None


def _meets(curve: Line, looks: Float64[np.ndarray, " look"], low: float, high: float) -> bool:
    steps, heights = curve
    inside = (steps >= looks[0]) & (steps <= looks[-1])
    if np.any((heights[inside] >= low) & (heights[inside] <= high)):
        return True
    here = np.interp(looks, steps, heights, left=np.nan, right=np.nan)
    sides = np.sign(here[np.isfinite(here)] - low)
    return bool(np.any((here >= low) & (here <= high)) or np.any(np.diff(sides) != 0))


def _curves(figure: go.Figure, log: bool) -> Iterator[Line]:
    """Every line on the first axes, with heights as the axis counts them, what cannot be drawn left out."""
    for trace in figure.data:
        if trace.yaxis not in (None, "y") or trace.y is None or trace.x is None or trace.fill == "toself":
            continue
        steps, heights = np.asarray(trace.x, dtype=float), np.asarray(trace.y, dtype=float)
        kept = np.isfinite(heights) & ((heights > 0) | (not log))
        if kept.any():
            yield steps[kept], np.log10(heights[kept]) if log else heights[kept]


def _height(figure: go.Figure, levels: list[float], log: bool) -> float:
    """How far the axis reaches, or else what is drawn and the levels; in decades on a log axis."""
    if figure.layout.yaxis.range is not None:
        return float(np.ptp(figure.layout.yaxis.range))
    ends = np.concatenate([*(heights for _, heights in _curves(figure, log)), np.array(levels, dtype=float)])
    return float(np.ptp(ends)) if len(ends) else 0.0
