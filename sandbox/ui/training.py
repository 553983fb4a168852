"""Training: what Train does, and what stands between the draft and a run that is on."""

import json
from typing import Any

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.runner import queue
from sandbox.runner.control import ensure_supervisor
from sandbox.runner.fork_plan import Plan, forked
from sandbox.runner.forking import enqueue_fork
from sandbox.runner.live_requests import request_change
from sandbox.store import Run
from sandbox.ui import before_start, choices, pending, session
from sandbox.ui.anew import anew
from sandbox.ui.changes import changes
from sandbox.ui.complete import complete
from sandbox.ui.settings import Plain
from sandbox.ui.words import code, count, escaped, size, whole

RUN = "run"
"""The query parameter that names the run in the address."""


def train(plain: Plain) -> None:
    """Check `plain` with the trainer and put it in the queue; the address then names the run.

    A refusal is one sentence at the button, and nothing has changed.
    """
    try:
        ensure_supervisor()
        answer = queue.check(plain)
        if not answer["ok"]:
            before_start.keep(plain, answer)
            if not before_start.refusal(plain):
                session.notice(answer["error"])
            return
        st.query_params[RUN] = queue.enqueue(
            answer["plain"],
            session.owner(),
            device=session.device(),
            cost=answer["cost"],
            keeps_on=session.keeps_on(),
        )
    except SandboxError as error:
        session.notice(str(error))


def button(plain: Plain, running: Plain | None, run: Run | None = None) -> None:
    """The button that starts, and what would differ from the run that is on the page."""
    if running and run is not None:
        running = pending.as_it_stands(running, run)
    beside = _as_the_rail_calls_it(running, run) if running and run is not None else running
    different = changes(choices.catalogue(), beside, plain) if beside else []
    refused = before_start.refusal(plain)
    label = f"{count(len(different), 'change')}: Start new" if different else "Train"
    if running and not different:
        label = "Train again"
    st.button(
        label,
        type="primary",
        key="sandbox.train",
        width="stretch",
        disabled=not plain["arms"] or bool(refused),
        on_click=train,
        args=(plain,),
        shortcut="Ctrl+Enter",
    )
    if not plain["arms"]:
        st.caption("Tick at least one arm.")
    elif refused:
        st.error(escaped(refused))
    if running and beside and different and plain["arms"]:
        _instead(plain, running, beside, run)
    for sentence in different[:6]:
        st.caption(escaped(sentence))
    if len(different) > 6:
        st.caption(f"and {len(different) - 6} more")


def _as_the_rail_calls_it(running: Plain, run: Run) -> Plain:
    """The settings of a run with its arms named as those of a run from step 0 may be."""
    found = experiment_of(run.id, renamed=True)
    names = [arm["name"] for arm in (found or running)["arms"]]
    return running | {"arms": [a | {"name": name} for a, name in zip(running["arms"], names, strict=True)]}


def _instead(plain: Plain, running: Plain, beside: Plain, run: Run | None) -> None:
    """What else than a new run can be made of the edits: a change of the run, a fork of it, or nothing.

    `running` has the arms' own names, `beside` those that they have in the rail.
    """
    state = str(run.status["state"]) if run is not None else ""
    edits = pending.live_edits(choices.catalogue(), running, plain)
    with st.container(horizontal=True, gap="small", key="sandbox.pending"):
        if run is not None and edits and state in ("running", "paused"):
            st.button(
                "Apply now", key="sandbox.apply", on_click=_apply, args=(run, edits),
                help="These settings are live: they act before the next step and are marked on the timeline.",
            )  # fmt: skip
        if run is not None:
            step = int(run.status["step"])
            try:
                plan, why = pending.fork_plan(running, plain, step), ""
            except SandboxError as error:
                plan, why = None, str(error)
            st.button(
                "Fork here", key="sandbox.fork", disabled=plan is None or step < 1, on_click=_fork,
                args=(run, plan),
                help=why or f"A new run that goes on from step {whole(step)} of this one with these.",
            )  # fmt: skip
        st.button(
            "Discard", key="sandbox.discard", on_click=session.set_draft,
            args=({name: value for name, value in beside.items() if name != "fork"},),
            help="Bring back the settings of the run on the page.",
        )  # fmt: skip


def _apply(run: Run, edits: list[pending.LiveEdit]) -> None:
    """Ask the run for the edits."""
    try:
        session.require_steering(run.id)
        for arm, key, value in edits:
            request_change(run.path, arm, key, value)
    except SandboxError as error:
        session.notice(str(error))


def _fork(run: Run, plan: Plan) -> None:
    """Go on from where the run stands with the edits; the address then names the new run."""
    try:
        ensure_supervisor()
        answer = queue.check(forked(run, plan))
        if not answer["ok"]:
            session.notice(answer["error"])
            return
        st.query_params[RUN] = enqueue_fork(
            run, answer["plain"], session.owner(), session.device(),
            cost=answer["cost"], keeps_on=session.keeps_on(),
        )  # fmt: skip
    except SandboxError as error:
        session.notice(str(error))


def estimate(plain: Plain) -> None:
    """Parameters and cost of `plain`, asked of the trainer when somebody opens it."""
    drawer = st.expander("Size and cost", key="sandbox.cost", on_change="rerun")
    if not drawer.open:
        return
    with drawer:
        answer = queue.check(plain)
        if not answer["ok"]:
            refused = before_start.NO_ANSWER not in answer["error"]  # which is said at the button
            st.caption("Known once the settings can be trained." if refused else escaped(answer["error"]))
            return
        for sentence in cost_sentences(answer):
            st.markdown(sentence)


def cost_sentences(answer: dict[str, Any]) -> list[str]:
    """What the trainer's check says about size and cost, as Markdown."""
    sentences = [
        f"{code(arm['name'])} {whole(arm['parameters'])} parameters, {arm['flops']:.3g} operations a step "
        f"({arm['projection_flops']:.3g} to project one sequence), {size(arm['bytes'])} of memory a seed"
        for arm in answer["arms"]
    ]
    cost = answer["cost"]
    return [
        *sentences,
        f"About {cost['flops']:.1e} floating point operations, {size(cost['bytes'])} of memory and "
        f"{size(cost['storage'])} on the disk.",
    ]


def experiment_of(run_id: str, renamed: bool = False) -> Plain | None:
    """The complete settings of a run, from its folder or the queue; None where they are not readable here.

    Of a fork what its arms went on with, `renamed` as a run from step 0 may call them.
    """
    run = session.run(run_id)
    plain = run.experiment if run is not None else queued_plain(run_id)
    try:
        return None if plain is None else complete(choices.catalogue(), anew(plain, renamed))
    except SandboxError:
        return None


def on_the_page(run_id: str | None) -> tuple[Plain | None, Run | None]:
    """The complete settings and the run that the address names, where there is one and it can be read."""
    return (experiment_of(run_id), session.run(run_id)) if run_id else (None, None)


def queued_plain(run_id: str) -> Plain | None:
    """The settings of a run that waits, as the queue holds them."""
    with queue.catalogue_connection() as connection:
        row = connection.execute("SELECT plain FROM runs WHERE id = ?", (run_id,)).fetchone()
    return dict(json.loads(row[0])) if row else None
