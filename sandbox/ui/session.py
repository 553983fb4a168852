"""The session: the only place where the pages keep anything between two runs of a script.

What stands here belongs to one browser tab. Runs live on the server and are never part of it.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Literal

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.runner import steering
from sandbox.runner.steering import ANYBODY
from sandbox.store import Run, open_run, run_path
from sandbox.store.folder import DATABASE, EXPERIMENT
from sandbox.ui import owner_cookie
from sandbox.ui.settings import Plain

Level = Literal["Beginner", "Researcher"]
LEVELS: tuple[Level, ...] = ("Beginner", "Researcher")

_DRAFT, _SHELF, _LEVEL, _NOTICE, _RUN, _SEEN, _DEVICE, _HELD, _OWNER, _ON = (
    f"session.{name}"
    for name in ("draft", "shelf", "level", "notice", "run", "seen", "device", "held", "owner", "on")
)


def draft() -> Plain | None:
    """A copy of the experiment that the rail shows; None before the first one is set."""
    return deepcopy(st.session_state.get(_DRAFT))


def set_draft(plain: Plain) -> None:
    """Let the rail show `plain` from now on."""
    st.session_state[_DRAFT] = deepcopy(plain)


def shelf(place: str) -> Any:
    """What was put aside under `place`, such as the knobs of a variant that is not chosen now."""
    return deepcopy(st.session_state.get(_SHELF, {}).get(place))


def put_on_shelf(place: str, value: Any) -> None:
    """Put `value` aside, so that choosing the variant again brings its knobs back."""
    st.session_state.setdefault(_SHELF, {})[place] = deepcopy(value)


def held(place: str) -> Any:
    """What is held under `place` itself, such as a file in the making; None where nothing is."""
    return st.session_state.get(_HELD, {}).get(place)


def hold(place: str, value: Any) -> None:
    """Hold `value` itself as long as the session lives, or nothing where it is None."""
    things = st.session_state.setdefault(_HELD, {})
    things.pop(place, None)
    if value is not None:
        things[place] = value


def level() -> Level:
    """How many controls are open; it never decides what is measured or shown."""
    return st.session_state.get(_LEVEL, "Beginner")


def set_level(chosen: Level) -> None:
    """Open or close the expert controls from now on."""
    st.session_state[_LEVEL] = chosen


def device() -> str:
    """Where the next run trains; it is no part of the experiment, since it does not define the science."""
    return st.session_state.get(_DEVICE, "cpu")


def set_device(name: str) -> None:
    """Let the next run train on this device."""
    st.session_state[_DEVICE] = name


def owner() -> str:
    """The name under which the next run waits in the queue; at first the one that the browser remembers."""
    if _OWNER not in st.session_state:
        set_owner(owner_cookie.remembered())
    return st.session_state[_OWNER]


def set_owner(name: str) -> None:
    """Let the next run be of `name`; of anybody where that is empty."""
    st.session_state[_OWNER] = " ".join(name.split())[:40] or ANYBODY


def why_not_steer(run_id: str) -> str:
    """Why this person may not steer the run, in a sentence; empty where that is allowed."""
    return steering.refusal_for(run_id, owner())


def require_steering(run_id: str) -> None:
    """Raise RunUnavailable, one sentence, where this person may not steer the run."""
    steering.require(run_id, owner())


def keeps_on() -> bool:
    """Whether the next run trains on when nobody watches and others wait."""
    return st.session_state.get(_ON, False)


def set_keeps_on(wanted: bool) -> None:
    """Let the next run train on unwatched, or make way."""
    st.session_state[_ON] = wanted


def notice(sentence: str, kind: Literal["error", "info"] = "error") -> None:
    """Keep one sentence for the page to say on its next run."""
    st.session_state[_NOTICE] = (kind, sentence)


def take_notice() -> tuple[str, str] | None:
    """The sentence to say now, as (kind, sentence); it is said once."""
    found: tuple[str, str] | None = st.session_state.pop(_NOTICE, None)
    return found


def first_sight(what: str, value: str) -> bool:
    """Whether this session has not yet dealt with `value` of `what`, such as a link in the address."""
    seen: dict[str, str] = st.session_state.setdefault(_SEEN, {})
    fresh = seen.get(what) != value
    seen[what] = value
    return fresh


def run(run_id: str) -> Run | None:
    """The run, opened once per session; None until its folder holds a run. Raises for a malformed id."""
    kept: Run | None = st.session_state.get(_RUN)
    if kept is not None and kept.id == run_id:
        return kept
    folder = run_path(run_id)
    try:
        opened = open_run(folder)
    except SandboxError:
        return None
    if kept is not None:
        kept.close()
    st.session_state[_RUN] = opened
    return opened


def damage(run_id: str) -> str:
    """Why the folder of a run cannot be read, in a sentence; empty where it can, or where there is none."""
    folder = run_path(run_id)
    if any((folder / name).exists() for name in (EXPERIMENT, DATABASE)):
        try:
            open_run(folder).close()
        except SandboxError as error:
            return str(error)
    return ""


def show(key: str, value: Any) -> None:
    """Let the widget `key` show `value`: the draft decides, widgets only report."""
    st.session_state[key] = value


def reported(key: str) -> Any:
    """What the widget `key` holds after the person changed it."""
    return st.session_state.get(key)


def on_change(key: str, write: Callable[[Any], None]) -> Callable[[], None]:
    """A callback that hands the widget's new value to `write`; a deliberate error becomes a notice."""

    def changed() -> None:
        try:
            write(reported(key))
        except SandboxError as error:
            notice(str(error))

    return changed
