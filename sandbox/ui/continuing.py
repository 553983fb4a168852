"""Continuing: forms that make a new run of one that is here, from one of its steps or with new seeds."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from sandbox.foundations.errors import InvalidKnob, SandboxError
from sandbox.runner import queue
from sandbox.runner.control import ensure_supervisor
from sandbox.runner.fork_plan import Plan, forked
from sandbox.runner.forking import enqueue_fork
from sandbox.store import Run
from sandbox.store.forks import begun_at
from sandbox.ui import fork_form, session, training
from sandbox.ui.words import code, whole

FORK, SEEDS = "fork", "seeds"
KEPT = (
    "Weights, optimizer moments and the order of batches are as they were at that step; the run that is here "
    "stays as it is, and its curves stand behind the new ones as a ghost. With nothing changed the new run "
    "goes the same way, bit for bit."
)
MOST_STEPS = 1_000_000
ABOVE, BELOW = "above", "below"
"""Where the form opens: beside what asked for it, the live view's bar or the buttons below."""
BESIDE_RAIL = "sandbox"
"""The key of the run that stands beside the rail."""


def ask(key: str, run: Run, what: str, step: int, place: str = BELOW) -> None:
    """Open a form from the next run of the script on."""
    session.hold(f"{key}.continuing", (run.id, what, step, place))


def buttons(run: Run, key: str) -> None:
    """The two buttons below a run that has made a step."""
    last = int(run.status["step"])
    for label, what, words in (
        ("Continue…", FORK, "A new run from a step of this one, with changed knobs or more steps"),
        ("New seeds…", SEEDS, "The same experiment from step 0 with other seeds, as a new run"),
    ):
        st.button(
            label, key=f"{key}.ask.{what}", help=words, on_click=ask, args=(key, run, what, last),
            disabled=last < 1 and what == FORK,
        )  # fmt: skip


def form(run: Run, key: str, place: str) -> None:
    """The form that was asked for, if one was for this run and from this `place`."""
    asked = session.held(f"{key}.continuing")
    if asked is None or (asked[0], asked[3]) != (run.id, place):
        return
    _, what, step, _ = asked
    with st.container(border=True, key=f"{key}.continuing"):
        if what == FORK:
            _fork(run, key, min(max(step, begun_at(run.experiment)), int(run.status["step"])))
        else:
            _seeds(run, key)


def _fork(run: Run, key: str, step: int) -> None:
    place = f"{key}.{FORK}.{step}"
    st.markdown(f"**Continue {code(run.id)} from step {whole(step)}** as a new run")
    st.caption(KEPT)
    with st.form(place, enter_to_submit=False, border=False):
        with st.container(horizontal=True):
            st.number_input(
                "Step", begun_at(run.experiment), int(run.status["step"]), step, key=f"{place}.step"
            )
            limit = max(int(run.experiment["steps"]), step + (1 if step < run.experiment["steps"] else 1000))
            st.number_input(
                "Step limit", 1, MOST_STEPS, limit, key=f"{place}.steps",
                help="Beyond the present one to train on. A linear decay ends there.",
            )  # fmt: skip
        _chosen(run, place, run.seeds)
        offered = fork_form.common(run, place)
        single = fork_form.by_arm(run, place, step)
        _send(key, lambda: _planned(place, [*offered, *single]), run)


def _seeds(run: Run, key: str) -> None:
    place = f"{key}.{SEEDS}"
    st.markdown(f"**Train {code(run.id)} again with other seeds**, from step 0, as a new run")
    st.caption(
        "Data, batch order and starting weights are drawn anew; the mean of this run stays as a ghost."
    )
    first = max(run.seeds) + 1
    with st.form(place, enter_to_submit=False, border=False):
        st.text_input(
            "Seeds", ", ".join(str(first + n) for n in range(len(run.seeds))), key=f"{place}.list",
            help="Whole numbers with commas between them.", max_chars=1000,
        )  # fmt: skip
        st.number_input("Step limit", 1, MOST_STEPS, int(run.experiment["steps"]), key=f"{place}.steps")
        _chosen(run, place, None)
        _send(key, lambda: _replanned(place), run)


def _chosen(run: Run, place: str, seeds: tuple[int, ...] | None) -> None:
    with st.container(horizontal=True):
        st.multiselect("Arms", run.arms, run.arms, key=f"{place}.arms")
        if seeds is not None:
            st.multiselect("Seeds", seeds, seeds, key=f"{place}.seeds")


def _send(key: str, plan: Callable[[], Plan], run: Run) -> None:
    with st.container(horizontal=True, key=f"{key}.continuing.send"):
        st.form_submit_button(
            "Start the new run", type="primary", key=f"{key}.continuing.start",
            on_click=partial(start, key, run, plan),
        )  # fmt: skip
        st.form_submit_button(
            "Close", key=f"{key}.continuing.close", on_click=session.hold, args=(f"{key}.continuing", None)
        )


def _planned(place: str, offered: list[fork_form.Offered]) -> Plan:
    """What the form says when it is sent; a knob that still shows what it showed is not changed."""
    found = [(arm, name, session.reported(where), shown) for arm, name, where, shown in offered]
    return Plan(
        step=session.reported(f"{place}.step"),
        steps=session.reported(f"{place}.steps"),
        arms=session.reported(f"{place}.arms"),
        seeds=session.reported(f"{place}.seeds"),
        settings=[(arm, name, value) for arm, name, value, shown in found if value not in (shown, None)],
    )


def _replanned(place: str) -> Plan:
    return Plan(
        step=0,
        steps=session.reported(f"{place}.steps"),
        arms=session.reported(f"{place}.arms"),
        seeds=read_seeds(session.reported(f"{place}.list") or ""),
    )


def read_seeds(text: str) -> list[int]:
    """The seeds of a text such as "3, 4, 5"; InvalidKnob where it is no such list."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words or not all(word.isdecimal() and len(word) < 11 for word in words):
        raise InvalidKnob(f"The seeds are {text[:80]!r}; give whole numbers such as 3, 4, 5.")
    return [int(word) for word in words]


def start(key: str, run: Run, plan: Callable[[], Plan]) -> None:
    """Check the plan with the trainer and put the new run in the queue; address and rail then are its."""
    try:
        ensure_supervisor()
        plain = forked(run, plan())
        answer = queue.check(plain)
        if not answer["ok"]:
            session.notice(answer["error"])
            return
        device = "cuda" if str(run.meta("device")).startswith("cuda") else "cpu"
        made = enqueue_fork(
            run, answer["plain"], session.owner(), device,
            cost=answer["cost"], keeps_on=session.keeps_on(),
        )  # fmt: skip
        st.query_params[training.RUN] = made
        followed = training.experiment_of(made, renamed=True) if key == BESIDE_RAIL else None
        if followed is not None:  # else the rail would show as changes what nobody has changed in it
            session.set_draft(followed)
        session.hold(f"{key}.continuing", None)
    except SandboxError as error:
        session.notice(str(error))
