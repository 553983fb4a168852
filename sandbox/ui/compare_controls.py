"""The choices of a comparison: runs, groups, what is drawn and how; each changes the view that is held."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from sandbox.mathematics.group_band import BANDS
from sandbox.store import Run
from sandbox.store.compared import AXES, Axis, events, maps, metrics
from sandbox.ui import choices, named, session
from sandbox.ui.compare_view import MOST_GROUPS, MOST_RUNS, MOST_SMOOTH, SHOWS, CompareView
from sandbox.ui.words import whole

HELD = "compare.view"
AXIS_NAMES: dict[Axis, str] = {
    "step": "Step",
    "examples": "Examples seen",
    "seconds": "Seconds of training",
    "event": "An event",
}


def view() -> CompareView:
    """The view that this session looks at."""
    held: CompareView | None = session.held(HELD)
    return held or CompareView()


def choose_runs(names: Mapping[str, str]) -> None:
    """Which runs are compared; `names` holds those that can be, by id."""
    _several(
        "Runs", "runs", [*names, *(run for run in view().runs if run not in names)], MOST_RUNS,
        lambda run: names.get(run, run), "Choose a run",
    )  # fmt: skip


def choose_groups(labels: Mapping[str, str]) -> None:
    """Which arms of these runs are compared; every group keeps its colour whatever else is shown."""
    _several("Arms", "groups", list(labels), MOST_GROUPS, lambda group: labels[group], "Choose an arm")
    shown = len(view().groups)
    if 0 < shown < len(labels):
        st.caption(f"{shown} of {len(labels)} arms are shown; the menu has the others.")


def choose_look(runs: Sequence[tuple[Run, str]], labels: Mapping[str, str], knobs: Sequence[str]) -> None:
    """How the groups are drawn. `runs` are the groups' runs and arms, `labels` their names by group."""
    now = view()
    key = "compare.show"
    session.show(key, now.show)
    st.segmented_control(
        "View", SHOWS, key=key, required=True, on_change=_writer(key, "show"), format_func=str.capitalize,
        label_visibility="collapsed",
    )  # fmt: skip
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="compare.look")
    with row:
        pictures = list(dict.fromkeys(kind for run, arm in runs for kind in maps(run, arm)))
        known = list(dict.fromkeys(name for run, arm in runs for name in metrics(run, arm)))
        _one("Shown", "metric", [*known, *pictures], format_func=title_of, width=250)
        if now.metric in pictures:
            _map_look(runs, now, knobs)
            return
        _one("Align by", "by", AXES, format_func=lambda axis: AXIS_NAMES[axis], width=170)
        if now.by == "event":
            _one(
                "Event",
                "event",
                list(dict.fromkeys(e for run, arm in runs for e in events(run, arm))),
                width=170,
            )
        if len(labels) > 1 and now.show in ("difference", "table", "overlay"):
            options = list(labels)
            _one(
                "Reference",
                "reference",
                options,
                format_func=lambda g: labels[g],
                width=220,
                empty=options[0],
            )
        if now.show == "grid":
            _columns(knobs)
        if now.show != "difference":
            _one("Band", "band", list(BANDS), format_func=lambda kind: BANDS[kind], width=180)
        if now.show in ("overlay", "side by side", "grid"):
            _toggle("Log axis", "log")
            _smooth()


def title_of(metric: str) -> str:
    """What a curve, a reading or a map is called."""
    known = choices.catalogue().families.get("diagnostic", {})
    return known[metric].title if metric in known else named.metric_title(metric)


def _columns(knobs: Sequence[str]) -> None:
    known = list(dict.fromkeys(["", *knobs, view().knob]))
    words = {knob: named.setting_title(knob) if knob else "Seeds" for knob in known}
    _one("Columns", "knob", known, format_func=words.__getitem__, width=190)


def _map_look(runs: Sequence[tuple[Run, str]], now: CompareView, knobs: Sequence[str]) -> None:
    """Which maps: of which seed, layer and head; in a grid of seeds each column has its own."""
    if now.show == "grid":
        _columns(knobs)
    if now.show != "grid" or now.knob:
        seeds = sorted({seed for run, _ in runs for seed in run.seeds})
        _one("Seed", "seed", seeds, empty=min(seeds, default=0), width=110)
    sizes = [run.experiment.get("model") for run, _ in runs]
    for word, field, size in (("Layer", "layer", "n_layers"), ("Head", "head", "n_heads")):
        found = [int(model.get(size, 1)) if isinstance(model, dict) else 1 for model in sizes]
        n = max([*found, 1])
        if n > 1 or getattr(now, field):
            _one(word, field, list(range(n)), format_func=lambda i: str(int(i) + 1), width=100)


def choose_place(places: Sequence[float]) -> None:
    """Where the sentence and the table look."""
    if len(places) < 2:
        return
    key = "compare.at"
    at = view().at
    here = places[-1] if at is None else min(places, key=lambda place: abs(place - at))
    session.show(key, here)
    st.select_slider(
        "Look at", list(places), key=key, format_func=written_place,
        on_change=session.on_change(key, lambda value: _put("at", None if value == places[-1] else value)),
    )  # fmt: skip


def written_place(place: float) -> str:
    """A place on the axis, in groups of three digits."""
    return f"{place:,.6g}" if place % 1 else whole(place)


def _several(
    label: str, field: str, options: list[str], most: int, words: Callable[[str], str], hint: str
) -> None:
    key = f"compare.{field}"
    session.show(key, list(getattr(view(), field)))
    st.multiselect(
        label, options, key=key, format_func=words, max_selections=most, placeholder=hint,
        on_change=session.on_change(key, lambda value: _put(field, tuple(value or ()))),
    )  # fmt: skip


def _one(label: str, field: str, options: Sequence[Any], empty: Any = "", **look: Any) -> None:
    """A menu for one field; what the view has and nobody offers stands among the options, to be seen."""
    key, said = f"compare.{field}", getattr(view(), field)
    now = empty if said in ("", None) else said
    offered = list(options)
    if now not in offered:
        words = look.get("format_func")
        offered.append(now)
        if words is not None:
            look["format_func"] = lambda option: words(option) if option in options else str(option)
    session.show(key, now)
    st.selectbox(label, offered, key=key, on_change=_writer(key, field), **look)


def _toggle(label: str, field: str) -> None:
    key = f"compare.{field}"
    session.show(key, getattr(view(), field))
    st.toggle(label, key=key, on_change=_writer(key, field))


def _smooth() -> None:
    key = "compare.smooth"
    session.show(key, view().smooth)
    st.number_input(
        "Smooth over", 0, MOST_SMOOTH, key=key, on_change=_writer(key, "smooth"), width=130,
        help="Points to either side; 0 is off. Raw seeds stay behind.",
    )  # fmt: skip


def _writer(key: str, field: str) -> Callable[[], None]:
    return session.on_change(key, lambda value: None if value is None else _put(field, value))


def _put(field: str, value: Any) -> None:
    # Other runs open with their first groups; what was chosen among the earlier ones means nothing there.
    more: dict[str, Any] = {"groups": (), "at": None} if field == "runs" else {}
    more |= {"at": None} if field in ("by", "event", "metric") else {}
    session.hold(HELD, replace(view(), **more, **{field: value}))
