"""The page of one run: its name, what it trains, and the way back to the Sandbox."""

import streamlit as st

from sandbox.runner import queue
from sandbox.store import run_folders
from sandbox.ui import bring, choices, downloads, navigation, training
from sandbox.ui.changes import changes, extent
from sandbox.ui.settings import Plain
from sandbox.ui.words import code, escaped

LISTED = 50


def choose() -> None:
    """Without a run in the address: a list of those that are here."""
    st.title("Runs", anchor=False)
    names = [folder.name for folder in run_folders()[:LISTED]]
    if not names:
        st.info("There is no run on this server yet. Open the Sandbox and press Train.")
    for name in names:
        navigation.link("run", escaped(name), run=name)
    bring.upload()


def heading(run_id: str) -> None:
    """The run's name and what it trains, in the words of its difference to a preset."""
    queued = queue.state(run_id)
    name = queued.name if queued else run_id
    plain = training.experiment_of(run_id)
    row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
    row.subheader(escaped(name), anchor=False, width="content")
    if plain is not None:
        with row:
            navigation.link(
                "sandbox", "Open these settings in the Sandbox", **downloads.setup_parameter(plain)
            )
        st.caption(f"{_what(plain)} · {code(run_id)}")


def _what(plain: Plain) -> str:
    """The nearest preset and the difference to it; a plain count where nothing is near."""
    catalogue = choices.catalogue()
    nearest = min(
        catalogue.presets, key=lambda name: len(changes(catalogue, choices.preset(name), plain)), default=None
    )
    own = extent(plain)
    if nearest is None:
        return own
    different = changes(catalogue, choices.preset(nearest), plain)
    if len(different) > 4:
        return f"{escaped(catalogue.variant('task', plain['task']['kind']).title)}, {own}"
    return escaped("; ".join([f"Preset {nearest}", *different])) + f" · {own}"
