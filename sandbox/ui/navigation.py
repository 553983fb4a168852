"""Navigation: the pages of the app and the links between them."""

from pathlib import Path
from typing import Any

import streamlit as st

PAGES = Path(__file__).resolve().parents[2] / "pages"
TITLES = {
    "home": "Home",
    "sandbox": "Sandbox",
    "instant": "Instant",
    "gallery": "Runs",
    "compare": "Compare",
    "run": "Run",
    "study": "Study",
    "reference": "Reference",
}
HIDDEN = ("run", "study")
"""Reached by a link that names the run or the study."""


def page(name: str) -> Any:
    """The page as Streamlit knows it; made anew for each script run, which is how links name it."""
    return st.Page(
        PAGES / f"{name}.py",
        title=TITLES[name],
        url_path=name,
        default=name == "home",
        visibility="hidden" if name in HIDDEN else "visible",
        icon="",
    )


def link(name: str, label: str, **parameters: str) -> None:
    """A link to a page, with what its address has to say."""
    st.page_link(page(name), label=label, query_params=parameters or None)
