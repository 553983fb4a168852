"""Before the start: what the settings ask of this server, when they would begin, and whose run it will be."""

from copy import deepcopy
from typing import Any

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.runner import queue
from sandbox.runner.engine_words import engine_sentences
from sandbox.runner.limits import free_bytes, limits, run_budget, stored_bytes
from sandbox.runner.outlook import outlook_of_new
from sandbox.runner.steering import ANYBODY
from sandbox.ui import owner_cookie, session
from sandbox.ui.settings import Plain
from sandbox.ui.words import count, duration, escaped, size

PATIENCE = 1.0
"""Seconds that the estimate may take; while the trainer is busy there is none."""

NO_ANSWER = "did not answer"
OWNER, ON, ANSWER = "queue.owner", "queue.keeps_on", "queue.answer"


def refusal(plain: Plain) -> str:
    """Why the trainer refuses `plain`; empty where it would train it, or has not answered."""
    asked, answer = session.held(ANSWER) or (None, {"ok": True})
    return "" if asked != plain or answer["ok"] else str(answer["error"])


def keep(plain: Plain, answer: dict[str, Any]) -> None:
    """Remember what the trainer said of `plain`; that it has said nothing yet is no answer."""
    if answer["ok"] or NO_ANSWER not in answer["error"]:
        session.hold(ANSWER, (deepcopy(plain), answer))


def estimate(plain: Plain) -> None:
    """`3 seeds × 2 arms × 1,500 steps: about 4 min here`; why not is said at the button that starts.

    A refusal is asked again each time, since room and limits change without the settings.
    """
    if not plain["arms"]:
        return
    try:
        asked, answer = session.held(ANSWER) or (None, {"ok": False})
        if asked != plain or not answer["ok"]:
            said = refusal(plain)
            answer = queue.check(plain, timeout=PATIENCE)
            keep(plain, answer)
            if refusal(plain) != said:
                st.rerun()  # the button stands above, and was drawn with what was known then
        if not answer["ok"]:
            return
        st.caption(escaped(sentence(answer)))
        engines = engines_of(answer)
        if engines:
            st.caption(f"Trained by: {escaped(engines)}.")
    except SandboxError as error:
        st.caption(escaped(str(error)))


def sentence(answer: dict[str, Any]) -> str:
    """What an experiment that the trainer has found good comes to here."""
    plain = answer["plain"]
    found = outlook_of_new(plain, answer["cost"], session.owner(), session.device())
    extent = " × ".join((
        count(len(plain["seeds"]), "seed"), count(len(plain["arms"]), "arm"), count(plain["steps"], "step"),
    ))  # fmt: skip
    begins = ""
    if found.wait > 0:
        begins = f", after {count(found.before, 'run')} that wait" if found.before else ""
        begins = f"; begins in about {duration(found.wait)}{begins}"
    return f"{extent}: about {duration(found.seconds)} here, {found.basis}{begins}"


def engines_of(answer: dict[str, Any]) -> str:
    """Which engine would train each arm on the chosen device, and why not the native one; may be empty."""
    return "; ".join(engine_sentences((answer.get("engines") or {}).get(session.device())))


def whose() -> None:
    """Whose runs the next ones are, and whether they train on unwatched while others wait."""
    with st.popover("Queue", key="queue.whose", help="Whose run it is, and what happens when nobody watches"):
        session.show(OWNER, session.owner())
        st.text_input(
            "Your name in the queue",
            key=OWNER,
            max_chars=40,
            on_change=session.on_change(OWNER, session.set_owner),
            help="Owners take turns. It is no login: anybody may use any name. This browser remembers it.",
        )
        owner_cookie.keep("" if session.owner() == ANYBODY else session.owner())
        session.show(ON, session.keeps_on())
        st.toggle(
            "Train on when nobody watches",
            key=ON,
            on_change=session.on_change(ON, session.set_keeps_on),
            help=(
                "Else a run that no page has shown for ten minutes makes way while another owner's run "
                "waits, and goes on in its turn from a checkpoint, with the same numbers."
            ),
        )


def room() -> None:
    """What the runs here take and may take, and what goes when it is too much."""
    try:
        most, used, free = limits(), stored_bytes(), free_bytes()
    except OSError:
        return
    together = f" of the {size(most.all_storage)} they may" if most.all_storage else ""
    st.caption(
        f"The runs here take {size(used)}{together}; the disk has {size(free)} left. One run may keep "
        f"{size(run_budget())} of snapshots. Beyond that snapshots are thinned; curves and events stay. On a "
        "full disk runs pause, and go on by themselves when there is room."
    )
