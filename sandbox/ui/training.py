"""Training: what Train does, and what stands between the draft and a run that is on."""

import json
from typing import Any

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.runner import queue
from sandbox.runner.control import ensure_supervisor
from sandbox.ui import choices, session
from sandbox.ui.changes import changes
from sandbox.ui.complete import complete
from sandbox.ui.settings import Plain
from sandbox.ui.words import code, count, escaped, size, whole

OWNER = session.ANYBODY
"""Everybody who gave no name."""

RUN = "run"
"""The query parameter that names the run in the address."""


def train(plain: Plain) -> None:
    """Check `plain` with the trainer and put it in the queue; the address then names the run.

    A refusal is one sentence on the page, and nothing has changed.
    """
    try:
        ensure_supervisor()
        answer = queue.check(plain)
        if not answer["ok"]:
            session.notice(answer["error"])
            return
        st.query_params[RUN] = queue.enqueue(
            answer["plain"],
            session.owner(),
            device=session.device(),
            flops=answer["cost"]["flops"],
            keeps_on=session.keeps_on(),
        )
    except SandboxError as error:
        session.notice(str(error))


def button(plain: Plain, running: Plain | None) -> None:
    """The button that starts, and what would differ from the run that is on the page."""
    different = changes(choices.catalogue(), running, plain) if running else []
    label = f"{count(len(different), 'change')}: Start new" if different else "Train"
    if running and not different:
        label = "Train again"
    st.button(
        label,
        type="primary",
        key="sandbox.train",
        width="stretch",
        disabled=not plain["arms"],
        on_click=train,
        args=(plain,),
        shortcut="Ctrl+Enter",
    )
    if not plain["arms"]:
        st.caption("Tick at least one arm.")
    for sentence in different[:6]:
        st.caption(escaped(sentence))
    if len(different) > 6:
        st.caption(f"and {len(different) - 6} more")


def estimate(plain: Plain) -> None:
    """Parameters and cost of `plain`, asked of the trainer when somebody opens it."""
    drawer = st.expander("Size and cost", key="sandbox.cost", on_change="rerun")
    if not drawer.open:
        return
    with drawer:
        answer = queue.check(plain)
        if not answer["ok"]:
            st.error(escaped(answer["error"]))
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


def experiment_of(run_id: str) -> Plain | None:
    """The complete settings of a run, from its folder or the queue; None where they are not readable here."""
    run = session.run(run_id)
    plain = run.experiment if run is not None else queued_plain(run_id)
    try:
        return None if plain is None else complete(choices.catalogue(), plain)
    except SandboxError:
        return None


def queued_plain(run_id: str) -> Plain | None:
    """The settings of a run that waits, as the queue holds them."""
    with queue.catalogue_connection() as connection:
        row = connection.execute("SELECT plain FROM runs WHERE id = ?", (run_id,)).fetchone()
    return dict(json.loads(row[0])) if row else None
