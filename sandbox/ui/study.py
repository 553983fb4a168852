"""Study: figures of a run at rest, to zoom, hover and save; each is built when its tab is opened."""

import gc
from typing import Any

import streamlit as st

from sandbox.store import Run
from sandbox.ui import study_tabs
from sandbox.ui.run_state import RunState


def study(run: Run, state: RunState, key: str) -> None:
    """A drawer with the figures of `run`; while it trains, a sentence that says when they come."""
    if not state.resting:
        st.caption("Pause or end the run to study its curves as figures with zoom, hover and export.")
        return
    drawer = st.expander("Study the figures", key=f"{key}.study", on_change="rerun")
    if not drawer.open:
        return
    with drawer:
        names = study_tabs.available(run)
        tabs = st.tabs(names, key=f"{key}.tabs", on_change="rerun")
        for name, tab in zip(names, tabs, strict=True):
            if tab.open:
                with tab:
                    _draw(run, name, key)
        missing = study_tabs.without(run)
        if missing:
            st.caption("Not for this run. " + " ".join(missing))


def _draw(run: Run, name: str, key: str) -> None:
    figures = _figures()
    study_tabs.draw(figures, run, name, f"{key}.{name}", dark=is_dark())


def _figures() -> Any:
    """The figures, imported when the first one is asked for: Plotly weighs 40 MB that few sessions need."""
    import sandbox.figures as figures

    gc.freeze()
    return figures


def is_dark() -> bool:
    """Whether this browser shows the dark theme."""
    return st.context.theme.type == "dark"
