"""Lines of a comparison: a seed, a band, and a mean that says how many seeds stand behind it."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from sandbox.figures.groups import MARKERS, POINTS, drawable
from sandbox.figures.palette import Style
from sandbox.store.thinning import thinned_indices

__all__ = ["band", "drawable", "mean_line", "thin_line"]


def thin_line(
    figure: go.Figure, name: str, seed: int, x: np.ndarray, values: np.ndarray, style: Style
) -> None:
    """One seed: thin, pale, without a bridge over what has no value."""
    kept = thinned_indices(values, POINTS)
    figure.add_scatter(
        x=x[kept], y=values[kept], mode="lines", name=f"{name}, seed {seed}", legendgroup=name,
        showlegend=False, connectgaps=False, hoverinfo="skip",
        line={"color": style.faded(0.35), "width": 1},
    )  # fmt: skip


def band(
    figure: go.Figure, name: str, x: np.ndarray, low: np.ndarray, high: np.ndarray, style: Style, **at: Any
) -> None:
    """A pale area between `low` and `high`, wherever both are finite."""
    known = np.isfinite(low) & np.isfinite(high)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], known.astype(np.int8), [0]])))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        kept = start + np.unique(
            np.concatenate(
                [thinned_indices(low[start:stop], POINTS), thinned_indices(high[start:stop], POINTS)]
            )
        )
        figure.add_trace(
            go.Scatter(
                x=np.concatenate([x[kept], x[kept][::-1]]), y=np.concatenate([high[kept], low[kept][::-1]]),
                fill="toself", fillcolor=style.faded(0.15), line={"width": 0}, mode="lines", hoverinfo="skip",
                name=f"{name}, band", legendgroup=name, showlegend=False,
            ), **at,
        )  # fmt: skip


def mean_line(
    figure: go.Figure,
    name: str,
    label: str,
    x: np.ndarray,
    values: np.ndarray,
    n: np.ndarray,
    style: Style,
    **at: Any,
) -> None:
    """A mean with n at every place; where fewer seeds stand behind it, dotted and thinner."""
    kept = thinned_indices(values, POINTS)
    x, values, n = x[kept], values[kept], np.asarray(n)[kept]
    full = n == (n.max() if len(n) else 0)
    marker = {"symbol": style.symbol, "size": 7, "color": style.colour, "maxdisplayed": MARKERS}
    parts: list[tuple[np.ndarray, str, dict[str, Any], str, bool]] = [
        (full, "lines+markers", {"width": 2.5}, label, True)
    ]
    if not full.all():
        fewer = ~full | np.append(~full[1:], False)
        parts.append((fewer, "lines", {"width": 1.5, "dash": "dot"}, f"{name}, fewer seeds", False))
    for which, mode, line, words, listed in parts:
        figure.add_trace(
            go.Scatter(
                x=x, y=np.where(which, values, np.nan), mode=mode, marker=marker, name=words,
                legendgroup=name, showlegend=listed, customdata=n, line=line | {"color": style.colour},
                hovertemplate=f"{name} %{{y:.4g}} (n = %{{customdata}})<extra></extra>",
            ), **at,
        )  # fmt: skip
