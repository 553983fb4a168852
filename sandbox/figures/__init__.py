"""Floor 6: figures of a run's recorded numbers, one kind of drawing for each kind of number."""

from sandbox.figures.curves import accuracy_figure, group_figure, groups_of, loss_figure
from sandbox.figures.drawing import Drawing, literal
from sandbox.figures.expression_tree import tree_figure
from sandbox.figures.happenings import happenings_figure
from sandbox.figures.moments import Moment, layers_figure, side_by_side_figure
from sandbox.figures.plotted import plotted_csv
from sandbox.figures.readings import Asked, draw

__all__ = [
    "Asked",
    "Drawing",
    "Moment",
    "accuracy_figure",
    "draw",
    "group_figure",
    "groups_of",
    "happenings_figure",
    "layers_figure",
    "literal",
    "loss_figure",
    "plotted_csv",
    "side_by_side_figure",
    "tree_figure",
]
