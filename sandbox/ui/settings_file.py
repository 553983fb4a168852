"""Settings from a file that somebody chooses: TOML or JSON, checked like a link."""

import tomllib

import streamlit as st

from sandbox.foundations.errors import InvalidPlain, SandboxError
from sandbox.foundations.typed_text import refuse_costly_toml
from sandbox.ui import choices, links, session
from sandbox.ui.complete import FORK, complete
from sandbox.ui.settings import Plain

MAX_BYTES = 32_000


def upload() -> None:
    """A place to drop a settings file; a good one fills the rail, a bad one gets one sentence."""
    with st.expander("Open settings from a file", key="sandbox.file"):
        st.file_uploader(
            "TOML or JSON",
            type=["toml", "json"],
            key="sandbox.upload",
            on_change=_take,
            max_upload_size=1,
        )


def _take() -> None:
    file = session.reported("sandbox.upload")
    if file is None:
        return
    try:
        session.set_draft(read(file.name, file.getvalue()))
    except SandboxError as error:
        session.notice(str(error))


def read(name: str, content: bytes) -> Plain:
    """The experiment in a file, complete; raises a SandboxError with one sentence."""
    if len(content) > MAX_BYTES:
        raise InvalidPlain(f"The file has {len(content)} bytes; an experiment has at most {MAX_BYTES}.")
    try:
        text = content.decode("utf-8")
        plain = _read_toml(text) if name.lower().endswith(".toml") else links.read_json(text, "The file")
    except (ValueError, RecursionError) as error:
        raise InvalidPlain(f"The file cannot be read: {str(error)[:120]}.") from error
    if isinstance(plain, dict) and FORK in plain:
        raise InvalidPlain(
            "These settings go on from a step of another run; `python -m sandbox train FILE` trains them, "
            "or open that run and continue it there."
        )
    return complete(choices.catalogue(), plain)


def _read_toml(text: str) -> Plain:
    refuse_costly_toml(text)
    return tomllib.loads(text)
