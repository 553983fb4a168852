"""Invitation: what stands where the live view will be, before anything was trained."""

import streamlit as st

from sandbox.foundations.catalogue import Catalogue
from sandbox.live.panels import declare_panels
from sandbox.ui import choices
from sandbox.ui.arms import is_standard
from sandbox.ui.changes import extent
from sandbox.ui.settings import Plain
from sandbox.ui.words import code, escaped


def invitation(plain: Plain) -> None:
    """What the settings in the rail will train, and what there will be to see."""
    catalogue = choices.catalogue()
    task = catalogue.variant("task", plain["task"]["kind"])
    alone = len(plain["arms"]) < 2
    st.subheader("Press Train, and watch", anchor=False)
    fair = "" if alone else " Arms with the same seed see the same data in the same order."
    st.markdown(
        f"**{escaped(task.title)}.** {escaped(task.sentence)} Here: {extent(plain)}.{fair} "
        "The run goes on when you close the page."
    )
    left, right = st.columns([1.15, 1], gap="medium")
    with left:
        st.markdown("**What is trained**" if alone else "**What is compared**")
        for arm in plain["arms"]:
            _arm(catalogue, arm, alone)
    with right, st.container(border=True, key="invitation.panels"):
        st.markdown("**What you will see**")
        panels = declare_panels(frozenset(plain[part]["kind"] for part in ("model", "task")))
        for panel in panels:
            if not panel["section"]:
                st.markdown(f"{escaped(panel['title'])}  \n:gray[{escaped(panel['sentence'])}]")
        st.caption("Folded below, opened by a click:")
        for section in dict.fromkeys(panel["section"] for panel in panels if panel["section"]):
            titles = ", ".join(panel["title"] for panel in panels if panel["section"] == section)
            st.markdown(f"{escaped(section)}  \n:gray[{escaped(titles)}]")


def _arm(catalogue: Catalogue, arm: Plain, alone: bool) -> None:
    with st.container(border=True, key=f"invitation.arm.{arm['name']}"):
        st.markdown(code(arm["name"]))
        if is_standard(arm):
            others = "" if alone else " The other arms are compared with it."
            st.caption(f"The model as the rail sets it, nothing conditioned.{others}")
        for slot in catalogue.slots:
            if slot in arm:
                entry = catalogue.variant(slot, arm[slot]["kind"])
                st.caption(f"{escaped(entry.title)}: {escaped(entry.sentence)}")
                if entry.equation:
                    st.latex(entry.equation)
