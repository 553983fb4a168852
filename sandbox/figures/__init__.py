"""Floor 6: figures of a run's recorded numbers, one kind of drawing for each kind of number."""

from sandbox.figures.curves import accuracy_figure, group_figure, groups_of, loss_figure
from sandbox.figures.drawing import Drawing, literal
from sandbox.figures.plotted import plotted_csv
from sandbox.figures.readings import Asked, draw

__all__ = [
    "Asked",
    "Drawing",
    "accuracy_figure",
    "draw",
    "group_figure",
    "groups_of",
    "literal",
    "loss_figure",
    "plotted_csv",
]
