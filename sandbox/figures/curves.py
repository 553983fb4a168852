"""Curves of a run: loss and accuracy with the task's reference lines, and accuracy by group of rows."""

import numpy as np
import plotly.graph_objects as go

from sandbox.figures.drawing import Drawing, blank, literal, says
from sandbox.figures.groups import SeedGroup, draw_group
from sandbox.figures.palette import arm_style
from sandbox.figures.rails import Rails
from sandbox.store import Run

TRAIN, HELD_OUT = "dash", "solid"
NEAR = 0.05
"""Levels closer than this share of their height are named together."""


def loss_figure(
    run: Run, dark: bool = False, log: bool = False, batches: bool = False, interval: bool = False
) -> Drawing:
    """Cross-entropy in nats: held-out solid and training dashed, or the loss of every batch."""
    names = {"loss": HELD_OUT} if batches else {"test_loss": HELD_OUT, "train_loss": TRAIN}
    what = "batch loss" if batches else "loss"
    return _curves(run, names, "loss in nats", what, run.lines.get("loss", {}), dark, log, interval)


def accuracy_figure(run: Run, dark: bool = False, interval: bool = False) -> Drawing:
    """Accuracy on the full sets: held-out solid, training dashed."""
    names = {"test_accuracy": HELD_OUT, "train_accuracy": TRAIN}
    drawing = _curves(
        run, names, "accuracy", "accuracy", run.lines.get("accuracy", {}), dark, False, interval
    )
    drawing.figure.update_layout(yaxis={"range": [-0.02, 1.02], "tickformat": ".0%"})
    return drawing


def groups_of(run: Run) -> dict[str, list[str]]:
    """The ways in which the held-out rows are divided, with their labels: {"depth": ["depth 2", ...]}."""
    found: dict[str, list[str]] = {}
    for name in run.scalar_names():
        curve, _, rest = name.partition("/")
        if curve == "test_accuracy" and rest:
            group, _, label = rest.partition("/")
            found.setdefault(group, []).append(label)
    return found


def group_figure(run: Run, group: str, label: str, dark: bool = False, interval: bool = False) -> Drawing:
    """Held-out accuracy of all arms on the rows that carry `label`."""
    lines = run.lines.get("accuracy", {})
    names = {f"test_accuracy/{group}/{label}": HELD_OUT}
    drawing = _curves(run, names, f"accuracy, {label}", f"accuracy on {label}", lines, dark, False, interval)
    drawing.figure.update_layout(yaxis={"range": [-0.02, 1.02], "tickformat": ".0%"})
    return drawing


def _curves(
    run: Run,
    names: dict[str, str],
    unit: str,
    what: str,
    lines: dict[str, float],
    dark: bool,
    log: bool,
    interval: bool,
) -> Drawing:
    figure, rails = blank(what, "step", unit, dark), Rails(log)
    notes: list[str] = []
    latest = []
    for index, arm in enumerate(run.arms):
        for name, dash in names.items():
            steps, values = run.group_curve(name, arm)
            title = f"{arm}, train" if name.startswith("train_") else arm
            group = SeedGroup(title, steps, values, run.seeds)
            thin_lines = dash == HELD_OUT
            notes += draw_group(
                figure, rails, group, arm_style(index, dark), dash, thin_lines, interval=interval
            )
            if len(steps) and dash == HELD_OUT:
                shown = ", ".join(f"{value:.3g}" for value in values[-1][:4])
                latest.append(f"{arm} {shown} at step {steps[-1]}")
    if not figure.data:
        return says(f"This run has recorded no {what} yet.", dark)
    reference_lines(figure, lines, log)
    notes += rails.lay_out(figure)
    return Drawing(
        figure, tuple(notes), f"{what.capitalize()} over steps. Latest, seed by seed: {'; '.join(latest)}."
    )


def reference_lines(figure: go.Figure, lines: dict[str, float], log: bool = False) -> None:
    """Draw and name the levels that a curve has to pass, such as chance."""
    drawn: dict[float, list[str]] = {}
    for name, level in sorted(lines.items(), key=lambda line: line[1]):
        if level <= 0 and log:
            continue
        # Two levels that lie on one another share their words.
        near = next((other for other in drawn if abs(other - level) <= NEAR * abs(level)), level)
        drawn.setdefault(near, []).append(name)
        figure.add_hline(y=level, line={"color": "gray", "width": 1, "dash": "dot"})
    for level, names in drawn.items():
        figure.add_annotation(
            x=1,
            xref="x domain",
            xanchor="right",
            y=np.log10(level) if log else level,
            yref="y",
            yanchor="top",
            text=literal(" · ".join(names)),
            showarrow=False,
            font={"size": 11, "color": "gray"},
        )
