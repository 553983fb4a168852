"""The page of one run: its name, what it trains, and the way back to the Sandbox."""

import streamlit as st

from sandbox.runner import queue
from sandbox.ui import downloads, navigation, training
from sandbox.ui.described import difference
from sandbox.ui.words import code, escaped


def choose() -> None:
    """Without a run in the address: the list of those that are here."""
    st.switch_page(navigation.page("gallery"))


def heading(run_id: str) -> None:
    """The run's name and what it trains, in the words of its difference to a preset."""
    queued = queue.state(run_id)
    name = queued.name if queued else run_id
    plain = training.experiment_of(run_id, renamed=True)
    row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
    row.subheader(escaped(name), anchor=False, width="content")
    if plain is not None:
        with row:
            navigation.link(
                "sandbox", "Open these settings in the Sandbox", **downloads.setup_parameter(plain)
            )
        st.caption(f"{escaped(difference(plain))} · {code(run_id)}")
