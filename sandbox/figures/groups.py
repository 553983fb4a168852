"""Seed groups: thin lines for the seeds, a thick mean, its band, and how many seeds stand behind it."""

from dataclasses import dataclass
from typing import Any

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

MARKERS = 9
"""Markers along a thick line, so that arms are told apart without their colour."""


@dataclass(frozen=True, eq=False)
class SeedGroup:
    """One arm's curve of every seed."""

    name: str
    steps: Int64[np.ndarray, " n"]
    values: Float64[np.ndarray, "n seed"]
    seeds: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Middle:
    """What stands for all seeds at each step: a middle between two ends, and how many seeds are behind it."""

    words: str
    middle: Float64[np.ndarray, " n"]
    low: Float64[np.ndarray, " n"]
    high: Float64[np.ndarray, " n"]
    n: Int64[np.ndarray, " n"]


def middle(values: Float64[np.ndarray, "n seed"], log: bool, interval: bool = False) -> Middle:
    """The mean between the least and the greatest seed, or with its 95 % Student interval.

    On a log axis the median, since quantities such as condition numbers have no stable mean. Values
    that are not finite are left out, save for infinite ones on a log axis, which have their rank.
    """
    if interval and not log:
        band = mean_band(np.where(np.isfinite(values), values, np.nan).T)
        return Middle("mean of {n}, 95 % CI", band.mean, band.low, band.high, np.asarray(band.n, np.int64))
    known = ~np.isnan(values) & (values != -np.inf) if log else np.isfinite(values)
    ordered = np.sort(np.where(known, values, np.nan), axis=1)  # NaN goes last
    n = known.sum(axis=1)
    rows, last = np.arange(len(ordered)), np.maximum(n - 1, 0)
    low, high = ordered[rows, 0], ordered[rows, last]
    if log:
        centre = 0.5 * (ordered[rows, last // 2] + ordered[rows, (last + 1) // 2])
        return Middle("median of {n}, least to greatest", centre, low, high, n.astype(np.int64))
    centre = np.where(n > 0, np.where(known, values, 0.0).sum(axis=1) / np.maximum(n, 1), np.nan)
    return Middle("mean of {n}, least to greatest", centre, low, high, n.astype(np.int64))


def draw_group(
    figure: go.Figure,
    rails: Rails,
    group: SeedGroup,
    style: Style,
    dash: str = "solid",
    seeds: bool = True,
    listed: bool = True,
    interval: bool = False,
) -> list[str]:
    """Draw `group`; returns the sentences that say what was thinned.

    `seeds` draws the thin lines and the band, `listed` puts the group in the legend, `interval` makes
    the band the 95 % interval of the mean.
    """
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
            width, colour = (1.0, style.faded(0.35)) if several else (2.5, style.colour)
            figure.add_scatter(
                x=line.steps,
                y=shown,
                mode="lines" if several else "lines+markers",
                marker=None if several else _markers(style),
                name=label if several else f"{name} (1 seed, no band)",
                legendgroup=name,
                showlegend=listed and not several,
                connectgaps=False,
                hoverinfo="skip" if several else None,
                hovertemplate=None if several else "%{y:.4g}",
                line={"color": colour, "width": width, "dash": dash},
            )
    if several:
        found = middle(group.values, rails.log, interval)
        _middle(figure, rails, group, style, dash, found, seeds, listed)
    return notes


def _middle(
    figure: go.Figure,
    rails: Rails,
    group: SeedGroup,
    style: Style,
    dash: str,
    found: Middle,
    band: bool,
    listed: bool,
) -> None:
    name = literal(group.name)
    kept = thinned_indices(found.middle, POINTS)
    steps, n = group.steps[kept], found.n[kept]
    centre, low, high = (_shown(a[kept], rails.log) for a in (found.middle, found.low, found.high))
    least, most = int(n.min()), int(n.max())
    words = found.words if band else found.words.partition(",")[0]
    label = f"{name}: {words.format(n=most)}" + (f", down to {least}" if least < most else "")
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


def _shown(values: np.ndarray, log: bool) -> np.ndarray:
    """What the axis can show; seeds that it cannot have their marks on the rails."""
    return np.where(np.isfinite(values) & ((values > 0) | (not log)), values, np.nan)


def _stretches(true: np.ndarray) -> list[tuple[int, int]]:
    """The runs of true values, as (start, stop)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], true.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 1]
