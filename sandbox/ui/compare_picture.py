"""The picture of a comparison, imported when it is asked for, and what it leaves as."""

import gc
from collections.abc import Sequence
from typing import Any

import numpy as np

from sandbox.store.compared import Compared, Difference
from sandbox.ui import compare_files, compare_words, study, study_tabs
from sandbox.ui.compare_settings import Setting
from sandbox.ui.compare_view import CompareView
from sandbox.ui.named import metric_title, setting_title, setting_value

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
        band=view.band,
        smooth=view.smooth,
        share=compare_words.is_share(view.metric),
        dark=study.is_dark(),
    )
    title = metric_title(view.metric)
    if view.show == "overlay":
        drawing = figures.overlay_figure(groups, title, look)
    elif view.show == "difference":
        drawing = figures.difference_figure(gaps, bands, title, look)
    elif view.show == "side by side":
        drawing = figures.side_by_side_figure(groups, title, look)
    else:
        drawing = _grid(figures, view, groups, settings, title, look)
    study_tabs.place(drawing, f"compare.{view.show}")
    compare_files.files(view, groups, drawing, look.dark)


def _grid(
    figures: Any,
    view: CompareView,
    groups: list[Compared],
    settings: list[Setting],
    title: str,
    look: Any,
) -> Any:
    if not view.knob:
        seeds = list(dict.fromkeys(seed for group in groups for seed in group.seeds))[:MOST_SEEDS]
        cells = figures.seed_cells(groups, seeds)
        return figures.grid_figure(
            cells, [g.label for g in groups], [f"seed {s}" for s in seeds], title, look
        )
    rows, titles, places = by_knob(view.knob, [group.arm for group in groups], settings)
    cells = [[None if at is None else groups[at] for at in row] for row in places]
    return figures.grid_figure(cells, rows, titles, title, look)


def by_knob(
    knob: str, arms: Sequence[str], settings: Sequence[Setting]
) -> tuple[list[str], list[str], list[list[int | None]]]:
    """Arms as rows, values of a knob as columns with their titles, and which group stands in each cell."""
    values = [setting.values.get(knob) for setting in settings]
    columns = list(dict.fromkeys(map(repr, values)))[:MOST_SEEDS]
    rows = list(dict.fromkeys(arms))
    found = {(arm, repr(value)): at for at, (arm, value) in enumerate(zip(arms, values, strict=True))}
    named = {repr(value): setting_value(knob, value) for value in values}
    titles = [f"{setting_title(knob)} {named[column]}" for column in columns]
    return rows, titles, [[found.get((row, column)) for column in columns] for row in rows]


def _figures() -> Any:
    """The figures, imported when the first one is asked for: Plotly weighs 40 MB that few sessions need."""
    import sandbox.figures.compare as figures

    gc.freeze()
    return figures
