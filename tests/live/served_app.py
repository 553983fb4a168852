"""The app that the browser tests serve: the page, the live routes and the guard."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from sandbox.live.guard import Guard
from sandbox.live.routes import live_routes

app = st.App(Path(__file__).with_name("served_page.py"), routes=live_routes(), middleware=[Middleware(Guard)])
