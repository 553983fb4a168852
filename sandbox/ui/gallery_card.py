"""One run in the gallery: its card, and the dialog that renames, tags, notes and deletes it."""

import math
from collections.abc import Callable
from typing import Any

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.runner import gallery, trash
from sandbox.runner.gallery import Entry
from sandbox.store.labels import MAX_NAME, MAX_NOTE, Labels
from sandbox.ui import gallery_filter, navigation, session, sparkline
from sandbox.ui.described import difference_of_any
from sandbox.ui.named import metric_title
from sandbox.ui.run_state import COLOURS, ENDED, WORDS
from sandbox.ui.words import ago, code, count, duration, escaped, percent, points, whole

CHOSEN, EDITED = "gallery.chosen", "gallery.edited"
MOST_CHOSEN = 6
"""Runs that can be compared at once."""
MOST_TAGS_SHOWN, MOST_ARMS_SHOWN, LONGEST_TEXT = 4, 4, 160
EXTRA_WORDS = {"damaged": "Damaged", "interrupted": "Interrupted"}
EXTRA_COLOURS = {"damaged": "red", "interrupted": "orange"}


def chosen() -> list[str]:
    """The ids of the runs that were ticked to be compared, in that order."""
    return list(session.held(CHOSEN) or ())


def state_words(state: str) -> str:
    """A state as a person reads it."""
    return WORDS.get(state) or EXTRA_WORDS.get(state) or state.capitalize()


def card(entry: Entry, metric: str, dark: bool, origin: str = "") -> None:
    """Draw one card; `metric` is what the list is sorted by, shown for every arm; `origin` its lineage."""
    with st.container(border=True, key=f"gallery.card.{entry.id}", gap="small", height="stretch"):
        _head(entry)
        if entry.state == "damaged":
            st.caption(escaped(entry.reason))
            st.caption(code(entry.id))
            return
        picture = sparkline.sparkline(entry.card.arms, int(entry.card.plain.get("steps", 0)), dark)
        if picture:
            st.image(picture, width="stretch", alt=sparkline.words(entry.card.arms))
        if origin:
            st.caption(escaped(origin[:1].upper() + origin[1:]))
        st.caption(escaped(_what(entry)))
        _badges(entry)
        lines = _numbers(entry, metric)
        if lines:
            st.caption(lines)
        if entry.labels.note:
            st.caption(f"Note: {escaped(_begun(entry.labels.note))}")


def _begun(text: str) -> str:
    """The beginning of a text on one line, and a mark where there is more."""
    words = " ".join(text.split())
    return words if len(words) <= LONGEST_TEXT else f"{words[: LONGEST_TEXT - 1].rstrip()}…"


def _head(entry: Entry) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key=f"gallery.head.{entry.id}"
    ):
        key = f"gallery.tick.{entry.id}"
        session.show(key, entry.id in chosen())
        st.checkbox(
            f"Compare {entry.name}",
            key=key,
            label_visibility="collapsed",
            on_change=_tick,
            args=(entry.id, key),
            disabled=not entry.card.arms,
        )
        navigation.link("run", f"**{escaped(entry.name)}**", run=entry.id)
        colour: Any = COLOURS.get(entry.state) or EXTRA_COLOURS.get(entry.state, "gray")
        st.badge(state_words(entry.state), color=colour)
        st.space("stretch")
        pinned = entry.labels.pinned
        st.button(
            "Unpin" if pinned else "Pin",
            key=f"gallery.pin.{entry.id}",
            icon=":material/keep_off:" if pinned else ":material/keep:",
            type="tertiary",
            on_click=_ask,
            args=(entry.id, lambda: gallery.pin(entry.id, not pinned)),
        )
        st.button("Edit", key=f"gallery.edit.{entry.id}", type="tertiary", on_click=_edit, args=(entry.id,))


def _what(entry: Entry) -> str:
    if not entry.card.plain:
        return _begun(entry.reason) or "Nothing recorded yet."
    return f"{difference_of_any(entry.card.plain)} · {ago(entry.created)}"


def _badges(entry: Entry) -> None:
    found = badges(entry)
    if found:
        with st.container(horizontal=True, gap="small", key=f"gallery.badges.{entry.id}"):
            for label, colour in found:
                st.badge(escaped(label), color=colour)


def badges(entry: Entry) -> list[tuple[str, Any]]:
    """What is to be seen of a run at a glance, each with its colour."""
    n, steps = entry.card.seeds, entry.card.plain.get("steps")
    found: list[tuple[str, Any]] = [("pinned", "gray")] if entry.labels.pinned else []
    if entry.state not in ENDED and steps:
        found.append((f"step {whole(entry.step)} of {whole(steps)}", "gray"))
    if entry.card.diverged:
        found.append((f"{count(entry.card.diverged, 'seed')} diverged", "red"))
    solved = [arm for arm in entry.card.arms if n and arm.reached == n]
    if solved:
        words = "every arm" if len(solved) == len(entry.card.arms) else count(len(solved), "arm")
        seeds = " in every seed" if n > 1 else ""
        found.append((f"{words} reached {percent(entry.card.target)}{seeds}", "green"))
        fell = [arm for arm in solved if arm.metrics.get(gallery_filter.OF_ACCURACY, 1.0) < entry.card.target]
        if fell and entry.state in ENDED:
            found.append((f"{count(len(fell), 'arm')} ended below it", "orange"))
    found += [(tag, "blue") for tag in entry.labels.tags[:MOST_TAGS_SHOWN]]
    if len(entry.labels.tags) > MOST_TAGS_SHOWN:
        found.append((f"{len(entry.labels.tags) - MOST_TAGS_SHOWN} tags more", "gray"))
    return found


def _numbers(entry: Entry, metric: str) -> str:
    """The metric of every arm as Markdown; the held-out accuracy where the list is sorted by time or name."""
    shown = gallery_filter.ACCURACY if metric in gallery_filter.BY_TIME else metric
    if shown in (gallery_filter.SECONDS, gallery_filter.DIVERGED):
        return f"{shown}: {written(shown, gallery_filter.value(entry, shown))}"
    known = [(arm.name, gallery_filter.arm_value(arm, shown)) for arm in entry.card.arms]
    parts = [f"{code(name)} {written(shown, value)}" for name, value in known if not math.isnan(value)]
    title = escaped(shown if shown in gallery_filter.DERIVED else metric_title(shown))
    if not parts:
        return f"{title}: none" if entry.card.arms else ""
    if metric not in gallery_filter.BY_TIME and "accuracy" in metric.lower() and len(parts) > 1:
        title += ", sorted by the best arm"
    more = f" and {len(parts) - MOST_ARMS_SHOWN} more" if len(parts) > MOST_ARMS_SHOWN else ""
    return f"{title}: {', '.join(parts[:MOST_ARMS_SHOWN])}{more}"


def written(metric: str, value: float) -> str:
    """A metric's number with its unit."""
    if math.isnan(value):
        return "none"
    if metric == gallery_filter.DIFFERENCE:
        return f"{points(value)} points"
    if metric == gallery_filter.SECONDS:
        return duration(value)
    if "accuracy" in metric.lower():
        return percent(value, column=True)
    return whole(value) if value == int(value) and abs(value) < 1e9 else f"{value:.4g}"


def dialogs() -> None:
    """Show the dialog of the run that is being edited; it stays while the page reruns."""
    run_id = session.held(EDITED)
    if run_id is None:
        return
    try:
        entry = gallery.entry_of(run_id)
    except SandboxError as error:
        session.hold(EDITED, None)
        session.notice(str(error))
        return
    st.dialog(f"Edit {escaped(entry.name)}", on_dismiss=_close)(_form)(entry)


def _form(entry: Entry) -> None:
    labels, key = entry.labels, f"gallery.form.{entry.id}"
    with st.form(key, border=False):
        name = st.text_input("Name", labels.name or entry.name, max_chars=MAX_NAME, key=f"{key}.name")
        tags = st.text_input("Tags, separated by commas", ", ".join(labels.tags), key=f"{key}.tags")
        note = st.text_area("Note", labels.note, max_chars=MAX_NOTE, key=f"{key}.note")
        if st.form_submit_button("Save", type="primary", key=f"{key}.save"):
            words = tuple(dict.fromkeys(word.strip() for word in tags.split(",") if word.strip()))
            _do(
                lambda: _label(
                    entry.id, Labels(name=name.strip(), tags=words, note=note, pinned=labels.pinned)
                )
            )
    over = entry.state in (*ENDED, "damaged", "interrupted")
    of = f" It belongs to {escaped(entry.owner)}, who alone can delete it." if entry.owner else ""
    st.caption(
        (f"A deleted run can be put back for a day.{of}") if over else "Stop the run before you delete it."
    )
    if st.button("Delete this run", key=f"{key}.delete", disabled=not over, icon=":material/delete:"):
        _do(lambda: _delete(entry))


def _delete(entry: Entry) -> None:
    trash.delete(entry.id, session.owner())
    name = entry.labels.name or entry.id
    session.notice(f"{name} lies in the trash below, from where it can be put back for a day.", "info")


def _label(run_id: str, labels: Labels) -> None:
    session.require_steering(run_id)
    gallery.label(run_id, labels)


def _do(act: Callable[[], None]) -> None:
    """Do what a dialog was asked for; it closes when that was done, and says why where it was not."""
    try:
        act()
    except SandboxError as error:
        st.error(escaped(str(error)))
        return
    run_id = session.held(EDITED)
    session.hold(CHOSEN, [known for known in chosen() if known != run_id])
    session.hold(EDITED, None)
    st.rerun()


def _ask(run_id: str, act: Callable[[], None]) -> None:
    try:
        session.require_steering(run_id)
        act()
    except SandboxError as error:
        session.notice(str(error))


def _edit(run_id: str) -> None:
    session.hold(EDITED, run_id)


def _close() -> None:
    session.hold(EDITED, None)


def _tick(run_id: str, key: str) -> None:
    ticked = [known for known in chosen() if known != run_id]
    if session.reported(key):
        ticked.append(run_id)
    choose(ticked)


def choose(ticked: list[str]) -> None:
    """Let these runs be the ones to compare; of too many the first ones go, which is told."""
    gone, kept = ticked[:-MOST_CHOSEN], ticked[-MOST_CHOSEN:]
    if gone:
        session.notice(
            f"At most {MOST_CHOSEN} runs are compared at once; {', '.join(gone)[:200]} no longer among them."
        )
    session.hold(CHOSEN, kept)
