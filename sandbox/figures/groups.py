"""Seed groups: thin lines for the seeds, a thick mean, its band, and how many seeds stand behind it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float64, Int64

from sandbox.figures.drawing import literal
from sandbox.figures.palette import Style
from sandbox.figures.rails import Rails
from sandbox.foundations.written import whole
from sandbox.mathematics.group_band import BandKind, GroupBand, group_band
from sandbox.mathematics.smoothing import moving_mean
from sandbox.store.thinning import thin, thinned_indices

POINTS = 2000
"""Most points of one drawn line."""

MARKERS = 9
"""Markers along a thick line, so that arms are told apart without their colour."""


@dataclass(frozen=True, eq=False)
class SeedGroup:
    """One arm's curve of every seed."""

    name: str
    steps: Int64[np.ndarray, " n"]
    values: Float64[np.ndarray, "n seed"]
    seeds: tuple[int, ...]


def draw_group(
    figure: go.Figure,
    rails: Rails,
    group: SeedGroup,
    style: Style,
    dash: str = "solid",
    seeds: bool = True,
    listed: bool = True,
    band: BandKind = "range",
    reach: int = 0,
) -> list[str]:
    """Draw `group`; returns the sentences that say what was thinned.

    `seeds` draws the thin lines and the band, `listed` puts the group in the legend, `band` says what the
    band is. With a `reach` the thick line is the mean over so many points to either side, and the raw one
    stays behind it.
    """
    if not len(group.steps):
        return []
    name, notes = literal(group.name), []
    several = len(group.seeds) > 1
    for column, seed in enumerate(group.seeds):
        line = thin(group.steps, group.values[:, column], POINTS)
        if line.total > len(line.steps) and not column:
            notes.append(
                f"{group.name}: {whole(line.total)} points shown as {whole(len(line.steps))}, extremes kept"
            )
        label = f"{name}, seed {seed}"
        shown = rails.add(figure, label, line.steps, line.values, style)
        if seeds or not several:
            behind = several or reach > 0
            width, colour = (1.0, style.faded(0.35)) if behind else (2.5, style.colour)
            figure.add_scatter(
                x=line.steps,
                y=shown,
                mode="lines" if behind else "lines+markers",
                marker=None if behind else _markers(style),
                name=label if behind else f"{name} (1 seed, no band)",
                legendgroup=name,
                showlegend=listed and not behind,
                connectgaps=False,
                hoverinfo="skip" if behind else None,
                hovertemplate=None if behind else "%{y:.4g}",
                line={"color": colour, "width": width, "dash": dash},
            )
    if several or reach:
        found = group_band(group.values, band, rails.log)
        if reach:
            if several:
                _raw(figure, group, style, dash, found, rails.log)
            found = replace(found, middle=moving_mean(drawable(found.middle, rails.log), reach))
        _middle(figure, rails, group, style, dash, found, seeds and several, listed)
    return notes


def _raw(figure: go.Figure, group: SeedGroup, style: Style, dash: str, found: GroupBand, log: bool) -> None:
    """The middle as it was measured, behind the smoothed one."""
    kept, name = thinned_indices(found.middle, POINTS), literal(group.name)
    figure.add_scatter(
        x=group.steps[kept], y=drawable(found.middle[kept], log), mode="lines", name=f"{name}, not smoothed",
        legendgroup=name, showlegend=False, connectgaps=False, hoverinfo="skip",
        line={"color": style.faded(0.5), "width": 1.2, "dash": dash},
    )  # fmt: skip


def smoothed(reach: int) -> list[str]:
    """What is said below a figure whose thick lines are smoothed."""
    return [f"smoothed: mean of {2 * reach + 1} points, the raw line behind"] if reach else []


def _middle(
    figure: go.Figure,
    rails: Rails,
    group: SeedGroup,
    style: Style,
    dash: str,
    found: GroupBand,
    band: bool,
    listed: bool,
) -> None:
    name = literal(group.name)
    kept = thinned_indices(found.middle, POINTS)
    steps, n = group.steps[kept], found.n[kept]
    centre, low, high = (drawable(a[kept], rails.log) for a in (found.middle, found.low, found.high))
    least, most = int(n.min()), int(n.max())
    words = found.words if band else found.words.partition(",")[0]
    label = f"{name}: {words.format(n=most)}" + (f", down to {least}" if least < most else "")
    if len(group.seeds) == 1:
        label = f"{name} (1 seed, no band)"
    for start, stop in _stretches(np.isfinite(low) & np.isfinite(high)) if band else ():
        figure.add_scatter(
            x=np.concatenate([steps[start:stop], steps[start:stop][::-1]]),
            y=np.concatenate([high[start:stop], low[start:stop][::-1]]),
            fill="toself",
            fillcolor=style.faded(0.13),
            line={"width": 0},
            hoverinfo="skip",
            mode="lines",
            name=f"{name}, band",
            legendgroup=name,
            showlegend=False,
        )
    line = {"color": style.colour, "width": 2.5}
    full = n == most
    figure.add_scatter(
        x=steps,
        y=np.where(full, centre, np.nan),
        mode="lines+markers",
        marker=_markers(style),
        name=label,
        legendgroup=name,
        customdata=n,
        line=line | {"dash": dash},
        showlegend=listed,
        hovertemplate=f"{name} %{{y:.4g}} (n = %{{customdata}})<extra></extra>",
    )
    if not full.all():  # a middle of fewer seeds than before must not look the same
        fewer = ~full | np.append(~full[1:], False)
        figure.add_scatter(
            x=steps,
            y=np.where(fewer, centre, np.nan),
            mode="lines",
            name=f"{name}, fewer seeds",
            customdata=n,
            legendgroup=name,
            showlegend=False,
            line=line | {"dash": "dot", "width": 1.5},
            hovertemplate=f"{name} %{{y:.4g}} (n = %{{customdata}})<extra></extra>",
        )


def _markers(style: Style) -> dict[str, Any]:
    return {"symbol": style.symbol, "size": 7, "color": style.colour, "maxdisplayed": MARKERS}


def drawable(values: np.ndarray, log: bool) -> np.ndarray:
    """The values that an axis can show, NaN elsewhere; those that it cannot have their marks on the rails."""
    return np.where(np.isfinite(values) & ((values > 0) | (not log)), values, np.nan)


def _stretches(true: np.ndarray) -> list[tuple[int, int]]:
    """The runs of true values, as (start, stop)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], true.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 1]
