"""Live knobs: values that may change while a run goes on; every change is an event of the run."""

from typing import Any

import streamlit as st

from sandbox.foundations.catalogue import Catalogue, KnobEntry
from sandbox.foundations.errors import SandboxError
from sandbox.runner.fork_plan import values_now
from sandbox.runner.live_requests import request_change
from sandbox.store import Run
from sandbox.ui import choices, session
from sandbox.ui.complete import complete
from sandbox.ui.settings import Plain
from sandbox.ui.widgets import step_of
from sandbox.ui.words import escaped

SENTENCE = (
    "The change acts before the next step, is marked on the timeline, and is part of every later checkpoint. "
    "Certificates computed before it hold for the earlier value."
)


def live_knobs(run: Run, key: str) -> None:
    """A drawer in which one live knob of one arm gets another value."""
    with st.expander("Change a value while it trains", key=f"{key}.live_knobs"):
        st.caption(SENTENCE)
        arm = st.selectbox("Arm", run.arms, key=f"{key}.live_knobs.arm")
        offered = knobs_of(choices.catalogue(), run.experiment, arm)
        with st.container(horizontal=True, vertical_alignment="bottom", key=f"{key}.live_knobs.row"):
            name = st.selectbox(
                "Setting",
                offered,
                format_func=lambda k: offered[k][0].spec.label,
                key=f"{key}.live_knobs.name",
            )
            knob, started = offered[name]
            value = st.number_input(
                "New value",
                min_value=knob.spec.low,
                max_value=knob.spec.high,
                value=present(run, arm, name, started),
                step=float(step_of(knob)),
                format="%g",
                key=f"{key}.live_knobs.value.{arm}.{name}",
            )
            st.button(
                "Change", key=f"{key}.live_knobs.apply", on_click=_ask, args=(run, arm, name, knob, value)
            )


def knobs_of(catalogue: Catalogue, plain: Plain, arm_name: str) -> dict[str, tuple[KnobEntry, float]]:
    """The live knobs of an arm by dotted key, such as "projection.shift", with the values they start at."""
    whole = complete(catalogue, plain)
    arm = next(arm for arm in whole["arms"] if arm["name"] == arm_name)
    slots = {slot: arm.get(slot, whole["model"].get(slot)) for slot in catalogue.slots}
    parts: dict[str, Any] = {slot: settings for slot, settings in slots.items() if settings}
    parts["optimizer"] = whole["optimizer"]
    return {
        f"{part}.{name}": (knob, float(settings[name]))
        for part, settings in parts.items()
        for name, knob in catalogue.variant(part, settings["kind"]).knobs.items()
        if knob.spec.live
    }


def present(run: Run, arm: str, name: str, started: float) -> float:
    """The value that the knob has now: the last change made or asked for, or where it started."""
    return float(values_now(run).get((arm, name), started))


def _ask(run: Run, arm: str, name: str, knob: KnobEntry, value: float) -> None:
    try:
        session.require_steering(run.id)
        request_change(run.path, arm, name, knob.check(arm, value))
        session.notice(
            f"Asked for {escaped(knob.spec.label)} {value:g} in {arm}; the timeline marks it.", "info"
        )
    except SandboxError as error:
        session.notice(str(error))
