"""The link of a run: what it restores of the view, and the settings it carries in case the run goes."""

from typing import Any

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.live.panels import Panel, declare_panels
from sandbox.store import Run
from sandbox.ui import choices, links, session, study_files, view_link
from sandbox.ui.anew import anew
from sandbox.ui.complete import complete
from sandbox.ui.words import escaped

MOST_TOLD = 6


def shown(run: Run | None, key: str) -> dict[str, Any] | None:
    """What the live view shall show at first, as the address says it; None where it says nothing.

    What could not be taken as it was said is told on the page, once.
    """
    value = st.query_params.get(view_link.PARAMETER)
    if not value or run is None:
        return None
    try:
        # Panels of any run: the live view knows best which this one has, and leaves the others alone.
        known = declare_panels(frozenset(panel.needs for panel in Panel.variants.values()))
        view, told = view_link.decode(value, view_link.limits_of(run, known))
    except SandboxError as error:
        view, told = None, [str(error)]
    if session.first_sight(f"{key}.view", value):
        for sentence in told[:MOST_TOLD]:
            st.warning(escaped(sentence))
    return None if view is None else view.to_plain()


def address(run_id: str, run: Run | None) -> str:
    """The permanent address of the run with its settings in it; the live view adds what is shown."""
    found = study_files.address(run_id)
    if run is None:
        return found
    try:
        plain = complete(choices.catalogue(), anew(run.experiment))
    except SandboxError:  # settings that this version cannot write: the run's own folder has them
        return found
    return f"{found}&{links.PARAMETER}={links.encode(plain)}"
