"""Widgets grown from knobs: a new knob, variant or family needs no new code here."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from sandbox.foundations.catalogue import KnobEntry, VariantEntry
from sandbox.ui import session
from sandbox.ui.changes import shown
from sandbox.ui.words import escaped

Write = Callable[[str, Any], None]
FEW = 3
SHORT = 8
LONGEST_TEXT = 64
LIVE = "**Live:** may change while a run trains."
NEXT = "**Next run:** acts in a run that is started or forked."
"""When a setting acts; said of each of them."""


def knobs(
    entries: Mapping[str, KnobEntry],
    values: Mapping[str, Any],
    key: str,
    write: Write,
    marks: Mapping[str, Sequence[tuple[float, str]]] | None = None,
    disabled: bool = False,
) -> None:
    """One widget for each knob; the expert ones stand in a drawer that the level opens.

    `write(name, value)` is called before the next run of the script; a person's value is checked there.
    """
    extra = marks or {}
    plain = {name: entry for name, entry in entries.items() if not entry.spec.expert}
    expert = {name: entry for name, entry in entries.items() if entry.spec.expert}
    for name, entry in plain.items():
        knob(entry, values[name], f"{key}.{name}", write, extra.get(name, ()), disabled)
    if expert:
        changed = [entry for name, entry in expert.items() if values[name] != entry.default]
        label = "More settings" + (f" ({len(changed)} changed)" if changed else "")
        level = session.level()
        with st.expander(label, expanded=level == "Researcher", key=f"{key}.more.{level}"):
            for name, entry in expert.items():
                knob(entry, values[name], f"{key}.{name}", write, extra.get(name, ()), disabled)


def knob(
    entry: KnobEntry,
    value: Any,
    key: str,
    write: Write,
    marks: Sequence[tuple[float, str]] = (),
    disabled: bool = False,
) -> None:
    """The widget of one knob, by the kind of its default, with its named values below it."""
    session.show(key, value)
    spec = entry.spec

    def changed(new: Any) -> None:
        if new is not None:  # a field that was emptied shows its old value again
            write(entry.name, new)

    common: dict[str, Any] = {
        "key": key,
        "help": f"{escaped(spec.help)} {LIVE if spec.live else NEXT}".strip(),
        "on_change": session.on_change(key, changed),
        "disabled": disabled,
    }
    if isinstance(entry.default, bool):
        st.toggle(spec.label, **common)
    elif isinstance(entry.default, str) and spec.pattern:
        st.text_input(spec.label, max_chars=LONGEST_TEXT, **common)
    elif isinstance(entry.default, str):
        _choice(spec.label, spec.options, common)
    else:
        _number(entry, common)
        _marks([*spec.marks, *marks], key, changed, disabled)


def choose(
    label: str,
    variants: Mapping[str, VariantEntry],
    kind: str,
    key: str,
    write: Callable[[Any], None],
    titled: bool = False,
) -> None:
    """A menu over the variants of one family, with the chosen one's sentence below it.

    `titled` says that the label stands above already.
    """
    session.show(key, kind)
    st.selectbox(
        label,
        list(variants),
        format_func=lambda name: variants[name].title,
        key=key,
        on_change=session.on_change(key, write),
        filter_mode=None,
        label_visibility="collapsed" if titled else "visible",
    )
    st.caption(escaped(variants[kind].sentence))


def _choice(label: str, options: tuple[str, ...], common: dict[str, Any]) -> None:
    if len(options) <= FEW and all(len(option) <= SHORT for option in options):
        st.segmented_control(label, options, required=True, width="stretch", **common)
    else:
        st.selectbox(label, options, filter_mode=None, **common)


def _number(entry: KnobEntry, common: dict[str, Any]) -> None:
    whole, spec = isinstance(entry.default, int), entry.spec
    kind: type[Any] = int if whole else float
    st.number_input(
        spec.label,
        min_value=None if spec.low is None else kind(spec.low),
        max_value=None if spec.high is None else kind(spec.high),
        step=kind(step_of(entry)),
        format="%d" if whole else "%.10g",
        **common,
    )


def step_of(entry: KnobEntry) -> float:
    """How far one press goes: at most half of the default, 0.0001 for a learning rate of 0.001."""
    default = abs(entry.default)
    if entry.spec.step or isinstance(entry.default, int):
        return entry.spec.step or 1
    return float(10.0 ** math.floor(math.log10(default / 2))) if default else 0.01


def _marks(
    marks: Sequence[tuple[float, str]], key: str, write: Callable[[Any], None], disabled: bool
) -> None:
    if not marks:
        return
    with st.container(horizontal=True, gap="small", key=f"marks.{key}"):
        for number, (at, word) in enumerate(marks):
            st.button(
                f"{word} {shown(round(at, 3))}",
                key=f"{key}.mark.{number}",
                type="tertiary",
                disabled=disabled,
                on_click=write,
                args=(at,),
            )
