"""Home: watch a recorded run, open a preset, go back to a run of yours."""

import streamlit as st

from sandbox.ui import home

left, right = st.columns([2.3, 1], gap="medium")
with left:
    st.title(home.TITLE, anchor=False)
    st.markdown(home.TEXT)
    home.replay()
with right:
    home.live_runs()
    home.instant_card()
    st.subheader("Start from a preset", anchor=False)
    home.presets()
