"""Sandbox: set an experiment up, press Train, watch it learn."""

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.ui import (
    before_start,
    downloads,
    invitation,
    rail,
    run_view,
    settings_file,
    setup_link,
    training,
)
from sandbox.ui.words import escaped

try:
    setup_link.follow()
    run_id = setup_link.run_in_address()
    with st.sidebar:
        place = st.container(key="rail.train")
        plain = rail.rail()
        training.estimate(plain)
        settings_file.upload()
        downloads.link(plain, "rail")
    with place:
        training.button(plain, *training.on_the_page(run_id))
        before_start.whose()
        expected = st.container(key="rail.expected")
except SandboxError as error:
    st.error(escaped(str(error)))
    st.stop()

setup_link.say_notice()
if run_id:
    try:
        run_view.show(run_id, "sandbox")
    except SandboxError as error:
        st.error(escaped(str(error)))
else:
    invitation.invitation(plain)
with expected:  # last, since it waits for the trainer's answer
    before_start.estimate(plain)
