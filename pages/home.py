"""Home: watch a recorded run, open a preset, go back to a run of yours."""

import streamlit as st

from sandbox.ui import home

left, right = st.columns([2.3, 1], gap="medium")
with left:
    st.title("Attention Conditioning Sandbox", anchor=False)
    st.markdown(
        "Train small transformers on two tasks and compare attention with and without conditioning: the same "
        "data, the same batches, the same starting weights where shapes allow, several seeds. What plays "
        "below is a recorded run, as it was measured."
    )
    home.replay()
with right:
    home.live_runs()
    st.subheader("Start from a preset", anchor=False)
    home.presets()
