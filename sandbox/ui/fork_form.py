"""The knobs of the form that continues a run: what may change for all arms, and for single ones."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from sandbox.foundations.catalogue import KnobEntry
from sandbox.runner.fork_plan import PACE, values_at
from sandbox.store import Run
from sandbox.ui import choices
from sandbox.ui.complete import complete
from sandbox.ui.live_knobs import knobs_of
from sandbox.ui.widgets import step_of
from sandbox.ui.words import code

Offered = tuple[str | None, str, str, Any]
"""Arm (None: all), dotted key, the widget's key, and the value that it shows at first."""

FIRST = ("learning_rate", "weight_decay")
OPTIMIZER = "optimizer"


def common(run: Run, place: str) -> list[Offered]:
    """What may change for all arms: the optimizer's knobs, and how batches are cut."""
    catalogue = choices.catalogue()
    plain = complete(catalogue, run.experiment)
    knobs = catalogue.variant(OPTIMIZER, plain[OPTIMIZER]["kind"]).knobs
    offered: list[Offered] = []

    def row(entries: Mapping[str, KnobEntry], values: Mapping[str, Any], before: str) -> None:
        with st.container(horizontal=True):
            for name, entry in entries.items():
                offered.append(_widget(entry, None, f"{before}{name}", values[name], place))

    row({name: knobs[name] for name in FIRST if name in knobs}, plain[OPTIMIZER], f"{OPTIMIZER}.")
    with st.expander("More that may change for all arms"):
        row({name: catalogue.pace[name] for name in PACE}, plain, "")
        rest = {name: entry for name, entry in knobs.items() if name not in FIRST}
        row(rest, plain[OPTIMIZER], f"{OPTIMIZER}.")
    return offered


def by_arm(run: Run, place: str, step: int) -> list[Offered]:
    """The live knobs of each arm with the values that they had at `step`."""
    now = values_at(run, step)
    offered: list[Offered] = []
    with st.expander("Live knobs of single arms"):
        for arm in run.arms:
            st.markdown(code(arm))
            with st.container(horizontal=True):
                for name, (entry, started) in knobs_of(choices.catalogue(), run.experiment, arm).items():
                    offered.append(_widget(entry, arm, name, now.get((arm, name), started), place))
    return offered


def _widget(entry: KnobEntry, arm: str | None, key: str, value: Any, place: str) -> Offered:
    """A widget within the knob's bounds; it reports when the form is sent."""
    spec, where = entry.spec, f"{place}.{arm or 'all'}.{key}"
    common: dict[str, Any] = {"key": where, "help": spec.help or None}
    if isinstance(entry.default, str):
        st.selectbox(spec.label, spec.options, spec.options.index(value), **common)
    elif isinstance(entry.default, int):
        value = int(value)
        st.number_input(spec.label, int(spec.low or 0), int(spec.high or 10**9), value, **common)
    else:
        value = float(value)
        st.number_input(spec.label, spec.low, spec.high, value, float(step_of(entry)), format="%g", **common)
    return arm, key, where, value
