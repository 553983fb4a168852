"""The control rail: everything that defines an experiment, from the catalogue's knobs."""

from typing import Any

import streamlit as st

from sandbox.foundations.catalogue import Catalogue
from sandbox.foundations.errors import InvalidPlain
from sandbox.ui import arm_rail, choices, session, widgets
from sandbox.ui.settings import Plain, seeds, variant
from sandbox.ui.words import count, escaped

OWN = "Your own settings"
CLOSED_AT_FIRST = ("Optimizer",)


def rail() -> Plain:
    """Draw the rail in the sidebar; returns the experiment that it shows, ready to be checked."""
    catalogue = choices.catalogue()
    draft = session.draft() or choices.first_draft()
    session.set_draft(draft)
    _presets(catalogue, draft)
    with st.container(key="rail.sections"):
        _section(catalogue, draft, "task", "task", "Task")
        arm_rail.arms(catalogue, draft)
        _model(catalogue, draft)
        _section(catalogue, draft, "optimizer", "optimizer", "Optimizer")
        _pace(catalogue, draft)
    return arm_rail.trained(catalogue, draft)


def _presets(catalogue: Catalogue, draft: Plain) -> None:
    chosen = choices.preset_of(draft)
    session.show("rail.preset", chosen or OWN)
    st.selectbox(
        "Preset",
        [*catalogue.presets, *([] if chosen else [OWN])],
        key="rail.preset",
        on_change=session.on_change("rail.preset", _take_preset),
        filter_mode=None,
    )
    if chosen:
        st.caption(escaped(catalogue.presets[chosen]["sentence"]))
    session.show("rail.level", session.level())
    st.segmented_control(
        "Controls",
        session.LEVELS,
        key="rail.level",
        required=True,
        width="stretch",
        help="How many settings are open. Every reading is there at both levels.",
        on_change=session.on_change("rail.level", session.set_level),
    )


def _take_preset(name: str) -> None:
    if name != OWN:
        session.set_draft(choices.preset(name))


def _section(catalogue: Catalogue, draft: Plain, part: str, family: str, title: str) -> None:
    """A part of the experiment that is one variant of one family, with its knobs."""
    variants = catalogue.families[family]
    with _drawer(title, variants[draft[part]["kind"]].title):
        widgets.choose(title, variants, draft[part]["kind"], f"{family}.kind", _take_kind(part, family), True)
        kind = draft[part]["kind"]
        widgets.knobs(variants[kind].knobs, draft[part], f"{family}.{kind}", _write(part))


def _model(catalogue: Catalogue, draft: Plain) -> None:
    variants, kind = catalogue.families["architecture"], draft["model"]["kind"]
    entry = variants[kind]
    with _drawer("Model", entry.title):
        widgets.choose(
            "Architecture", variants, kind, "architecture.kind", _take_kind("model", "architecture")
        )
        widgets.knobs(entry.knobs, draft["model"], f"architecture.{kind}", _write("model"))
        for slot in catalogue.slots:
            if slot in entry.slots:
                _slot(catalogue, draft["model"], slot, entry.slots[slot])
            elif slot in entry.not_applicable:
                title = catalogue.family_titles[slot].capitalize()
                st.selectbox(title, ["does not apply"], disabled=True, key=f"model.{kind}.{slot}.none")
                st.caption(escaped(entry.not_applicable[slot]))


def _slot(catalogue: Catalogue, model: Plain, slot: str, default: str) -> None:
    """What the base model of every arm has in `slot`; hidden where there is nothing to choose."""
    variants, kind = catalogue.families[slot], model[slot]["kind"]
    armed = slot not in ("placement", "mechanism")
    if len(variants) < 2 or (armed and kind == default and session.level() == "Beginner"):
        return
    label = catalogue.family_titles[slot].capitalize() + (" of every arm" if armed else "")
    widgets.choose(label, variants, kind, f"{slot}.kind", _take_slot(slot))
    entry = variants[kind]
    if entry.knobs:
        widgets.knobs(entry.knobs, model[slot], f"{slot}.{kind}", _write("model", slot))


def _pace(catalogue: Catalogue, draft: Plain) -> None:
    summary = f"{count(draft['steps'], 'step')}, {count(len(draft['seeds']), 'seed')}"
    with _drawer("Run", summary):
        session.show("run.seeds", _seed_text(draft["seeds"]))
        st.text_input(
            "Seeds",
            key="run.seeds",
            on_change=session.on_change("run.seeds", _take_seeds),
            help="Whole numbers with commas, or a range such as 0-7. Every arm trains every seed.",
        )
        widgets.knobs(catalogue.pace, draft, "run", _write())
        _device(catalogue)


def _device(catalogue: Catalogue) -> None:
    """Where the run trains; a device that is not there says why, and cannot be chosen."""
    usable = [name for name, device in catalogue.devices.items() if device.available]
    session.show("run.device", session.device())
    st.selectbox(
        "Device",
        usable,
        key="run.device",
        format_func=str.upper,
        disabled=len(usable) == 1,
        on_change=session.on_change("run.device", session.set_device),
    )
    for name, device in catalogue.devices.items():
        if not device.available:
            why = device.sentence.removeprefix("none: ").rstrip(".")
            st.caption(escaped(f"{name.upper()}: {why}."))


def _drawer(title: str, summary: str) -> Any:
    level = session.level()
    closed = level == "Beginner" and title in CLOSED_AT_FIRST
    return st.expander(f"**{title}** · {escaped(summary)}", expanded=not closed, key=f"rail.{title}.{level}")


def _write(*path: str) -> widgets.Write:
    """A function that writes one knob below `path` of the draft."""

    def write(name: str, value: Any) -> None:
        draft = session.draft() or choices.first_draft()
        part = draft
        for step in path:
            part = part[step]
        part[name] = value
        session.set_draft(draft)

    return write


def _take_kind(part: str, family: str) -> Any:
    """A function that puts another variant in `part`, with the knobs it had when it was last chosen."""

    def take(kind: str) -> None:
        draft = session.draft() or choices.first_draft()
        session.put_on_shelf(f"{part}.{draft[part]['kind']}", draft[part])
        kept = session.shelf(f"{part}.{kind}") or {"kind": kind}
        draft[part] = variant(choices.catalogue(), family, kept, part)
        session.set_draft(draft)

    return take


def _take_slot(slot: str) -> Any:
    def take(kind: str) -> None:
        draft = session.draft() or choices.first_draft()
        draft["model"][slot] = variant(choices.catalogue(), slot, {"kind": kind}, f"model.{slot}")
        session.set_draft(draft)

    return take


def _take_seeds(text: str) -> None:
    draft = session.draft() or choices.first_draft()
    draft["seeds"] = read_seeds(text)
    session.set_draft(draft)


def read_seeds(text: str) -> list[int]:
    """Seeds from `0, 1, 2` or `0-7`; raises a SandboxError that says what is allowed."""
    found: list[int] = []
    for part in text.replace("-", "–").split(","):
        first, dash, last = (piece.strip() for piece in part.partition("–"))
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(first + last) > 20:
            raise InvalidPlain(
                f"Seeds are {text[:40]!r}; write whole numbers with commas, such as 0, 1, 2, or a range 0-7."
            )
        stop = int(last) if dash else int(first)
        if stop - int(first) > 1000:
            raise InvalidPlain(f"Seeds are {text[:40]!r}; an experiment has at most 128 seeds.")
        found += range(int(first), stop + 1)
    return seeds(found)


def _seed_text(values: list[int]) -> str:
    if len(values) > 3 and values == list(range(values[0], values[0] + len(values))):
        return f"{values[0]}-{values[-1]}"
    return ", ".join(map(str, values))
