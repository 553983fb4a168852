"""The page of a study: its points with their states, what is left, and a final number over a knob."""

from typing import Any

import streamlit as st

from sandbox.foundations.errors import RunUnavailable, SandboxError
from sandbox.runner import steering, sweeping
from sandbox.runner.control import ensure_supervisor
from sandbox.store.study import Study, read_study, studies
from sandbox.store.study_table import METRICS, final_table, number_of
from sandbox.ui import compare_words, navigation, session, setup_link, study_tabs
from sandbox.ui.named import setting_title, setting_value
from sandbox.ui.study import is_dark
from sandbox.ui.words import ago, code, count, duration, escaped, whole

STUDY = "study"
"""The query parameter that names the study in the address."""

TICK = 2.0
WORDS = {"new": "Not begun", "damaged": "Damaged", "interrupted": "Interrupted"}
MOST_LISTED = 5


def links() -> None:
    """A line with the newest studies; nothing where there is none."""
    found = studies()
    if not found:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="studies"):
        st.caption("Studies", width="content")
        for study in found[:MOST_LISTED]:
            navigation.link("study", escaped(study.name), study=study.id)


def show() -> None:
    """Draw the study that the address names."""
    named = st.query_params.get(STUDY, "")
    setup_link.say_notice()
    try:
        study = read_study(named)
        now = sweeping.standings(study)
    except SandboxError as error:
        st.error(escaped(str(error)))
        links()
        return
    st.title(escaped(study.name), anchor=False)
    arms = len(study.points[0].plain["arms"]) if study.points else 0
    seeds = len(study.points[0].plain["seeds"]) if study.points else 0
    st.caption(
        f"{count(len(study.points), 'point')} over {_titles(study) or 'nothing'}, "
        f"{count(arms, 'arm')} and {count(seeds, 'seed')} each · by {escaped(study.owner)}, "
        f"{ago(study.created)} · {code(study.id)}"
    )
    _buttons(study, now)
    busy = any(one.state in sweeping.QUEUES_OWN for one in now)
    st.fragment(_points, run_every=TICK if busy else None)(study, [one.state for one in now])
    _figure(study, [one.state for one in now])


def _buttons(study: Study, now: list[sweeping.Standing]) -> None:
    row = st.container(horizontal=True, gap="small", key="study.buttons")
    foreign = steering.refusal(study.owner, session.owner())
    waiting = [one for one in now if one.state in sweeping.QUEUES_OWN]
    left = [one for one in now if one.state not in ("done", *sweeping.QUEUES_OWN)]
    if waiting:
        row.button(
            f"Cancel {count(len(waiting), 'point')}", key="study.cancel",
            on_click=_ask, args=(sweeping.cancel, study), disabled=bool(foreign),
            help=foreign
            or "What runs writes a checkpoint and stops; what waits leaves the queue. Results stay.",
        )  # fmt: skip
    if left:
        row.button(
            f"Resume {count(len(left), 'point')}", key="study.resume",
            on_click=_ask, args=(_resume, study), disabled=bool(foreign),
            help=foreign or "Points that are not done go into the queue, each from its last checkpoint.",
        )  # fmt: skip


def _resume(study: Study) -> int:
    ensure_supervisor()
    return sweeping.hand_in(study)


def _ask(wish: Any, study: Study) -> None:
    try:
        if foreign := steering.refusal(study.owner, session.owner()):
            raise RunUnavailable(foreign)
        wish(study)
    except SandboxError as error:
        session.notice(str(error))


def _points(study: Study, seen: list[str]) -> None:
    """Progress and the list of points; a fragment without charts."""
    try:
        now = sweeping.standings(study)
        left = sweeping.progress(study, now)
    except SandboxError as error:
        st.error(escaped(str(error)))
        return
    states = [one.state for one in now]
    if sorted(states) != sorted(seen):
        st.rerun()  # buttons and figure follow
    more = f", about {duration(left.seconds_left)} left" if left.seconds_left else ""
    st.progress(min(1.0, left.share), text=f"{left.words}{more}")
    rows = final_table(study, states)
    settings = " | ".join(escaped(setting_title(key)) for key in study.keys)
    numeric = [all(number_of(row.values.get(key)) is not None for row in rows) for key in study.keys]
    sides = ["--:", *("--:" if one else ":--" for one in numeric), ":--", "--:", ":--", "--:"]
    lines = [
        f"| Point | {settings} | State | Step | Arm | Seeds | {' | '.join(METRICS.values())} |",
        f"|{'|'.join([*sides, *('--:' for _ in METRICS)])}|",
    ]
    for row in rows:
        one = now[row.point]
        values = [escaped(setting_value(key, row.values.get(key))) for key in study.keys]
        numbers = [_number(metric, row.mean(metric)) for metric in METRICS]
        first = row.arm == rows[0].arm
        step = f"{whole(one.step)} of {whole(one.steps)}" if first else ""
        cells = [
            f"{row.point + 1}" if first else "", *values, _state(one.state) if first else "", step,
            code(row.arm), f"{row.n} of {len(row.seeds)}", *numbers,
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    with st.container(key="study.table"):
        st.markdown("\n".join(lines))
    for number, one in enumerate(now, 1):
        if one.state in ("failed", "damaged"):
            st.caption(f"Point {number}: {escaped(one.reason)}")
    with st.container(horizontal=True, gap="small", key="study.runs"):
        st.caption("Runs", width="content")
        for number, (point, one) in enumerate(zip(study.points, now, strict=True), 1):
            if one.state != "new":
                navigation.link("run", str(number), run=point.run)


def _titles(study: Study) -> str:
    return escaped(", ".join(setting_title(key) for key in study.keys))


def _state(state: str) -> str:
    return WORDS.get(state, state.capitalize())


def _number(metric: str, value: float | None) -> str:
    return "—" if value is None else compare_words.number(metric, value)


def _figure(study: Study, states: list[str]) -> None:
    """A final number over one knob; the other knobs are held at a value that is chosen."""
    if not study.keys:
        return
    st.subheader("Over one knob", anchor=False)
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="study.choices")
    key = row.selectbox("Knob", study.keys, key="study.key", width=260, format_func=setting_title)
    metric = row.selectbox(
        "Number", list(METRICS), format_func=METRICS.__getitem__, key="study.metric", width=200
    )
    held = {}
    for other in study.keys:
        if other != key:
            choices = list(dict.fromkeys(_value(point.values.get(other)) for point in study.points))
            held[other] = row.selectbox(
                escaped(setting_title(other)), choices, key=f"study.held.{other}", width=180
            )
    numbers = [number_of(point.values.get(key)) for point in study.points]
    spread = all(number is not None and number > 0 for number in numbers)
    log = spread and row.toggle("Log axis", value=_wide(numbers), key="study.log")
    from sandbox.figures.sweep import Swept, sweep_figure

    swept = [
        Swept(line.values.get(key), line.arm, line.final.get(metric, _none()), line.state == "done")
        for line in final_table(study, states)
        if all(_value(line.values.get(other)) == value for other, value in held.items())
    ]
    drawing = sweep_figure(
        swept, setting_title(key), METRICS[metric], bool(log), is_dark(), share=compare_words.is_share(metric)
    )
    study_tabs.place(drawing, "study.sweep")


def _wide(numbers: list[float | None]) -> bool:
    """Whether a log axis reads better: the greatest value is at least ten times the least."""
    known = [number for number in numbers if number]
    return bool(known) and max(known) >= 10 * min(known)


def _none() -> Any:
    import numpy as np

    return np.zeros(0)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
