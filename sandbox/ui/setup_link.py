"""What the address says: a link's settings, or a run whose settings the rail shall show."""

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.ui import choices, links, session, training, view_link
from sandbox.ui.words import escaped

KNOWN = (training.RUN, links.PARAMETER, view_link.PARAMETER)
"""What an address of the Sandbox may say; all else is told, so that no setting is ignored in silence."""

RESTORED = "The settings of the link are in the rail. Nothing has been started."


def run_in_address() -> str | None:
    """The run that the address names, or None."""
    return st.query_params.get(training.RUN) or None


def follow() -> None:
    """Take up what the address says; a link that cannot be read changes nothing and is told in a sentence."""
    setup = st.query_params.get(links.PARAMETER)
    run_id = run_in_address()
    unknown = [key for key in st.query_params if key not in KNOWN]
    for key in unknown:
        del st.query_params[key]
    if unknown:
        session.notice(f"The address has no part {unknown[0][:40]!r}; it has {', '.join(KNOWN)}.")
    elif setup is not None:
        # Out of the address at once: what the person changes next would no longer be what it says.
        del st.query_params[links.PARAMETER]
        try:
            session.set_draft(links.decode(choices.catalogue(), setup))
            session.notice(RESTORED, "info")
        except SandboxError as error:
            session.notice(str(error))
    elif run_id is not None and session.draft() is None:
        plain = training.experiment_of(run_id, renamed=True)
        if plain is not None:
            session.set_draft(plain)


def say_notice() -> None:
    """Say what the last action had to tell, once."""
    found = session.take_notice()
    if found is not None:
        kind, sentence = found
        (st.error if kind == "error" else st.info)(escaped(sentence))
        if kind == "error":
            st.toast(escaped(sentence), duration="long")  # seen wherever the page is scrolled to
