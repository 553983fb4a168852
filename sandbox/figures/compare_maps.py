"""Attention maps beside one another: one step, layer and head, on one colour scale that never moves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from sandbox.figures.drawing import Drawing, blank, literal, says
from sandbox.figures.palette import sequential
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import AttentionMap
from sandbox.foundations.written import whole
from sandbox.store import Run

ACROSS = 3
"""Maps in one row where they stand side by side."""
SIDE = 290
"""Height of one map in pixels."""
LABELLED = 24
"""Most tokens that are named on an axis."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One map to be drawn, or the reason why there is none."""

    title: str
    answer: AttentionMap | None = None
    reason: str = ""


def map_cell(run: Run, arm: str, kind: str, step: int, seed: int, title: str) -> Cell:
    """The map of one arm and seed at `step`, else at the last one before it that was read, which is said.

    A reason where none was read up to there, or where it means nothing.
    """
    read = run.reading_steps(kind, arm)
    before = read[read <= step]
    if len(before) and before[-1] < step:
        title += f" (step {whole(int(before[-1]))})"
    try:
        answer = run.reading(kind, int(before[-1]) if len(before) else step, arm, seed)
    except InvalidData as error:
        return Cell(title=title, reason=str(error))
    if isinstance(answer, AttentionMap):
        return Cell(title=title, answer=answer)
    why = answer.reason if isinstance(answer, NotApplicable) else f"{kind} is no attention map"
    return Cell(title=title, reason=why)


def maps_figure(cells: Sequence[Cell], columns: int, layer: int, head: int, dark: bool) -> Drawing:
    """The maps in rows of `columns`, on the fixed scale from 0 to 1 with one colour bar.

    A layer or head that a map has not is brought to its last one, which its title then says. Cells that a
    query may not see are crossed out. Maps of different probe sequences are told in a note.
    """
    known = [cell.answer for cell in cells if cell.answer is not None]
    if not known:
        reasons = dict.fromkeys(cell.reason for cell in cells)
        return says(" ".join(reasons) or "No map was recorded.", dark)
    rows = -(-len(cells) // columns)
    places = [_place(cell.answer, layer, head) for cell in cells]
    figure = make_subplots(
        rows=rows, cols=columns, horizontal_spacing=0.08 / columns, vertical_spacing=min(0.3 / rows, 0.14),
        subplot_titles=[
            literal(cell.title + _moved(at, layer, head)) for cell, at in zip(cells, places, strict=True)
        ],
    )  # fmt: skip
    figure.update_layout(blank("compare/maps", "", "", dark, 90 + SIDE * rows).layout)
    figure.update_layout(
        hovermode="closest", showlegend=False, margin={"t": 40},
        coloraxis={
            "cmin": 0, "cmax": 1, "colorscale": sequential(dark),
            "colorbar": {"title": {"text": "attention"}, "thickness": 12},
        },
    )  # fmt: skip
    for number, (cell, at) in enumerate(zip(cells, places, strict=True)):
        _draw(figure, cell, at, number // columns + 1, number % columns + 1)
    notes = [f"layer {layer + 1}, head {head + 1}; every map on the scale from 0 to 1"]
    notes += [f"{cell.title}: {cell.reason}" for cell in cells if cell.reason]
    if len({(answer.query_labels, answer.key_labels) for answer in known}) > 1:
        notes.append("the maps are of different sequences: compare their pattern, not their cells")
    if not all(answer.mask.all() for answer in known):
        notes.append("masked cells are crossed out")
    return Drawing(figure, tuple(notes), _alt(cells, places))


def _place(answer: AttentionMap | None, layer: int, head: int) -> tuple[int, int]:
    if answer is None:
        return layer, head
    return min(layer, answer.weights.shape[1] - 1), min(head, answer.weights.shape[2] - 1)


def _moved(at: tuple[int, int], layer: int, head: int) -> str:
    return "" if at == (layer, head) else f" (layer {at[0] + 1}, head {at[1] + 1})"


def _draw(figure: go.Figure, cell: Cell, at: tuple[int, int], row: int, column: int) -> None:
    place = {"row": row, "col": column}
    if cell.answer is None:
        figure.update_xaxes(visible=False, **place)
        figure.update_yaxes(visible=False, **place)
        return
    answer = cell.answer
    weights = answer.weights[0, at[0], at[1]].astype(np.float64)
    keys, queries = ([literal(word) for word in words] for words in (answer.key_labels, answer.query_labels))
    figure.add_heatmap(
        z=np.where(answer.mask, weights, np.nan), coloraxis="coloraxis", xgap=1, ygap=1,
        name=literal(cell.title),
        customdata=[
            [f"{q} at {i + 1} looks at {k} at {j + 1}" for j, k in enumerate(keys)]
            for i, q in enumerate(queries)
        ],
        hovertemplate="%{customdata}: %{z:.4f}<extra></extra>", **place,
    )  # fmt: skip
    hidden = np.argwhere(~answer.mask)
    if len(hidden):
        figure.add_scatter(
            x=hidden[:, 1], y=hidden[:, 0], mode="markers", hoverinfo="skip",
            marker={"symbol": "x-thin", "size": 5, "line": {"width": 1, "color": "gray"}}, **place,
        )  # fmt: skip
    for update, words, more in (
        (figure.update_xaxes, keys, {}),
        (figure.update_yaxes, queries, {"autorange": "reversed"}),
    ):
        named = len(words) <= LABELLED
        update(
            tickvals=list(range(len(words))) if named else None, ticktext=words if named else None,
            showgrid=False, zeroline=False, ticks="", **more, **place,
        )  # fmt: skip


def _alt(cells: Sequence[Cell], places: Sequence[tuple[int, int]]) -> str:
    def said(cell: Cell, at: tuple[int, int]) -> str:
        if cell.answer is None:
            return f"{cell.title}: none"
        weights = cell.answer.weights[0, at[0], at[1]][cell.answer.mask]
        finite = weights[np.isfinite(weights)]
        return (
            f"{cell.title}: largest weight {finite.max():.3f}" if len(finite) else f"{cell.title}: no number"
        )

    listed = "; ".join(said(cell, at) for cell, at in zip(cells, places, strict=True))
    return f"{len(cells)} attention maps. {listed}."
