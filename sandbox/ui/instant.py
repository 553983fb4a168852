"""Instant: the page on which everything is trained anew while a knob is turned."""

from typing import Any

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.foundations.kernels import found_build
from sandbox.live.instant_component import instant_view
from sandbox.runner.instant import knobs as instant_knobs
from sandbox.ui import choices, navigation, session
from sandbox.ui.complete import complete
from sandbox.ui.words import escaped

TITLE = "Instant"
TEXT = (
    "A transformer of some two hundred weights learns to add the first tokens and to ignore the others. "
    "Turn a knob: all seeds are trained anew from their start, and what you see is what they have become."
)
WANTED = "instant.wanted"
"""Under this key the settings to go on with in the Sandbox are held until the page leaves."""


def show() -> None:
    """The whole page; without the native engine a sentence that says why, and the way to the Sandbox."""
    if session.held(WANTED) is not None:
        session.set_draft(session.held(WANTED))
        session.hold(WANTED, None)
        st.switch_page(navigation.page("sandbox"))
    st.title(TITLE, anchor=False)
    st.markdown(TEXT)
    why = found_build()[1]
    if why:
        st.info(escaped(f"Nothing can be trained at once here: {why}."))
        navigation.link("sandbox", "Train in the Sandbox instead")
        return
    values, trouble = in_address({name: str(value) for name, value in st.query_params.items()})
    if trouble:
        st.warning(escaped(trouble))
    instant_view(values, key="instant.view", on_train=want)


def in_address(said: dict[str, str]) -> tuple[instant_knobs.Knobs, str]:
    """The knobs that an address names; as at first, with a sentence, where it cannot be followed."""
    try:
        return instant_knobs.check_knobs({name: _number(text) for name, text in said.items()}), ""
    except SandboxError as error:
        return instant_knobs.defaults(), f"The address was not followed. {error}"


def want(given: dict[str, Any]) -> None:
    """Go on in the Sandbox with these knobs; one that cannot be trained is told in a sentence there."""
    try:
        plain = instant_knobs.experiment_plain(instant_knobs.check_knobs(given))
        session.hold(WANTED, complete(choices.catalogue(), plain))
    except SandboxError as error:
        session.notice(str(error))


def _number(text: str) -> object:
    """A whole number where it is written as one, any other number, or the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text[:40]
