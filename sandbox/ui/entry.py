"""The script that Streamlit runs for every page; the launcher is app.py."""

from sandbox.ui.chrome import chrome

chrome()
