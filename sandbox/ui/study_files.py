"""What a figure of the study leaves as: pictures with their footer, and exactly what is drawn as CSV."""

from typing import Any

import streamlit as st

from sandbox.store import Run
from sandbox.store.again import safe_name
from sandbox.ui.pictures import save_buttons
from sandbox.ui.words import count

MOST_NOTES = 6


def files(figures: Any, run: Run, name: str, drawing: Any, dark: bool, key: str) -> None:
    """A row of buttons below a figure: PNG, SVG, CSV. `figures` is the package of figures."""
    file = f"{safe_name(run.id)}-{safe_name(name).lower()}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key}.files"):
        words = [figures.literal(line) for line in footer(run, drawing.notes)]
        save_buttons(file, figures.literal(name.replace("\\", "")), words, dark, f"{key}.pictures")
        st.download_button(
            "CSV of what is drawn",
            lambda: figures.plotted_csv(drawing.figure),
            file_name=f"{file}.csv",
            mime="text/csv",
            key=f"{key}.plotted",
            on_click="ignore",
            type="tertiary",
        )


def footer(run: Run, notes: tuple[str, ...]) -> list[str]:
    """What a picture has to say once it has left the page: which run, which settings, what was done to it."""
    plain = run.experiment
    kind = str((plain.get("task") or {}).get("kind", ""))
    parts = [kind, count(len(run.arms), "arm"), f"seeds {', '.join(map(str, run.seeds[:8]))}"]
    parts.append(f"step {run.status['step']} of {plain['steps']}")
    return [
        f"Run {run.id}: {', '.join(part for part in parts if part)}. Arms: {', '.join(run.arms)}.",
        *(f"{note}." for note in notes[:MOST_NOTES]),
        address(run.id),
    ]


def address(run_id: str) -> str:
    """The run's permanent address on the host that the person came by."""
    return f"{root()}/run?run={run_id}"


def root() -> str:
    """The app's address on the host that the person came by, without a slash at its end."""
    here = (st.context.url or "").partition("?")[0]
    return here.rsplit("/", 1)[0] if here.count("/") > 2 else here
