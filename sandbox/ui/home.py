"""Home: a recorded run that plays by itself, presets to start from, and the runs on this server."""

from pathlib import Path
from typing import Any

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.live.component import live_data, live_view
from sandbox.live.opening import Opening
from sandbox.live.tokens import Permission, Tokens
from sandbox.runner import gallery
from sandbox.ui import choices, navigation, session, sweep_page, training
from sandbox.ui.changes import extent
from sandbox.ui.complete import complete
from sandbox.ui.run_state import COLOURS, ENDED, WORDS
from sandbox.ui.settings import Plain
from sandbox.ui.words import ago, escaped, whole

RECORDED = Path(__file__).resolve().parents[2] / "assets" / "recorded"
PANELS = ("trajectories", "attention map", "loss", "accuracy")
TITLE = "Attention Conditioning Sandbox"
TEXT = (
    "Train small transformers on two tasks and compare attention with and without conditioning: the same "
    "data, the same batches, the same starting weights where shapes allow, several seeds. What plays "
    "below is a recorded run, as it was measured."
)
LISTED, MOST_ACTIVE = 3, 6
ACTIVE = ("running", "stalled", "paused", "queued")
"""States of a run that is not over, in the order in which they are listed."""
TICK = 2.0
PATIENCE = 0.05
"""Seconds that folders which were never read may take of Home; the list of runs reads on."""


def recorded_name() -> str | None:
    """The recorded run that Home plays: the first one by name; None where the app ships none."""
    found = sorted(folder.name for folder in RECORDED.glob("*") if (folder / "experiment.json").is_file())
    return found[0] if found else None


def replay() -> None:
    """Play the recorded run; it starts by itself."""
    name = recorded_name()
    if name is None:
        st.info("No recorded run is installed. Open a preset and press Train.")
        return
    live_view(f"recorded:{name}", key="home.replay", mode="replay", panels=PANELS)


def opening() -> Opening | None:
    """What Home shows while it starts; None where no recorded run is installed."""
    name = recorded_name()
    if name is None:
        return None
    run = f"recorded:{name}"
    token = Tokens().sign(Permission(run, steer=False))
    return Opening(TITLE, TEXT, live_data(run, token, "replay", PANELS))


def instant_card() -> None:
    """The way to instant mode, in the form of a preset's card."""
    with st.container(key="home.preset.instant", border=True, gap=None):
        top = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
        top.markdown("**Instant**")
        with top:
            navigation.link("instant", "Turn a knob")
        st.caption("All seeds of a tiny transformer trained anew, several times a second, as you turn it.")


def presets() -> None:
    """A card for each preset: its name, what it shows, and the button that opens it."""
    try:
        catalogue = choices.catalogue()
    except SandboxError as error:
        st.error(escaped(str(error)))
        return
    for name, preset in catalogue.presets.items():
        with st.container(key=f"home.preset.{name}", border=True, gap=None):
            top = st.container(
                horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
            )
            top.markdown(f"**{escaped(name)}**")
            if top.button(
                "Open", key=f"home.open.{name}", type="tertiary", help=f"Open {name} in the Sandbox"
            ):
                session.set_draft(choices.preset(name))
                st.switch_page(navigation.page("sandbox"))
            st.caption(f"{escaped(preset['sentence'])} {escaped(extent(preset['experiment']))}.")


def live_runs() -> None:
    """What runs or waits on this server, whoever began it, then the newest; a fragment keeps them current."""
    found = listed()
    row = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
    row.subheader("Runs on this server", anchor=False, width="content")
    if found:
        with row:
            navigation.link("gallery", "All runs")
    sweep_page.links()
    if not found:
        st.caption("None yet. A run goes on when you close the page, and is listed here.")
        return
    busy = any(run.state not in ENDED for run in found)
    st.fragment(_runs, run_every=TICK if busy else None)()


def _runs() -> None:
    for run in listed():
        plain = run.card.plain or training.queued_plain(run.id)
        with st.container(key=f"home.run.{run.id}", gap=None):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                colour: Any = COLOURS.get(run.state, "gray")
                st.badge(WORDS.get(run.state, run.state.capitalize()), color=colour)
                navigation.link("run", escaped(run.name), run=run.id)
            steps = plain.get("steps") if plain else None
            total = f" of {whole(steps)}" if steps else ""
            if steps and run.state in ACTIVE:
                st.progress(min(1.0, run.step / max(1, steps)))
            st.caption(escaped(f"{_what(plain)} · step {whole(run.step)}{total} · {ago(run.created)}"))


def listed() -> list[gallery.Entry]:
    """What Home lists: runs that are not over first, at most six, filled up to three with the newest.

    Runs that a command began are among them as soon as their folder was read.
    """
    newest = sorted(gallery.entries(PATIENCE)[0], key=lambda run: -run.created)
    active = sorted((run for run in newest if run.state in ACTIVE), key=lambda run: ACTIVE.index(run.state))
    over = [run for run in newest if run.state not in ACTIVE]
    return active[:MOST_ACTIVE] + over[: max(0, LISTED - len(active))]


def _what(plain: Plain | None) -> str:
    if plain is None:
        return "unknown settings"
    try:
        name = choices.preset_of(complete(choices.catalogue(), plain))
        return name or f"{plain['task']['kind']}, {extent(plain)}"
    except (SandboxError, KeyError, TypeError):
        return "settings of another version"
