"""The component of the Instant page: knobs, curves and pictures in one element, mounted once."""

import secrets
from collections.abc import Callable
from typing import Any

import streamlit as st

from sandbox.live.component import LOADER, signed
from sandbox.live.hello import palette
from sandbox.live.instant import instant_name
from sandbox.live.panels import declare_panels
from sandbox.live.routes import INSTANT_BUNDLE, address_of
from sandbox.runner.instant import knobs as instant_knobs

TRAIN = "train"
"""What the view calls the settings to train in the Sandbox when it tells the page."""
PANELS = ("loss", "accuracy", "E + P", "normalized E + P", "level lines")
"""The pictures, by the kinds of the live view's panels."""

_instant_view = st.components.v2.component(
    "attention_conditioning_sandbox.instant",
    html='<div class="acs-live acs-instant" data-state="waiting"></div>',
    js=LOADER,
    isolate_styles=False,
)


def instant_view(
    values: instant_knobs.Knobs, *, key: str, on_train: Callable[[dict[str, Any]], None]
) -> None:
    """Place the knobs at `values` with what they train; call it outside any fragment.

    `on_train` is called with the knobs that somebody wants to train in the Sandbox.
    """
    session = st.session_state.setdefault(f"_instant_session_{key}", secrets.token_urlsafe(9))
    known = {panel["kind"]: panel for panel in declare_panels(frozenset({"visual model"}))}
    # What is drawn does not change from one run of the script to the next, or the loader would run again.
    panels = [known[kind] | {"section": ""} for kind in PANELS]
    for panel in panels:
        panel["curves"] = [curve for curve in panel["curves"] if curve["column"] != "loss"]

    def asked() -> None:
        given = (st.session_state.get(key) or {}).get(TRAIN)
        if isinstance(given, dict):
            on_train(given)

    _instant_view(
        key=key,
        data={
            "session": session,
            "token": signed(instant_name(session), True, key),
            "script": address_of(INSTANT_BUNDLE),
            "knobs": instant_knobs.declared(),
            "values": values,
            "panels": panels,
            "palette": palette(),
            "epochs": [instant_knobs.FIRST_EPOCHS, instant_knobs.EPOCHS],
            "many": [instant_knobs.MANY_SEEDS, instant_knobs.MANY_EPOCHS],
            "rows": instant_knobs.ROWS,
        },
        on_train_change=asked,  # named after TRAIN
    )
