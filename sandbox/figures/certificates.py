"""Certificates over steps: each bound beside the measured value of the same step, with its state in words."""

import numpy as np

from sandbox.figures.drawing import Drawing, blank, literal
from sandbox.figures.palette import group_style
from sandbox.figures.rails import Rails
from sandbox.foundations.certificate import STATES, Certificate
from sandbox.store import Run

SYMBOLS = {
    "holds": "circle", "violated": "x", "does not apply": "circle-open", "stale": "diamond-open",
    "not computed": "line-ew-open",
}  # fmt: skip
"""A state is told by the marker's form and in words, never by a colour alone."""


def certificate_figure(
    answer: Certificate,
    run: Run,
    kind: str,
    arm: str,
    seed: int,
    layer: int,
    head: int,
    dark: bool,
) -> Drawing:
    """Bounds (dotted) and what they bound (solid) of one head, on a log axis; states as marker forms."""
    figure, rails = blank(kind, "step", answer.unit, dark), Rails(log=True)
    row = run.seeds.index(seed)
    notes = [f"arm {arm}, seed {seed}, layer {layer + 1}, head {head + 1}"]
    for place, name in enumerate(answer.names):
        style, label = group_style(place, dark), literal(name)
        states = run.reading_column(kind, "state", arm)[1][:, row, place, layer, head].astype(np.int64)
        for column, dash, word in (("measured", "solid", "measured"), ("bound", "dot", "bound")):
            steps, values = run.reading_column(kind, column, arm)
            curve = values[:, row, place, layer, head].astype(np.float64)
            known = np.isfinite(curve)  # where nothing is claimed there is no number; the state says why
            if not known.any():
                continue
            shown = rails.add(figure, f"{label}, {word}", steps[known], curve[known], style)
            figure.add_scatter(
                x=steps[known],
                y=shown,
                mode="lines+markers",
                name=f"{label}, {word}",
                legendgroup=label,
                line={"color": style.colour, "dash": dash, "width": 2},
                marker={"size": 6, "symbol": [SYMBOLS[STATES[state]] for state in states[known]]},
                text=[STATES[state] for state in states[known]],
                hovertemplate=f"{label}, {word} %{{y:.4g}} (%{{text}})<extra></extra>",
            )
        notes.append(f"{name}: {answer.sentence(0, place, layer, head)}. {answer.statements[place]}")
    notes += rails.lay_out(figure)
    return Drawing(figure, tuple(notes), "; ".join(notes[1 : 1 + len(answer.names)]))
