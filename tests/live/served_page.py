"""The page that the browser tests open: one live view and a sidebar, as on the real pages."""

import streamlit as st

from sandbox.live.component import live_view

st.set_page_config(page_title="Live view", layout="wide")
with st.sidebar:
    st.write("A control rail stands here.")
    st.button("Rerun")
live_view(
    st.query_params.get("run", "run"),
    key="live",
    mode="replay" if st.query_params.get("mode") == "replay" else "live",
    steer="watch" not in st.query_params,
)
