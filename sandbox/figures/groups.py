"""Seed groups: thin lines for the seeds, a thick mean, its band, and how many seeds stand behind it."""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float64, Int64

from sandbox.figures.drawing import literal
from sandbox.figures.palette import Style
from sandbox.figures.rails import Rails
from sandbox.mathematics.statistics import mean_band
from sandbox.store.thinning import thin, thinned_indices

POINTS = 2000
"""Most points of one drawn line."""


@dataclass(frozen=True, eq=False)
class SeedGroup:
    """One arm's curve of every seed."""

    name: str
    steps: Int64[np.ndarray, " n"]
    values: Float64[np.ndarray, "n seed"]
    seeds: tuple[int, ...]


def draw_group(
    figure: go.Figure, rails: Rails, group: SeedGroup, style: Style, dash: str = "solid", seeds: bool = True
) -> list[str]:
    """Draw `group`; returns the sentences that say what was thinned."""
    if not len(group.steps):
        return []
    name, notes = literal(group.name), []
    several = len(group.seeds) > 1
    for column, seed in enumerate(group.seeds):
        line = thin(group.steps, group.values[:, column], POINTS)
        if line.total > len(line.steps) and not column:
            notes.append(f"{group.name}: {line.total:,} points shown as {len(line.steps):,}, extremes kept")
        label = f"{name}, seed {seed}"
        shown = rails.add(figure, label, line.steps, line.values, style)
        if seeds or not several:
            figure.add_scatter(
                x=line.steps, y=shown, mode="lines", name=label if several else f"{name} (1 seed, no band)",
                legendgroup=name, showlegend=not several, connectgaps=False,
                hoverinfo="skip" if several else None,
                hovertemplate=None if several else "%{y:.4g}",
                line={"color": style.faded(0.35) if several else style.colour, "width": 1 if several else 2.5, "dash": dash},
            )  # fmt: skip
    if several:
        _mean(figure, rails, group, style, dash)
    return notes


def _mean(figure: go.Figure, rails: Rails, group: SeedGroup, style: Style, dash: str) -> None:
    name = literal(group.name)
    band = mean_band(np.where(np.isfinite(group.values), group.values, np.nan).T)
    kept = thinned_indices(band.mean, POINTS)
    steps, mean, low, high, n = (a[kept] for a in (group.steps, band.mean, band.low, band.high, band.n))
    if rails.log:
        mean, low, high = (np.where(a > 0, a, np.nan) for a in (mean, low, high))
    least, most = int(n.min()), int(n.max())
    label = f"{name}: mean of {most}, 95 % CI" + (f", down to {least}" if least < most else "")
    for start, stop in _stretches(np.isfinite(low) & np.isfinite(high)):
        figure.add_scatter(
            x=np.concatenate([steps[start:stop], steps[start:stop][::-1]]),
            y=np.concatenate([high[start:stop], low[start:stop][::-1]]),
            fill="toself", fillcolor=style.faded(0.13), line={"width": 0}, hoverinfo="skip", mode="lines",
            name=f"{name}, band", legendgroup=name, showlegend=False,
        )  # fmt: skip
    line = {"color": style.colour, "width": 2.5}
    full = n == most
    figure.add_scatter(
        x=steps, y=np.where(full, mean, np.nan), mode="lines", name=label, legendgroup=name, customdata=n,
        line=line | {"dash": dash}, hovertemplate=f"{name} %{{y:.4g}} (n = %{{customdata}})<extra></extra>",
    )  # fmt: skip
    if not full.all():  # a mean over fewer seeds than before must not look the same
        fewer = ~full | np.append(~full[1:], False)
        figure.add_scatter(
            x=steps, y=np.where(fewer, mean, np.nan), mode="lines", name=f"{name}, fewer seeds", customdata=n,
            legendgroup=name, showlegend=False, line=line | {"dash": "dot", "width": 1.5},
            hovertemplate=f"{name} %{{y:.4g}} (n = %{{customdata}})<extra></extra>",
        )  # fmt: skip


def _stretches(true: np.ndarray) -> list[tuple[int, int]]:
    """The runs of true values, as (start, stop)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], true.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 1]
