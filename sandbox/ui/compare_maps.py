"""Attention maps in a comparison: which ones, at which step, and why there are none where there are none."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from sandbox.store import Run
from sandbox.ui import compare_controls, compare_files, compare_picture, study, study_tabs
from sandbox.ui.compare_settings import Setting
from sandbox.ui.compare_view import CompareView

SHOWN_AS = ("side by side", "grid")
MOST_CELLS, MOST_PLACES = 24, 400
"""Maps of one figure, and steps of one slider."""
Place = tuple[Run, str, int]
"""Run, arm and seed of a map."""


def pictures(
    view: CompareView, parts: Sequence[tuple[str, Run, str]], labels: dict[str, str], settings: list[Setting]
) -> None:
    """The maps of all groups at one step, on one colour scale."""
    if view.show not in SHOWN_AS:
        st.info("Attention maps are shown side by side or in a grid; choose one of these views above.")
        return
    steps = read_steps(view.metric, [(run, arm) for _, run, arm in parts])
    if not steps:
        st.info("None of the chosen arms has such a map yet.")
        return
    compare_controls.choose_place([float(step) for step in steps])
    at = compare_controls.view().at
    step = steps[-1] if at is None else min(steps, key=lambda known: abs(known - at))
    places, columns = _laid_out(view, parts, labels, settings)
    figures = _figures()
    cells = [
        figures.Cell(title=title, reason="there is no such group")
        if place is None
        else figures.map_cell(place[0], place[1], view.metric, step, place[2], title)
        for title, place in places[:MOST_CELLS]
    ]
    drawing = figures.maps_figure(cells, columns, view.layer, view.head, study.is_dark())
    st.markdown(
        f"At step {compare_controls.written_place(step)}, layer {view.layer + 1}, head {view.head + 1}."
    )
    study_tabs.place(drawing, f"compare.maps.{view.show}")
    compare_files.files(view, [], drawing, study.is_dark(), [title for title, _ in places])


def read_steps(kind: str, groups: Sequence[tuple[Run, str]]) -> list[int]:
    """The steps at which any of the groups was read, ascending, at most MOST_PLACES."""
    read = [run.reading_steps(kind, arm) for run, arm in groups if kind in run.reading_kinds(arm)]
    found = np.unique(np.concatenate([*read, np.zeros(0, np.int64)]))
    if not len(found):
        return []
    kept = np.unique(np.linspace(0, len(found) - 1, MOST_PLACES).astype(int))
    return [int(found[place]) for place in kept]


def _laid_out(
    view: CompareView, parts: Sequence[tuple[str, Run, str]], labels: dict[str, str], settings: list[Setting]
) -> tuple[list[tuple[str, Place | None]], int]:
    """Every cell's title with its map, row by row, and how many stand in one row."""
    if view.show == "side by side":
        cells: list[tuple[str, Place | None]] = [
            (_titled(labels[group], run, view), (run, arm, _seed(run, view))) for group, run, arm in parts
        ]
        return cells, min(_figures().ACROSS, len(cells))
    if not view.knob:
        seeds = list(dict.fromkeys(seed for _, run, _ in parts for seed in run.seeds))
        seeds = seeds[: compare_picture.MOST_SEEDS]
        return [
            (f"{labels[group]} · seed {seed}", (run, arm, seed) if seed in run.seeds else None)
            for group, run, arm in parts
            for seed in seeds
        ], len(seeds)
    rows, titles, found = compare_picture.by_knob(view.knob, [arm for _, _, arm in parts], settings)
    return [
        (f"{row} · {title}", None if at is None else (parts[at][1], parts[at][2], _seed(parts[at][1], view)))
        for row, line in zip(rows, found, strict=True)
        for title, at in zip(titles, line, strict=True)
    ], len(titles)


def _seed(run: Run, view: CompareView) -> int:
    return view.seed if view.seed in run.seeds else run.seeds[0]


def _titled(label: str, run: Run, view: CompareView) -> str:
    return f"{label} · seed {_seed(run, view)}"


def _figures() -> Any:
    import sandbox.figures.compare_maps as figures

    return figures
