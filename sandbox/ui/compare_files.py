"""What a comparison leaves as: pictures with their footer, CSV of what is drawn, and its link."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.store import Run
from sandbox.store.again import safe_name
from sandbox.store.compared import Compared
from sandbox.ui import choices, links, study_files
from sandbox.ui.anew import anew
from sandbox.ui.compare_view import CompareView
from sandbox.ui.complete import complete
from sandbox.ui.gone import BETWEEN
from sandbox.ui.named import metric_title
from sandbox.ui.pictures import save_buttons


def files(
    view: CompareView, groups: list[Compared], drawing: Any, dark: bool, cells: Sequence[str] = ()
) -> None:
    """A row of buttons below the figure: PNG, SVG, CSV. `cells` name what is drawn where it is no group."""
    from sandbox.figures import literal, plotted_csv

    file = f"compare-{safe_name(view.metric)}-{safe_name(view.show)}".lower()
    named = "; ".join([*(f"{g.label} ({g.run_id}, seeds {_seeds(g)})" for g in groups), *cells])
    title = metric_title(view.metric)
    lines = [
        f"{title}, by {view.by}. Shown: {named}." if groups else f"{title}. Shown: {named}.",
        *(f"{note}." for note in drawing.notes[:6]),
        address(view),
    ]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="compare.files"):
        words = [literal(line) for line in lines]
        save_buttons(file, literal(f"{title}, {view.show}"), words, dark, "compare.pictures")
        st.download_button(
            "CSV of what is drawn",
            lambda: plotted_csv(drawing.figure),
            file_name=f"{file}.csv",
            mime="text/csv",
            key="compare.plotted",
            on_click="ignore",
            type="tertiary",
        )


def link(view: CompareView, runs: Mapping[str, Run]) -> None:
    """The address that opens this comparison, with the settings of its runs for the day they are gone."""
    with st.popover("Link", key="compare.link", icon=":material/link:"):
        st.caption(
            "Opens this comparison as it is shown. It carries the settings of its runs, so that they can be "
            "trained again where the runs are gone."
        )
        st.code(address(view, setups(view, runs)), language=None, wrap_lines=True)


def address(view: CompareView, carried: str = "") -> str:
    """The address of a comparison on the host that the person came by."""
    said = view.to_params() | ({"setups": carried} if carried else {})
    return f"{study_files.root()}/compare?{urlencode(said, safe=',:~')}"


def setups(view: CompareView, runs: Mapping[str, Run]) -> str:
    """The settings of the view's runs, in their order; an empty part where this version cannot write them."""
    parts = []
    for run_id in view.runs:
        try:
            parts.append(links.encode(complete(choices.catalogue(), anew(runs[run_id].experiment))))
        except (SandboxError, KeyError):
            parts.append("")
    return BETWEEN.join(parts)


def _seeds(group: Compared) -> str:
    return ", ".join(map(str, group.seeds[:8]))
