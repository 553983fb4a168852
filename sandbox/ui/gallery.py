"""Gallery: every run of this server, to find, sort, name, compare and delete."""

import time
from typing import Any

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.runner import gallery, trash
from sandbox.runner.gallery import Entry
from sandbox.ui import (
    before_start,
    bring,
    gallery_card,
    gallery_filter,
    gallery_table,
    navigation,
    session,
    setup_link,
    sweep_page,
)
from sandbox.ui.gallery_card import chosen
from sandbox.ui.gallery_filter import Wish
from sandbox.ui.lineage import Lineage, lineage
from sandbox.ui.run_state import ENDED
from sandbox.ui.words import ago, count, duration, escaped, whole

PER_PAGE, COLUMNS = 12, 3
TICK = 2.0
CARDS, TABLE = "Cards", "Table"
ALIKE = 0.4
"""Seconds that folders which were never read may take of one page."""


def show() -> None:
    """Draw the gallery."""
    _go_on()
    title = st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")
    title.title("Runs", anchor=False, width="content")
    setup_link.say_notice()
    sweep_page.links()
    try:
        entries, unread = gallery.entries(ALIKE)
        lying = trash.deleted()
    except SandboxError as error:
        st.error(escaped(str(error)))
        return
    if not entries and not lying:
        st.info("There is no run on this server yet. Open the Sandbox and press Train.")
    if entries:
        wish, view = _filters(entries, title)
        found = gallery_filter.matching(entries, wish)
        _heading(found, entries, unread)
        shown = found
        if view == TABLE:
            gallery_table.table(found, wish, lineage(entries))
        else:
            shown = _cards(found, wish, lineage(entries))
        busy = unread or any(entry.state not in (*ENDED, "damaged", "interrupted") for entry in shown)
        st.fragment(_tick, run_every=TICK if busy else None)(_signature(shown, unread))
    _trash(lying)
    bring.upload()
    before_start.room()
    gallery_card.dialogs()


def _go_on() -> None:
    """Open the run that was just brought here."""
    brought = session.held(bring.BROUGHT)
    if brought is not None:
        session.hold(bring.BROUGHT, None)
        st.switch_page(navigation.page("run"), query_params={"run": brought})


def _filters(entries: list[Entry], title: Any) -> tuple[Wish, str]:
    view = title.segmented_control(
        "Shown as", [CARDS, TABLE], default=CARDS, required=True, key="gallery_view",
        label_visibility="collapsed", bind="query-params",
    )  # fmt: skip
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="gallery.filters")
    text = row.text_input(
        "Search", key="gallery_text", placeholder="Name, tag, note, arm", width=210, bind="query-params"
    )

    def several(label: str, key: str, options: list[str], width: int = 190) -> tuple[str, ...]:
        if len(options) < 2 and key != "gallery_tag":
            return ()
        if not options:
            return ()
        return tuple(
            row.multiselect(
                label, options, key=f"gallery_{key}", width=width, placeholder="any", bind="query-params"
            )
        )

    tasks = several("Task", "task", gallery_filter.choices(entries, lambda e: [gallery_filter.tasks_of(e)]))
    arms = several("Arm", "arm", gallery_filter.choices(entries, gallery_filter.arms_of))
    states = gallery_filter.choices(entries, lambda e: [e.state, *gallery_filter.outcomes(e)])
    wanted = several("State or outcome", "state", states)
    owners = several("Owner", "owner", gallery_filter.choices(entries, lambda e: [e.owner]), 140)
    tags = several("Tag", "tag", gallery_filter.choices(entries, lambda e: e.labels.tags), 150)
    sort = row.selectbox(
        "Sort by", gallery_filter.metrics(entries), key="gallery_sort", width=230, bind="query-params",
        format_func=gallery_table.title_of,
    )  # fmt: skip
    least = False
    if sort not in gallery_filter.BY_TIME:
        first = gallery_filter.wants_least(sort)
        words = ["Least first", "Greatest first"]
        least = (
            row.selectbox(
                "Order",
                words,
                index=0 if first else 1,
                key=f"gallery_order.{sort}",
                width=150,
                filter_mode=None,
            )
            == words[0]
        )
    wish = Wish(
        text=text,
        tasks=tasks,
        arms=arms,
        states=wanted,
        owners=owners,
        tags=tags,
        sort=sort,
        least_first=least,
    )
    return wish, view


def _heading(found: list[Entry], entries: list[Entry], unread: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="gallery.heading"):
        words = (
            count(len(found), "run")
            if len(found) == len(entries)
            else f"{whole(len(found))} of {count(len(entries), 'run')}"
        )
        more = f"; {whole(unread)} more are being read" if unread else ""
        st.caption(f"{words}{more}", width="content")
        ticked = chosen()
        if not ticked:
            st.caption("Tick runs to compare them.", width="content")
            return
        enough = len(ticked) > 1 or any(len(e.card.arms) > 1 for e in entries if e.id in ticked)
        if st.button(
            f"Compare {count(len(ticked), 'run')}", key="gallery.compare", type="primary", disabled=not enough
        ):
            st.switch_page(navigation.page("compare"), query_params={"runs": ",".join(ticked)})
        st.button(
            "Untick all",
            key="gallery.untick",
            type="tertiary",
            on_click=session.hold,
            args=(gallery_card.CHOSEN, None),
        )


def _cards(found: list[Entry], wish: Wish, known: Lineage) -> list[Entry]:
    pages = max(1, -(-len(found) // PER_PAGE))
    page = 1
    if pages > 1:
        page = st.pagination(pages, key=f"gallery.page.{pages}")
    shown = found[(page - 1) * PER_PAGE : page * PER_PAGE]
    dark = st.context.theme.type == "dark"
    for start in range(0, len(shown), COLUMNS):
        columns = st.columns(COLUMNS, gap="small")
        for entry, column in zip(shown[start : start + COLUMNS], columns, strict=False):
            with column:
                gallery_card.card(entry, wish.sort, dark, known.of(entry))
    if not shown:
        st.info("No run fits these filters.")
    return shown


def _trash(lying: list[trash.Deleted]) -> None:
    if not lying:
        return
    with st.expander(f"Trash ({count(len(lying), 'run')})", key="gallery.trash", icon=":material/delete:"):
        for run in lying:
            with st.container(
                horizontal=True, vertical_alignment="center", key=f"gallery.lying.{run.folder.name}"
            ):
                left = duration(max(0.0, run.until - time.time()))
                st.markdown(
                    f"{escaped(run.name)}, deleted {ago(run.deleted)}, gone in {left}", width="content"
                )
                st.button(
                    "Put back", key=f"gallery.restore.{run.folder.name}", on_click=_restore, args=(run.id,)
                )


def _restore(run_id: str) -> None:
    try:
        trash.restore(run_id, session.owner())
    except SandboxError as error:
        session.notice(str(error))


Signature = tuple[int, tuple[tuple[str, str, int], ...]]


def _signature(shown: list[Entry], unread: int) -> Signature:
    return unread, tuple((entry.id, entry.state, entry.step) for entry in shown)


def _tick(seen: Signature) -> None:
    """Look whether what is shown has changed; no widgets, so that a tick costs little."""
    try:
        entries, unread = gallery.entries(ALIKE)
    except SandboxError as error:  # a fragment runs by itself: the page does not hear of it
        st.error(escaped(str(error)))
        return
    by_id = {entry.id: entry for entry in entries}
    shown = [by_id[run_id] for run_id, _, _ in seen[1] if run_id in by_id]
    if _signature(shown, unread) != seen:
        st.rerun()
