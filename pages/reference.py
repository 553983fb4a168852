"""Reference: formulas with their papers, what we are sure of, and what the words mean."""

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.ui import reference
from sandbox.ui.words import escaped

st.title("Reference", anchor=False)
st.markdown(
    "Every idea that can be chosen, with its formula, its source and how sure we are that this is what the "
    "source means. The list is made from the code that runs."
)
try:
    reference.families()
except SandboxError as error:
    st.error(escaped(str(error)))
