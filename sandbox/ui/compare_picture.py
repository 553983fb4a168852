"""The picture of a comparison, imported when it is asked for, and what it leaves as."""

import gc
from typing import Any

import numpy as np

from sandbox.store.compared import Compared, Difference
from sandbox.ui import compare_files, compare_words, study, study_tabs
from sandbox.ui.changes import shown
from sandbox.ui.compare_settings import Setting
from sandbox.ui.compare_view import CompareView

MOST_SEEDS = 8
"""Columns of the grid; more could not be read."""


def picture(
    view: CompareView,
    groups: list[Compared],
    settings: list[Setting],
    gaps: list[Difference],
    bands: list[tuple[np.ndarray, np.ndarray] | None],
) -> None:
    """Draw what the view asks for, with its notes and files."""
    figures = _figures()
    look = figures.Look(
        axis=view.by,
        log=view.log and view.show != "difference",
        interval=view.interval,
        smooth=view.smooth,
        share=compare_words.is_share(view.metric),
        dark=study.is_dark(),
    )
    if view.show == "overlay":
        drawing = figures.overlay_figure(groups, view.metric, look)
    elif view.show == "difference":
        drawing = figures.difference_figure(gaps, bands, view.metric, look)
    elif view.show == "side by side":
        drawing = figures.side_by_side_figure(groups, view.metric, look)
    else:
        drawing = _grid(figures, view, groups, settings, look)
    study_tabs.place(drawing, f"compare.{view.show}")
    compare_files.files(view, groups, drawing, look.dark)


def _grid(figures: Any, view: CompareView, groups: list[Compared], settings: list[Setting], look: Any) -> Any:
    if not view.knob:
        seeds = list(dict.fromkeys(seed for group in groups for seed in group.seeds))[:MOST_SEEDS]
        cells = figures.seed_cells(groups, seeds)
        return figures.grid_figure(
            cells, [g.label for g in groups], [f"seed {s}" for s in seeds], view.metric, look
        )
    values = [setting.values.get(view.knob) for setting in settings]
    columns = list(dict.fromkeys(map(repr, values)))[:MOST_SEEDS]
    rows = list(dict.fromkeys(group.arm for group in groups))
    found = {(group.arm, repr(value)): group for group, value in zip(groups, values, strict=True)}
    cells = [[found.get((row, column)) for column in columns] for row in rows]
    titles = [f"{view.knob} {shown(next(v for v in values if repr(v) == column))}" for column in columns]
    return figures.grid_figure(cells, rows, titles, view.metric, look)


def _figures() -> Any:
    """The figures, imported when the first one is asked for: Plotly weighs 40 MB that few sessions need."""
    import sandbox.figures.compare as figures

    gc.freeze()
    return figures
