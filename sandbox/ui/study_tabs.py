"""The tabs of the study: one for each thing that a run recorded, with the choices that its figure needs."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.mathematics.group_band import BANDS, BandKind
from sandbox.store import Run
from sandbox.ui import choices, study_files, study_shapes
from sandbox.ui.words import escaped

LOSS, ACCURACY, BY_GROUP, HAPPENINGS = "Loss", "Accuracy", "Accuracy by group", "Phases and spikes"
OF_ONE_SEED = ("Trajectory", "AttentionMap", "Certificate", "SmallModel", "Table")
"""Readings whose drawing shows one arm and seed; the others show all of them."""
REACHES = (0, 2, 8)
"""Points to either side: off, light, strong, as in the live view."""


def available(run: Run) -> list[str]:
    """The tabs that this run has something for: curves first, then every diagnostic that means something."""
    names = [LOSS, ACCURACY]
    if any(name.startswith("test_accuracy/") for name in run.scalar_names()):
        names.append(BY_GROUP)
    if any(event.kind in ("phase", "spike") for event in run.events()):
        names.append(HAPPENINGS)
    return names + [_title(kind) for kind, reason in _kinds(run).items() if not reason]


def without(run: Run) -> list[str]:
    """A sentence for each diagnostic that means nothing for any arm of this run, with the reason."""
    return [f"{_title(kind)}: {escaped(reason)}" for kind, reason in _kinds(run).items() if reason]


def _kinds(run: Run) -> dict[str, str]:
    """Every diagnostic that was asked, with why it means nothing for all arms; empty if it does for one."""
    found: dict[str, str] = {}
    for index, arm in enumerate(run.arms):
        for kind in run.reading_kinds(arm):
            reason = (run.meta(f"reading/{index}/{kind}") or {}).get("not_applicable", "")
            found[kind] = reason if found.get(kind, reason) else ""
    return found


def _title(kind: str) -> str:
    """What the catalogue calls a diagnostic; its kind where a run knows one that the catalogue does not."""
    known = choices.catalogue().families.get("diagnostic", {})
    return escaped(known[kind].title if kind in known else kind)


def draw(figures: Any, run: Run, name: str, key: str, dark: bool) -> None:
    """Draw the tab called `name`; `figures` is the package of figures."""

    def show(drawing: Any) -> None:
        place(drawing, key)
        study_files.files(figures, run, name, drawing, dark, key)

    try:
        if name == LOSS:
            row = st.container(horizontal=True, gap="medium", key=f"{key}.choices")
            log = row.toggle("Log axis", key=f"{key}.log")
            batches = row.toggle("Every step, batch by batch", key=f"{key}.batches")
            show(figures.loss_figure(run, dark, log, batches, _band(row, run, key), _reach(row, key)))
        elif name == ACCURACY:
            show(figures.accuracy_figure(run, dark, _band(st, run, key)))
        elif name == BY_GROUP:
            show(_by_group(figures, run, key, dark))
        elif name == HAPPENINGS:
            show(figures.happenings_figure(run, dark))
        else:
            _reading(figures, run, name, key, dark, show)
    except SandboxError as error:
        st.info(escaped(str(error)))


def place(drawing: Any, key: str) -> None:
    """Put a drawing on the page, with its honesty lines and its text alternative."""
    st.plotly_chart(
        drawing.figure,
        key=f"{key}.figure",
        theme=None,
        alt=drawing.alt,
        config={
            "displaylogo": False,
            "responsive": True,
        },
    )
    if drawing.notes:
        st.caption(escaped(". ".join(note[:1].upper() + note[1:] for note in drawing.notes) + "."))


def _band(place: Any, run: Run, key: str) -> BandKind:
    """What the band over the seeds is; there is none with one seed."""
    if len(run.seeds) < 2:
        return "range"
    return place.selectbox(
        "Band", list(BANDS), key=f"{key}.band", format_func=lambda kind: BANDS[kind], filter_mode=None,
        width=190,
    )  # fmt: skip


def _reach(place: Any, key: str) -> int:
    """Points to either side over which thick lines are smoothed; off at first."""
    words = {reach: f"mean of {2 * reach + 1} points" if reach else "off" for reach in REACHES}
    return int(
        place.selectbox(
            "Smoothing", REACHES, key=f"{key}.reach", format_func=lambda r: words[r], filter_mode=None,
            width=190,
            help="The mean of each point and its neighbours; the raw line stays behind it.",
        )
    )  # fmt: skip


def _by_group(figures: Any, run: Run, key: str, dark: bool) -> Any:
    groups = figures.groups_of(run)
    left, right = st.columns(2)
    group = left.selectbox("Rows by", list(groups), key=f"{key}.group", filter_mode=None)
    label = right.selectbox("Of which", groups[group], key=f"{key}.label.{group}", filter_mode=None)
    return figures.group_figure(run, group, label, dark, _band(st, run, key))


def _reading(figures: Any, run: Run, name: str, key: str, dark: bool, show: Callable[[Any], None]) -> None:
    kind = next(k for arm in run.arms for k in run.reading_kinds(arm) if _title(k) == name)
    row = st.container(horizontal=True, vertical_alignment="bottom", key=f"{key}.choices")
    arm = run.arms[0]
    metas = {arm: run.meta(f"reading/{index}/{kind}") or {} for index, arm in enumerate(run.arms)}
    shape = _shape(row, kind, metas, key)
    picture = shape != "" or any(meta.get("type") in OF_ONE_SEED for meta in metas.values())
    if picture and len(run.arms) > 1:
        arm = row.selectbox("Arm", run.arms, key=f"{key}.arm", filter_mode=None, width=220)
    steps = run.reading_steps(kind, arm)
    meta = metas[arm]
    if "not_applicable" in meta or not len(steps):
        st.info(escaped(meta.get("not_applicable", "Nothing was read for this arm.")))
        return
    chosen: dict[str, Any] = {"arm": arm, "seed": run.seeds[0], "step": int(steps[-1])}
    if picture:
        chosen["seed"] = row.selectbox("Seed", run.seeds, key=f"{key}.seed", filter_mode=None, width=110)
        if len(steps) > 1:
            chosen["step"] = row.select_slider(
                "Step", [int(s) for s in steps], value=int(steps[-1]), key=f"{key}.step", width=320
            )
    else:
        columns = [c for c in meta.get("columns", []) if c != "upper" or "lower" not in meta["columns"]]
        titles = {"lower": "bracket"} if "upper" in meta.get("columns", []) else {}
        chosen["column"] = row.selectbox(
            "Shown",
            columns,
            key=f"{key}.column",
            filter_mode=None,
            width=220,
            format_func=lambda c: titles.get(c, c),
        )
        if chosen["column"] not in titles:
            chosen["reach"] = _reach(row, key)
    layers, heads = _heads(run, kind, arm) if shape not in study_shapes.WITHOUT_HEADS else (1, 1)
    for word, n in (("layer", layers), ("head", heads)):
        if n > 1:
            chosen[word] = row.selectbox(
                word.capitalize(),
                range(n),
                key=f"{key}.{word}",
                filter_mode=None,
                width=110,
                format_func=lambda i: str(i + 1),
            )
    if shape:
        show(study_shapes.draw(figures, run, kind, shape, dark, **chosen))
    else:
        show(figures.draw(figures.Asked(run=run, kind=kind, dark=dark, **chosen)))
    for without, reason in (meta.get("without") or {}).items():
        st.caption(f"{escaped(without.capitalize())}: {escaped(reason)}")


def _shape(row: Any, kind: str, metas: dict[str, dict[str, Any]], key: str) -> str:
    """How else than over the steps, or as cells, the reading is to be drawn; empty for the usual way."""
    shapes, types = list(study_shapes.shapes_of(kind)), {meta.get("type") for meta in metas.values()}
    if not shapes or not types & {"PerHead", "Table"}:
        return ""
    usual = "Over the steps" if "PerHead" in types else "Cells"
    chosen = row.selectbox("Drawn as", [*shapes, usual], key=f"{key}.shape", filter_mode=None, width=170)
    return "" if chosen == usual else str(chosen)


def _heads(run: Run, kind: str, arm: str) -> tuple[int, int]:
    """Layers and heads of a reading; (1, 1) where it has none."""
    steps = run.reading_steps(kind, arm)
    answer: Any = run.reading(kind, int(steps[-1]), arm)
    if hasattr(answer, "cells"):
        return answer.cells.shape[1], answer.cells.shape[2]
    if hasattr(answer, "columns"):
        shape = next(iter(answer.columns.values())).shape
        return shape[1], shape[2]
    if hasattr(answer, "bound"):
        return answer.bound.shape[2:4]
    return answer.weights.shape[1:3] if hasattr(answer, "weights") else (1, 1)
