"""One step of a reading per head: a table by layer, or its columns side by side with the value's bracket."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sandbox.figures.drawing import Drawing, blank, literal
from sandbox.figures.palette import arm_style
from sandbox.figures.provenance import provenance
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import PerHead
from sandbox.mathematics.deepnorm import deepnorm
from sandbox.store import Run

YES_OR_NO = "1 if below 1"
"""Unit of a column that answers a question."""
MISSED = ", most missed"
"""How the label of a column ends that says by how much another one misses at the worst row."""
ROW = 30
"""Pixels of a row."""


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Which reading is drawn: of one arm and seed at one step, with `columns` as (column, label)."""

    run: Run
    kind: str
    columns: Sequence[tuple[str, str]]
    arm: str
    seed: int
    step: int
    layer: int = 0
    head: int = 0
    dark: bool = False

    def answer(self) -> PerHead:
        """The reading; InvalidData where it is not one per head."""
        found = self.run.reading(self.kind, self.step, self.arm, self.seed)
        if not isinstance(found, PerHead):
            raise InvalidData(f"{self.kind} means nothing for {self.arm}; choose another arm.")
        return found

    def known(self, answer: PerHead) -> list[tuple[str, str]]:
        """The columns that the reading has, by their own names, with their labels."""
        named = [(column.partition("/")[2], label) for column, label in self.columns]
        return [(column, label) for column, label in named if column in answer.columns]


def layers_figure(moment: Moment, *, constants: bool = False) -> Drawing:
    """A row for each column and a column for each layer, as numbers; `constants` adds DeepNorm's in words."""
    answer = moment.answer()
    rows = moment.known(answer)
    values = np.full((len(rows), max(answer.columns[column].shape[1] for column, _ in rows)), np.nan)
    for row, (column, _) in enumerate(rows):
        found = answer.columns[column][0, :, 0].astype(np.float64)
        values[row, : len(found)] = found
    asks = [answer.units.get(column, answer.unit) == YES_OR_NO for column, _ in rows]
    texts = [[_said(v, judged) for v in line] for line, judged in zip(values, asks, strict=True)]
    labels = [literal(label) for _, label in rows]
    layers = [f"layer {layer + 1}" for layer in range(values.shape[1])]
    figure = blank(f"{moment.kind} by layer", "", "", moment.dark, height=90 + ROW * len(rows))
    ink = figure.layout.font.color  # Plotly would choose one that suits the cell without the page behind it
    clear = "rgba(128,128,128,0.06)"
    figure.add_heatmap(
        z=values, x=layers, y=labels, text=texts, texttemplate="%{text}", xgap=2, ygap=2,
        textfont={"color": ink}, showscale=False, colorscale=[(0, clear), (1, clear)],
        hovertemplate="%{y}, %{x}: %{z:.6g}<extra></extra>",
    )  # fmt: skip
    lost = [(layers[j], labels[i], texts[i][j]) for i, j in np.argwhere(~np.isfinite(values))]
    if lost:
        x, y, words = zip(*lost, strict=True)
        figure.add_scatter(x=x, y=y, text=words, mode="text", showlegend=False, hoverinfo="skip")
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(side="top", showgrid=False, ticks="", type="category")
    figure.update_yaxes(autorange="reversed", showgrid=False, ticks="", type="category")
    notes = [f"arm {moment.arm}, seed {moment.seed}, step {moment.step}"]
    n_layers = (moment.run.experiment.get("model") or {}).get("n_layers")
    if constants and isinstance(n_layers, int):
        alpha, gain = deepnorm(n_layers)
        notes.append(f"DeepNorm for {n_layers} layers: α = {alpha:.4g}, gain {gain:.4g}")
    alt = "; ".join(f"{label}: {', '.join(line)}" for (_, label), line in zip(rows, texts, strict=True))
    return Drawing(figure, (*notes, *provenance(answer.provenance)), f"{notes[0]}. {alt}.")


def side_by_side_figure(moment: Moment, *, log: bool = False) -> Drawing:
    """The columns of one head on one axis, what each misses at most, and the bracket of the value itself."""
    answer = moment.answer()
    known = {label: column for column, label in moment.known(answer)}
    place = (0, *_inside(next(iter(answer.columns.values())), moment.layer, moment.head))
    value = {label: float(answer.columns[column][place]) for label, column in known.items()}
    rows = [label for label in value if label not in ("lower", "upper") and not label.endswith(MISSED)]
    index = moment.run.arms.index(moment.arm)
    style = arm_style(index, moment.dark)
    figure = blank(f"{moment.kind} side by side", answer.unit, "", moment.dark, height=110 + 34 * len(rows))
    labels = [literal(label) for label in rows]
    notes = [f"arm {moment.arm}, seed {moment.seed}, step {moment.step}"]
    notes[0] += f", layer {moment.layer + 1}, head {moment.head + 1}"
    if {"lower", "upper"} <= set(value):
        low, high = value["lower"], value["upper"]
        figure.add_scatter(
            x=[low, low, high, high], y=[labels[0], labels[-1], labels[-1], labels[0]], fill="toself",
            mode="lines", name="bracket of the value", fillcolor=style.faded(0.22),
            line={"color": style.faded(0.6), "width": 1.5}, hoverinfo="skip",
        )  # fmt: skip
        notes.append(f"the value lies in [{low:.6g}, {high:.6g}]")
    missed = [value.get(label + MISSED) for label in rows]
    figure.add_scatter(
        x=[value[label] for label in rows], y=labels, mode="markers", name="median over the rows",
        marker={"color": style.colour, "symbol": style.symbol, "size": 9},
        error_x={
            "type": "data", "symmetric": False, "array": [0.0] * len(rows),
            "arrayminus": [m or 0.0 for m in missed], "color": style.faded(0.5), "width": 0,
        },
        text=["" if m is None else f"misses at most {m:.6g} at the worst row" for m in missed],
        hovertemplate="%{y}: %{x:.6g}<br>%{text}<extra></extra>",
    )  # fmt: skip
    if any(m is not None for m in missed):
        notes.append("the line to the left is what a certificate misses at the worst row")
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(type="log" if log else "linear")
    figure.update_yaxes(autorange="reversed", type="category", categoryorder="array", categoryarray=labels)
    alt = "; ".join(f"{label} {value[label]:.4g}" for label in rows)
    return Drawing(figure, (*notes, *provenance(answer.provenance)), f"{notes[0]}. {alt}.")


def _inside(values: np.ndarray, layer: int, head: int) -> tuple[int, int]:
    return min(layer, values.shape[1] - 1), min(head, values.shape[2] - 1)


def _said(value: float, judged: bool) -> str:
    if judged and np.isfinite(value):
        return "✓ yes" if value else "✕ no"
    return f"{value:.4g}" if np.isfinite(value) else str(value).replace("inf", "∞").replace("nan", "NaN")
