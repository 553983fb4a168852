"""Reference: every idea with its formula, source and certainty, read from the catalogue."""

import streamlit as st

from sandbox.foundations.catalogue import Catalogue, KnobEntry, VariantEntry
from sandbox.ui import choices
from sandbox.ui.changes import shown
from sandbox.ui.glossary import CERTAINTY, GLOSSARY, KEYS, NOTATION
from sandbox.ui.words import code, escaped, whole

WORDS = {
    "task": "What is to be learned: sequences of tokens, one class each.",
    "architecture": "What learns it.",
    "optimizer": "How weights move.",
    "mechanism": "How scores become attention.",
    "projection": "What is added to the query, key and value matrices before they meet the tokens.",
    "output": "What happens to a head's output before the heads are mixed.",
    "initialization": "Where the projections start.",
    "placement": "Where normalization stands around attention.",
    "diagnostic": "What is asked of the weights at every snapshot, never changing the training.",
}
"""One sentence per family; a family without one is shown with its title alone."""


def families() -> None:
    """A tab for each family, and one for the words."""
    catalogue = choices.catalogue()
    names = list(catalogue.families)
    titles = [title(catalogue, name) for name in names]
    tabs = st.tabs([*titles, "Words and signs"], key="reference.tabs", on_change="rerun")
    for name, tab in zip(names, tabs, strict=False):
        if tab.open:
            with tab:
                st.caption(WORDS.get(name, ""))
                for entry in catalogue.families[name].values():
                    variant(catalogue, name, entry)
    if tabs[-1].open:
        with tabs[-1]:
            words()


def title(catalogue: Catalogue, family: str) -> str:
    """What a family is called above its variants."""
    return catalogue.family_titles[family].capitalize()


def variant(catalogue: Catalogue, family: str, entry: VariantEntry) -> None:
    """One idea: what it does, how it is written, where it comes from, how sure we are, what can be set."""
    with st.container(border=True, key=f"reference.{family}.{entry.kind}"):
        st.markdown(f"**{escaped(entry.title)}** {code(entry.kind)}")
        st.markdown(escaped(entry.sentence))
        if entry.equation:
            st.latex(entry.equation)
        st.caption(f"Source: {escaped(entry.source)}")
        st.caption(f"Certainty {escaped(entry.certainty)}")
        if entry.our_reading:
            st.caption(f"Our reading: {escaped(entry.our_reading)}")
        shown_by = presets_with(catalogue, family, entry.kind)
        if shown_by:
            st.caption(f"Shown by the preset {escaped(', '.join(shown_by[:3]))}.")
        if entry.knobs:
            st.markdown(knob_table(entry.knobs))
        for slot, reason in entry.not_applicable.items():
            st.caption(f"{title(catalogue, slot)}: {escaped(reason)}")


def presets_with(catalogue: Catalogue, family: str, kind: str) -> list[str]:
    """The presets in which the variant has a part: as the task, the model or its slot, or in an arm."""
    part = "model" if family == "architecture" else family
    found = []
    for name, preset in catalogue.presets.items():
        plain = preset["experiment"]
        places = [plain.get(part), plain["model"].get(part), *(arm.get(part) for arm in plain["arms"])]
        if kind in [place["kind"] for place in places if isinstance(place, dict)]:
            found.append(name)
    return found


def knob_table(knobs: dict[str, KnobEntry]) -> str:
    """The settings of an idea as a Markdown table."""
    rows = ["| Setting | Key | Default | Allowed | Meaning |", "| :-- | :-- | --: | :-- | :-- |"]
    for name, knob in knobs.items():
        marks = "".join(f" {word.capitalize()}: {shown(at)}." for at, word in knob.spec.marks)
        rows.append(
            f"| {escaped(knob.spec.label)} | {code(name)} | {code(shown(knob.default))} "
            f"| {escaped(allowed(knob))} | {escaped(knob.spec.help + marks)} |"
        )
    return "\n".join(rows)


def allowed(knob: KnobEntry) -> str:
    """What a setting may be, in words."""
    if isinstance(knob.default, bool):
        return "on or off"
    if knob.spec.options:
        return ", ".join(knob.spec.options)
    low, high = knob.spec.low, knob.spec.high
    kind = "whole number" if isinstance(knob.default, int) else "number"
    if low is None or high is None:
        return kind if low is None else f"{kind}, at least {low:g}"
    return f"{kind}, {low:,g} to {high:,g}" if high < 1e6 else f"{kind}, {low:g} to {whole(high)}"


def words() -> None:
    """The glossary, the notation, the meaning of the certainty letters and the keys."""
    for heading, rows, head in (
        ("Words", GLOSSARY, ("Word", "Meaning")),
        ("Notation", NOTATION, ("Sign", "Meaning")),
        ("Certainty", CERTAINTY, ("Letter", "Meaning")),
        ("Keys", KEYS, ("Key", "What it does")),
    ):
        st.subheader(heading, anchor=False)
        st.markdown(
            "\n".join([f"| {head[0]} | {head[1]} |", "| :-- | :-- |", *(f"| {a} | {b} |" for a, b in rows)])
        )
