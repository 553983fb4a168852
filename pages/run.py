"""Run: one run under its permanent link, to watch, steer and study."""

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.ui import run_page, run_view, setup_link
from sandbox.ui.words import escaped

setup_link.say_notice()
run_id = setup_link.run_in_address()
if run_id is None:
    run_page.choose()
else:
    try:
        run_page.heading(run_id)
        run_view.show(run_id, "run")
    except SandboxError as error:
        st.error(escaped(str(error)))
