"""The launcher: `streamlit run app.py` serves pages and live routes, and starts a supervisor if none runs."""

import gc
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from sandbox.live.guard import Guard
from sandbox.live.opening import EarlyPages
from sandbox.live.routes import live_routes
from sandbox.runner.control import ensure_supervisor
from sandbox.ui import chrome, compare, gallery, home, instant, rail, reference, run_view
from sandbox.ui.run_state import live_state

ENTRY = Path(chrome.__file__).with_name("entry.py")
IMPORTED = (chrome, home, rail, reference, run_view, gallery, compare, instant)
"""Loaded before the first visitor, so that no visitor waits for them and the collector never walks them."""


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Start the supervisor beside the server, and keep what was imported out of the collector's way."""
    threading.Thread(target=ensure_supervisor, name="supervisor", daemon=True).start()
    gc.collect()
    gc.freeze()
    yield


app = st.App(
    ENTRY,
    routes=live_routes(live_state),
    middleware=[Middleware(Guard), Middleware(EarlyPages, openings={"/": home.opening})],
    lifespan=lifespan,
)
