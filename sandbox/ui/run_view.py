"""One run on a page: the live view, the table of its arms, downloads, and figures to study at rest."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.live.component import live_view
from sandbox.runner import queue
from sandbox.runner.engine_words import engine_sentences
from sandbox.runner.outlook import outlook
from sandbox.runner.places import being_written
from sandbox.store import Run, run_path
from sandbox.store.summary import TARGET, summarize
from sandbox.ui import continuing, downloads, gone, links, live_knobs, making, run_link, session, study
from sandbox.ui.arm_table import table
from sandbox.ui.run_state import ENDED, RunState, state_of
from sandbox.ui.words import count, duration, escaped, percent

TICK, PAUSED_TICK = 1.0, 2.0
"""Seconds between two looks at the numbers; the live view above has its own, faster socket."""

MOST_NOTES = 6


def show(run_id: str, key: str) -> None:
    """Draw the run. Call it outside any fragment: the live view must be mounted once."""
    try:
        run_path(run_id)
    except SandboxError as error:
        st.error(escaped(str(error)))
        return
    if gone.is_gone(run_id):
        gone.keep(st.query_params.get(links.PARAMETER, ""), [run_id])
        gone.offer([run_id])
        return
    run = session.run(run_id)
    state = state_of(run_id, run)
    if run is None and state.state in ENDED:
        st.error(escaped(state.reason or "This run recorded nothing."))
        return
    if run is None and (damage := _damage(run_id)):
        st.error(escaped(damage))
        st.caption("The queue still lists the run; once its folder can be read again it is shown here.")
        st.fragment(_mend, run_every=TICK)(run_id)
        return
    with st.container(key=f"{key}.above"):  # always there, so that what opens in it moves no view's place
        if run is not None:
            continuing.form(run, key, continuing.ABOVE)
    onward = (
        None if run is None else partial(continuing.ask, key, run, continuing.FORK, place=continuing.ABOVE)
    )
    foreign = session.why_not_steer(run_id)
    live_view(
        run_id,
        key=f"{key}.live",
        steer=not foreign,
        on_continue=onward,
        address=run_link.address(run_id, run),
        shown=run_link.shown(run, key),
    )
    # Who resumes a paused run says so to its trainer, not to this script.
    every = {"paused": PAUSED_TICK}.get(state.state) if state.resting else TICK
    st.fragment(_tick, run_every=every)(run_id, state)
    if run is not None:
        with st.container(horizontal=True, vertical_alignment="center", key=f"{key}.below"):
            downloads.menu(run, key)
            continuing.buttons(run, key)
            if state.state in ("stopped", "failed") and queue.state(run_id) is not None:
                st.button(
                    "Continue from the last checkpoint",
                    key=f"{key}.requeue",
                    disabled=bool(foreign),
                    help=foreign or None,
                    on_click=_ask,
                    args=(queue.requeue, run_id),
                )
        with st.container(
            key=f"{key}.onward"
        ):  # always there, so that what opens in it moves no figure's place
            continuing.form(run, key, continuing.BELOW)
        making.line(run, key)
        if foreign:
            st.caption(escaped(foreign))
        elif state.state in ("running", "paused"):
            live_knobs.live_knobs(run, key)
        study.study(run, state, key)


def _damage(run_id: str) -> str:
    """Why the run's folder cannot be read; empty where there is none yet, or where it is in the making."""
    return "" if being_written(run_path(run_id)) else session.damage(run_id)


def _mend(run_id: str) -> None:
    """Show the run as soon as it can be read, or is being written again."""
    if not _damage(run_id):
        st.rerun()


def _ask(wish: Callable[[str], None], run_id: str) -> None:
    """Ask the queue for something; a refusal is one sentence on the page."""
    try:
        session.require_steering(run_id)
        wish(run_id)
    except SandboxError as error:
        session.notice(str(error))


def _tick(run_id: str, seen: RunState) -> None:
    """The numbers under the live view; no charts, so that a tick stays light."""
    try:
        _numbers(run_id, seen)
    except SandboxError as error:  # a fragment runs by itself: the page does not hear of it
        st.error(escaped(str(error)))


def _numbers(run_id: str, seen: RunState) -> None:
    run = session.run(run_id)
    state = state_of(run_id, run)
    if state.resting != seen.resting or (
        run is not None and run.status["state"] == "queued" and state.state != "queued"
    ):
        st.rerun()  # figures appear or go, and the ticking stops or starts
    if state.state == "queued":
        _waiting(run_id)
    if run is None:
        st.caption("The table of arms appears with the first step.")
        return
    arm_table(run)


def _waiting(run_id: str) -> None:
    """Where a run stands in the queue, and the way out of it."""
    found = outlook(run_id)
    before = found.before if found else 0
    begins = f" It begins in about {duration(found.wait)}." if found and found.wait else ""
    with st.container(horizontal=True, vertical_alignment="center", key="run.waiting"):
        st.caption(f"Waits for a free trainer, {count(before, 'run')} before it.{begins}", width="content")
        foreign = session.why_not_steer(run_id)
        st.button(
            "Leave the queue", key="run.leave", on_click=_ask, args=(queue.stop, run_id),
            disabled=bool(foreign), help=foreign or None,
        )  # fmt: skip


def arm_table(run: Run) -> None:
    """The table of arms with the sentences that say what its numbers are."""
    target = float((run.meta("target") or {}).get("value", TARGET))
    lines = summarize(run, target)
    with st.container(key="run.table"):
        st.markdown(table(lines))
        st.caption(
            f"Reached: held-out accuracy of {percent(target)} at an evaluation. Differences are "
            "between equal seeds, in percentage points at the last evaluation of both, with a "
            "95\u00a0% Student interval."
        )
        engines = "; ".join(engine_sentences(run.meta("engines")))
        if engines:
            st.caption(f"Trained by: {escaped(engines)}.")
        if run.notes:
            st.caption(f"Data: {escaped('; '.join(run.notes[:MOST_NOTES]))}.")
