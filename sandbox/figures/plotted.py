"""What a figure shows, as a table: one row per drawn point, cell or level, NaN kept."""

import csv
import io
from collections.abc import Iterator
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go

COLUMNS = ("trace", "place", "x", "y", "z", "n", "text")
"""`place` is `plot`, `rail` (a value that the axis cannot show, `text` says which) or `level`; `n` counts the
seeds behind a mean; `z` is a cell's value, or what shades a point."""
Row = tuple[Any, ...]
RAIL_WORDS = (("≤ 0",), ("∞",))
"""What stands beside a rail."""


def plotted_csv(figure: go.Figure) -> str:
    """Exactly what is drawn, as thinned as it is drawn, as CSV with the columns of COLUMNS."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")  # with "\n" alone a name with "\r" is not quoted
    writer.writerow(COLUMNS)
    for trace in figure.data:
        writer.writerows(_cells(trace) if trace.type in ("heatmap", "contour") else _points(trace, figure))
    writer.writerows(_levels(figure))
    return text.getvalue()


def _points(trace: Any, figure: go.Figure) -> Iterator[Row]:
    name, on_rail = _name(trace), _on_rail(trace, figure)
    n = trace.customdata if isinstance(trace.customdata, np.ndarray) and trace.customdata.ndim == 1 else None
    words = unescape(name.rpartition(", ")[2]) if on_rail else None
    xs, ys = (list(axis) if axis is not None else [] for axis in (trace.x, trace.y))
    texts = trace.text if isinstance(trace.text, list | tuple | np.ndarray) else None
    shades = getattr(trace.marker, "color", None)
    z = shades.tolist() if isinstance(shades, np.ndarray) and shades.dtype.kind == "f" else [""] * len(xs)
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        text = words or (unescape(str(texts[i])) if texts is not None else "")
        count = "" if n is None else int(n[i])
        yield name, "rail" if on_rail else "plot", _plain(x), "" if on_rail else _plain(y), z[i], count, text


def _on_rail(trace: Any, figure: go.Figure) -> bool:
    """Whether the trace stands on a rail; other axes than the first one are those of small figures."""
    if trace.yaxis in (None, "y"):
        return False
    return tuple(figure.layout[trace.yaxis.replace("y", "yaxis", 1)].ticktext or ()) in RAIL_WORDS


def _cells(trace: Any) -> Iterator[Row]:
    values = np.asarray(trace.z, dtype=np.float64)
    xs, ys = (
        list(axis) if axis is not None else list(range(size))
        for axis, size in ((trace.x, values.shape[1]), (trace.y, values.shape[0]))
    )
    texts = trace.customdata
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            text = "" if texts is None else unescape(str(texts[i][j]))
            yield _name(trace) or trace.type, "plot", _plain(xs[j]), _plain(ys[i]), float(value), "", text


def _levels(figure: go.Figure) -> Iterator[Row]:
    """Lines across the figure, such as chance; their words stand beside them in the figure."""
    words = {a.y: unescape(a.text) for a in figure.layout.annotations if a.xref == "x domain"}
    log = figure.layout.yaxis.type == "log"
    for shape in figure.layout.shapes:
        if shape.type == "line" and shape.y0 == shape.y1:
            said = words.get(np.log10(shape.y0) if log else shape.y0, "")
            yield "level", "level", "", _plain(shape.y0), "", "", said


def _name(trace: Any) -> str:
    if trace.name:
        return unescape(trace.name)
    return f"{unescape(trace.legendgroup)}, earlier" if trace.legendgroup else ""


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
