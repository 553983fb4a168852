"""The arms in the rail: a checkbox for each idea, its knobs below it, and a field for combinations."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from sandbox.foundations.catalogue import Catalogue, VariantEntry
from sandbox.foundations.errors import InvalidExperiment
from sandbox.foundations.spec import STANDARD
from sandbox.ui import choices, session, widgets
from sandbox.ui.arms import applicable, is_standard, menu, parse_arm, spec_of, stands_for
from sandbox.ui.complete import complete
from sandbox.ui.settings import Plain, variant
from sandbox.ui.words import count, escaped

Offer = tuple[str, VariantEntry, str]
"""A checkbox of the menu: slot, variant, and the reason why it cannot be on."""


def arms(catalogue: Catalogue, draft: Plain) -> None:
    """Draw the arms of `draft`: standard, every variant that the model has a place for, and combinations."""
    on = trained(catalogue, draft)["arms"]
    how = " trained side by side" if len(on) > 1 else ""
    with st.expander(f"**Arms** · {len(on)}{how}", expanded=True, key="rail.Arms"):
        _tick(
            "arm.standard", "Standard", any(map(is_standard, on)), _toggle_standard,
            "The model as it is below, nothing conditioned.",
        )  # fmt: skip
        shown, more = _split(catalogue, draft, on)
        _offers(catalogue, draft, on, shown)
        if more:
            with st.expander(f"{count(len(more), 'more method')}", key="rail.Arms.more"):
                _by_slot(catalogue, draft, on, more)
        _combinations(catalogue, draft, on)


def _split(catalogue: Catalogue, draft: Plain, on: list[Plain]) -> tuple[list[Offer], list[Offer]]:
    """What stands open in the menu (ticked, or compared in a preset), and what waits behind one click."""
    compared = {
        (slot, settings["kind"])
        for preset in catalogue.presets.values()
        for arm in preset["experiment"]["arms"]
        for slot, settings in arm.items()
        if slot in ("projection", "output", "initialization")
    }
    offers = menu(catalogue, draft["model"])
    ticked = {(s, e.kind) for s, e, _ in offers for arm in on if stands_for(arm, s, e.kind)}
    shown = [offer for offer in offers if (offer[0], offer[1].kind) in compared | ticked]
    return shown, [offer for offer in offers if offer not in shown]


def _by_slot(catalogue: Catalogue, draft: Plain, on: list[Plain], offers: list[Offer]) -> None:
    for slot in dict.fromkeys(slot for slot, _, _ in offers):
        st.caption(f"**{escaped(catalogue.family_titles[slot].capitalize())}**")
        _offers(catalogue, draft, on, [offer for offer in offers if offer[0] == slot])


def _offers(catalogue: Catalogue, draft: Plain, on: list[Plain], offers: list[Offer]) -> None:
    """A checkbox each; a reason that several of them share is said once, below them."""
    for at, (slot, entry, reason) in enumerate(offers):
        _variant(catalogue, draft, on, slot, entry, reason)
        if reason and reason not in (later for _, _, later in offers[at + 1 :]):
            st.caption(escaped(reason))


def trained(catalogue: Catalogue, draft: Plain) -> Plain:
    """The draft without the arms that mean nothing in its model."""
    kept = [arm for arm in draft["arms"] if applicable(catalogue, draft["model"], arm)]
    return draft | {"arms": kept}


def _variant(
    catalogue: Catalogue, draft: Plain, on: list[Plain], slot: str, entry: VariantEntry, reason: str
) -> None:
    key = f"arm.{slot}.{entry.kind}"
    arm = next((arm for arm in on if stands_for(arm, slot, entry.kind)), None)
    checked = arm is not None and not reason
    _tick(key, entry.title, checked, _toggle(slot, entry.kind), reason or entry.sentence, bool(reason))
    if not reason and arm is not None and entry.knobs:
        with st.container(key=f"knobs.{key}"):
            marks = choices.model_marks(draft["model"], slot, entry.kind)
            widgets.knobs(entry.knobs, arm[slot], key, _write_arm(slot, entry.kind), marks)


def _combinations(catalogue: Catalogue, draft: Plain, on: list[Plain]) -> None:
    lines = "\n".join(arm["name"] for arm in on if _combined(catalogue, draft["model"], arm))
    session.show("arm.combinations", lines)
    st.text_area(
        "Combinations, one per line",
        key="arm.combinations",
        height=68,
        placeholder="spectral:shift=0.5+preconditioned",
        on_change=session.on_change("arm.combinations", _take_combinations),
        help=escaped(
            "Kinds joined by +, settings after a colon. Kinds: " + ", ".join(catalogue.arm_kinds) + "."
        ),
    )


def _combined(catalogue: Catalogue, model: Plain, arm: Plain) -> bool:
    """Whether no checkbox stands for `arm`."""
    offered = {(slot, entry.kind) for slot, entry, reason in menu(catalogue, model) if not reason}
    return not is_standard(arm) and not any(stands_for(arm, slot, kind) for slot, kind in offered)


def _tick(
    key: str, label: str, on: bool, write: Callable[[Any], None], sentence: str, disabled: bool = False
) -> None:
    session.show(key, on)
    st.checkbox(
        label,
        key=key,
        help=escaped(sentence),
        disabled=disabled,
        on_change=session.on_change(key, write),
    )


def _toggle_standard(on: bool) -> None:
    _replace(is_standard, [{"name": STANDARD}] if on else [])


def _toggle(slot: str, kind: str) -> Callable[[Any], None]:
    """A function that puts the arm of this checkbox in or takes it out; its knobs wait on the shelf."""

    def toggle(on: bool) -> None:
        catalogue = choices.catalogue()
        kept = session.shelf(f"arm.{slot}.{kind}") or {"kind": kind}
        _replace(
            lambda arm: stands_for(arm, slot, kind),
            [_named(catalogue, {slot: variant(catalogue, slot, kept, kind)})] if on else [],
        )

    return toggle


def _write_arm(slot: str, kind: str) -> widgets.Write:
    """A function that writes one knob of the arm of this checkbox; the arm's name follows its knobs."""

    def write(name: str, value: Any) -> None:
        catalogue, draft = choices.catalogue(), session.draft() or choices.first_draft()
        arm = next(arm for arm in draft["arms"] if stands_for(arm, slot, kind))
        settings = variant(catalogue, slot, arm[slot] | {name: value}, kind)
        session.put_on_shelf(f"arm.{slot}.{kind}", settings)
        _replace(lambda arm: stands_for(arm, slot, kind), [_named(catalogue, {slot: settings})])

    return write


def _take_combinations(text: str) -> None:
    catalogue, draft = choices.catalogue(), session.draft() or choices.first_draft()
    kept = {arm["name"]: arm for arm in draft["arms"] if _combined(catalogue, draft["model"], arm)}
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # A line that was not touched keeps its arm, whatever its name says.
    new = [kept.get(line) or parse_arm(catalogue, line) for line in dict.fromkeys(lines)]
    for arm in new:
        if arm["name"] not in kept and not applicable(catalogue, draft["model"], arm):
            raise InvalidExperiment(f"Arm {arm['name'][:80]!r} changes a part that this model does not have.")
    _replace(lambda arm: _combined(catalogue, draft["model"], arm), new)


def _replace(chosen: Callable[[Plain], bool], new: list[Plain]) -> None:
    """Put `new` where the chosen arms stood; standard comes first, what is new comes last."""
    catalogue, draft = choices.catalogue(), session.draft() or choices.first_draft()
    at = next((i for i, arm in enumerate(draft["arms"]) if chosen(arm)), len(draft["arms"]))
    kept = [arm for arm in draft["arms"] if not chosen(arm)]
    found = [*kept[:at], *new, *kept[at:]]
    found.sort(key=lambda arm: not is_standard(arm))
    complete(catalogue, draft | {"arms": found or [{"name": STANDARD}]})  # two arms of one name are refused
    session.set_draft(draft | {"arms": found})


def _named(catalogue: Catalogue, changed: Plain) -> Plain:
    return {"name": spec_of(catalogue, changed)} | changed
