"""Tables: a spectrum's lines over the steps, or the cells of one step as a heat map."""

import numpy as np

from sandbox.figures.drawing import Drawing, blank, literal
from sandbox.figures.palette import group_style, sequential
from sandbox.figures.rails import Rails
from sandbox.foundations.readings import Table
from sandbox.store import Run


def table_figure(
    answer: Table, run: Run, kind: str, arm: str, seed: int, step: int, layer: int, head: int, dark: bool
) -> Drawing:
    """The drawing of one arm and seed: lines where the numbers want a log axis, else the step's cells."""
    layer, head = min(layer, answer.cells.shape[1] - 1), min(head, answer.cells.shape[2] - 1)
    where = f"arm {arm}, seed {seed}, layer {layer + 1}, head {head + 1}"
    if answer.log:
        return _over_steps(answer, run, kind, arm, run.seeds.index(seed), layer, head, dark, where)
    cells = answer.cells[0, layer, head].astype(np.float64)
    figure = blank(kind, "", "", dark, height=120 + 46 * len(answer.rows))
    rows, columns = ([literal(word) for word in words] for words in (answer.rows, answer.columns))
    figure.add_heatmap(
        z=cells,
        zmin=0,
        zmax=1,
        colorscale=sequential(dark),
        xgap=1,
        ygap=1,
        hovertemplate="%{y}: %{x} %{z:.4f}<extra></extra>",
        colorbar={"title": {"text": answer.unit}, "thickness": 12},
    )
    if answer.truth:
        figure.add_scatter(
            x=list(answer.truth),
            y=list(range(len(rows))),
            mode="markers",
            name="true class",
            hoverinfo="skip",
            marker={"symbol": "circle-open", "size": 16, "line": {"width": 2}},
        )
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(tickvals=list(range(len(columns))), ticktext=columns, showgrid=False)
    figure.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=[word if len(word) < 40 else f"{word[:39]}…" for word in rows],
        autorange="reversed",
        showgrid=False,
    )
    best = cells.argmax(axis=1)
    right = sum(int(a == b) for a, b in zip(best, answer.truth, strict=False))
    notes = [f"{where}, step {step}"]
    if answer.truth:
        notes.append(f"{right} of {len(rows)} answered right; a circle marks the true class")
    said = "; ".join(
        f"{answer.rows[r]}: {answer.columns[best[r]]} {cells[r, best[r]]:.2f}" for r in range(len(rows))
    )
    return Drawing(figure, tuple(notes), said)


def _over_steps(
    answer: Table, run: Run, kind: str, arm: str, row: int, layer: int, head: int, dark: bool, where: str
) -> Drawing:
    figure, rails = blank(kind, "step", answer.unit, dark), Rails(log=True)
    steps, cells = run.reading_column(kind, "cells", arm)
    ends = []
    for place, name in enumerate(answer.columns):
        style, label = group_style(place, dark), literal(name)
        for rank, word in enumerate(answer.rows):
            curve = cells[:, row, layer, head, rank, place].astype(np.float64)
            figure.add_scatter(
                x=steps,
                y=rails.add(figure, f"{label} {word}", steps, curve, style),
                mode="lines",
                name=label,
                legendgroup=label,
                showlegend=rank == 0,
                line={"color": style.faded(1.0 if rank in (0, len(answer.rows) - 1) else 0.45), "width": 1.2},
                hovertemplate=f"{label} {literal(word)} %{{y:.4g}}<extra></extra>",
            )
        last = cells[-1, row, layer, head, :, place]
        ends.append(f"{name} from {last.max():.3g} to {last.min():.3g}")
    notes = [where, *rails.lay_out(figure)]
    return Drawing(figure, tuple(notes), f"{kind}, every value over steps. Latest: {'; '.join(ends)}.")
