"""Curves of a run: loss and accuracy with the task's reference lines, and accuracy by group of rows."""

from sandbox.figures.drawing import Drawing, blank, says, shares
from sandbox.figures.ghosts import Ghosts
from sandbox.figures.groups import SeedGroup, draw_group, smoothed
from sandbox.figures.levels import reference_lines
from sandbox.figures.palette import arm_style
from sandbox.figures.rails import Rails
from sandbox.mathematics.group_band import BandKind
from sandbox.store import Run

TRAIN, HELD_OUT = "dash", "solid"
WHOLE = (-0.02, 1.02)
"""The axis of accuracies."""


def loss_figure(
    run: Run,
    dark: bool = False,
    log: bool = False,
    batches: bool = False,
    band: BandKind = "range",
    reach: int = 0,
) -> Drawing:
    """Cross-entropy in nats: held-out solid and training dashed, or the loss of every batch.

    Thick lines are means over `reach` points to either side; accuracies never are, since a threshold is
    reached by a number.
    """
    names = {"loss": HELD_OUT} if batches else {"test_loss": HELD_OUT, "train_loss": TRAIN}
    what = "batch loss" if batches else "loss"
    return _curves(run, names, "loss in nats", what, run.lines.get("loss", {}), dark, log, band, reach)


def accuracy_figure(run: Run, dark: bool = False, band: BandKind = "range") -> Drawing:
    """Accuracy on the full sets: held-out solid, training dashed."""
    names = {"test_accuracy": HELD_OUT, "train_accuracy": TRAIN}
    drawing = _curves(run, names, "accuracy", "accuracy", run.lines.get("accuracy", {}), dark, False, band)
    shares(drawing.figure)
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


def group_figure(run: Run, group: str, label: str, dark: bool = False, band: BandKind = "range") -> Drawing:
    """Held-out accuracy of all arms on the rows that carry `label`."""
    lines = run.lines.get("accuracy", {})
    names = {f"test_accuracy/{group}/{label}": HELD_OUT}
    drawing = _curves(run, names, f"accuracy, {label}", f"accuracy on {label}", lines, dark, False, band)
    shares(drawing.figure)
    return drawing


def _curves(
    run: Run,
    names: dict[str, str],
    unit: str,
    what: str,
    lines: dict[str, float],
    dark: bool,
    log: bool,
    band: BandKind,
    reach: int = 0,
) -> Drawing:
    figure, rails = blank(what, "step", unit, dark), Rails(log)
    ghosts = Ghosts(run, figure, log)
    for index, arm in enumerate(run.arms):
        for name, dash in names.items():
            ghosts.curve(name, arm, arm_style(index, dark), dash)
    notes: list[str] = []
    latest = []
    for index, arm in enumerate(run.arms):
        for name, dash in names.items():
            steps, values = run.group_curve(name, arm)
            title = f"{arm}, train" if name.startswith("train_") else arm
            group = SeedGroup(title, steps, values, run.seeds)
            thin_lines = dash == HELD_OUT
            notes += draw_group(
                figure, rails, group, arm_style(index, dark), dash, thin_lines, band=band, reach=reach
            )
            if len(steps) and dash == HELD_OUT:
                shown = ", ".join(f"{value:.3g}" for value in values[-1][:4])
                latest.append(f"{arm} {shown} at step {steps[-1]}")
    if not figure.data:
        return says(f"This run has recorded no {what} yet.", dark)
    if unit.startswith("accuracy"):
        figure.update_yaxes(range=WHOLE)
    reference_lines(figure, lines, log)
    notes += [*rails.lay_out(figure), *smoothed(reach), *ghosts.notes]
    return Drawing(
        figure, tuple(notes), f"{what.capitalize()} over steps. Latest, seed by seed: {'; '.join(latest)}."
    )
