"""Compare: runs and arms beside one another, with their differences and how sure these are."""

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.ui import compare
from sandbox.ui.words import escaped

try:
    compare.show()
except SandboxError as error:
    st.error(escaped(str(error)))
