"""Runs that a link names and that are gone: said by name, with a way back where there is one."""

from collections.abc import Sequence

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.runner import queue, trash
from sandbox.store import run_path
from sandbox.ui import choices, links, navigation, session
from sandbox.ui.words import ago, code, escaped

BETWEEN = "~"
"""Between the settings of several runs in one link; no link of settings holds it."""
CARRIED = "gone.setups"
MOST_CARRIED = 8 * links.MAX_LINK


def is_gone(run_id: str) -> bool:
    """Whether neither a folder nor the queue knows the run. RunUnavailable for what is no id."""
    return not run_path(run_id).is_dir() and queue.state(run_id) is None


def keep(setups: str, runs: Sequence[str]) -> None:
    """Remember the settings that a link carries, by the run that they belong to."""
    parts = setups[:MOST_CARRIED].split(BETWEEN)
    found = {run: part for run, part in zip(runs, parts, strict=False) if part}
    session.hold(CARRIED, {**(session.held(CARRIED) or {}), **found})


def offer(gone: Sequence[str]) -> None:
    """Say which runs are gone, with what can be done: put them back, or open their settings."""
    lying = {run.id: run for run in trash.deleted()} if gone else {}
    carried: dict[str, str] = session.held(CARRIED) or {}
    for run_id in gone:
        with st.container(border=True, key=f"gone.{run_id}"):
            st.error(f"There is no run {code(run_id)} here (any more).")
            with st.container(horizontal=True, vertical_alignment="center", key=f"gone.ways.{run_id}"):
                if run_id in lying:
                    st.caption(f"It was deleted {ago(lying[run_id].deleted)}.", width="content")
                    st.button("Put it back", key=f"gone.restore.{run_id}", on_click=_restore, args=(run_id,))
                if run_id in carried:
                    if st.button("Open its settings in the Sandbox", key=f"gone.settings.{run_id}"):
                        _open(carried[run_id])
                elif run_id not in lying:
                    st.caption("The link carries no settings of it.", width="content")


def _open(setup: str) -> None:
    try:
        plain = links.decode(choices.catalogue(), setup)
    except SandboxError as error:
        st.error(escaped(str(error)))
        return
    session.set_draft(plain)
    st.switch_page(navigation.page("sandbox"))


def _restore(run_id: str) -> None:
    try:
        trash.restore(run_id, session.owner())
    except SandboxError as error:
        session.notice(str(error))
