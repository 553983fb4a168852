"""Chrome: what surrounds every page: title, logo, style sheet, navigation."""

from pathlib import Path

import streamlit as st

from sandbox.ui import navigation

ASSETS = Path(__file__).resolve().parents[2] / "assets"
RAIL_WIDTH = 288

# A component may bring a style sheet of its own; it is the one way to add one without HTML in a page.
_style = st.components.v2.component(
    "attention_conditioning_sandbox.style",
    html='<span class="acs-style" hidden></span>',
    css=(ASSETS / "app.css").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def chrome() -> None:
    """Set the page up, draw what every page has, and run the page that was asked for."""
    st.set_page_config(
        page_title="Attention Conditioning Sandbox",
        page_icon=str(ASSETS / "logo-mark.svg"),
        layout="wide",
        initial_sidebar_state=RAIL_WIDTH,
    )
    st.logo(str(ASSETS / "logo.svg"), size="medium", icon_image=str(ASSETS / "logo-mark.svg"))
    with st.container(key="chrome.style"):  # first, so that a page that still waits is laid out already
        _style(key="chrome.style.sheet")
    chosen = st.navigation([navigation.page(name) for name in navigation.TITLES], position="top")
    chosen.run()
