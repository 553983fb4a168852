"""Bringing a run to this server: the ZIP that another one's download menu made."""

import io

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.store.importing import import_run
from sandbox.ui import session

MOST_MEGABYTES = 64
MOST_UNPACKED = 500_000_000
BROUGHT = "gallery.brought"
"""Where the session holds the run that is to be opened next."""


def upload() -> None:
    """A place to drop a run's ZIP; a good one becomes a run of this server, a bad one gets one sentence."""
    with st.expander("Bring a run from a ZIP", key="run.bring", icon=":material/upload:"):
        st.file_uploader(
            "The ZIP of a run: “The whole run” of its download menu, or `export --to zip`",
            type=["zip"],
            key="run.upload",
            on_change=_take,
            max_upload_size=MOST_MEGABYTES,
        )


def _take() -> None:
    file = session.reported("run.upload")
    if file is None:
        return
    try:
        folder = import_run(io.BytesIO(file.getvalue()), file.name, most_bytes=MOST_UNPACKED)
    except SandboxError as error:
        session.notice(str(error))
        return
    session.hold(BROUGHT, folder.name)
    session.notice(f"{folder.name} is here now; nothing that was here has changed.", "info")
