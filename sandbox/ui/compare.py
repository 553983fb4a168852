"""Compare: runs and arms beside one another, with their differences and how sure these are."""

import math
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import streamlit as st

from sandbox.foundations.errors import SandboxError
from sandbox.runner import gallery
from sandbox.store import Run, open_run, run_path
from sandbox.store import compared as curves
from sandbox.store.compared import Compared
from sandbox.ui import (
    compare_controls,
    compare_files,
    compare_maps,
    compare_picture,
    compare_standings,
    compare_words,
    gone,
    session,
)
from sandbox.ui.compare_settings import Setting, by_design, differing, setting_of, warnings
from sandbox.ui.compare_table import settings_table, standings_table
from sandbox.ui.compare_view import CompareView, fitted, from_params
from sandbox.ui.run_state import ENDED
from sandbox.ui.words import escaped

TICK = 3.0
MOST_TOLD = 6
Part = tuple[str, Run, str]
"""A group with its run and arm."""


def show() -> None:
    """Draw the page."""
    st.title("Compare", anchor=False)
    told = _follow()
    entries, _ = gallery.entries()
    names = unique_names({entry.id: entry.name for entry in entries if entry.card.arms})
    left, right = st.columns([1, 1.6], gap="medium")
    with left:
        compare_controls.choose_runs(names)
    with ExitStack() as opened:
        runs: dict[str, Run] = {}
        damaged: list[str] = []
        for run_id in compare_controls.view().runs:
            try:
                runs[run_id] = opened.enter_context(open_run(run_path(run_id)))
            except SandboxError as error:
                if run_path(run_id).is_dir():
                    damaged.append(run_id)
                    told.append(str(error))
        view, more = fitted(compare_controls.view(), {run_id: run.arms for run_id, run in runs.items()})
        told += more
        asked = compare_controls.view().runs
        gone.offer([run_id for run_id in asked if run_id not in runs and run_id not in damaged])
        session.hold(compare_controls.HELD, replace(view, runs=asked))
        with right:
            compare_controls.choose_groups(_labels(runs, names))
        for sentence in told[:MOST_TOLD]:
            st.warning(escaped(sentence))
        if not view.groups:
            st.info(
                "Choose one run to compare its arms, or several runs. The list of runs has a box for each."
            )
        else:
            _compare(view, runs, names)
    _say_address()
    states = {entry.id: (entry.state, entry.step) for entry in entries if entry.id in view.runs}
    if any(state not in ENDED for state, _ in states.values()):
        st.fragment(_tick, run_every=TICK)(states)


def unique_names(names: Mapping[str, str]) -> dict[str, str]:
    """The runs' names, with the id beside those that several have: a menu tells its lines by their words."""
    often = Counter(names.values())
    return {run: name if often[name] == 1 else f"{name} ({run})" for run, name in names.items()}


def _follow() -> list[str]:
    """Take up what the address says, once; sentences for what it could not say."""
    params = st.query_params.to_dict()
    if not params or not session.first_sight("compare", repr(sorted(params.items()))):
        return []
    view, told = from_params(params)
    session.hold(compare_controls.HELD, view)
    gone.keep(params.get("setups", ""), view.runs)
    return told


def _say_address() -> None:
    """Let the address say what is shown, so that it can be copied from where addresses stand."""
    params = compare_controls.view().to_params()
    if st.query_params.to_dict() != params:
        session.first_sight("compare", repr(sorted(params.items())))
        st.query_params.from_dict(params)


def _labels(runs: Mapping[str, Run], names: Mapping[str, str]) -> dict[str, str]:
    alone = len(runs) == 1
    return {
        f"{run_id}:{index}": arm if alone else f"{names.get(run_id, run_id)} · {arm}"
        for run_id, run in runs.items()
        for index, arm in enumerate(run.arms)
    }


def _compare(view: CompareView, runs: dict[str, Run], names: dict[str, str]) -> None:
    labels = {g: label for g, label in _labels(runs, names).items() if g in view.groups}
    parts = [(group, *_run_and_arm(group, runs)) for group in view.groups]
    settings = [setting_of(run, arm, labels[group]) for group, run, arm in parts]
    unfair = warnings(settings) if len(settings) > 1 else []
    for sentence in unfair:
        st.warning(escaped(sentence), icon=":material/balance:")
    if len(settings) > 1:
        with st.expander("Settings that differ", expanded=True, key="compare.settings"):
            st.markdown(settings_table([s.label for s in settings], differing(settings)))
            st.caption(escaped(by_design(settings)))
    knobs = [name for name, row in differing(settings).items() if all(v is not None for v in row)]
    compare_controls.choose_look([(run, arm) for _, run, arm in parts], labels, knobs)
    view = replace(compare_controls.view(), runs=tuple(runs))
    if any(view.metric in curves.maps(run, arm) for _, run, arm in parts):
        compare_maps.pictures(view, parts, labels, settings)
    else:
        _curves(view, runs, parts, labels, settings, bool(unfair))
    compare_files.link(view, runs)


def _curves(
    view: CompareView,
    runs: dict[str, Run],
    parts: list[Part],
    labels: dict[str, str],
    settings: list[Setting],
    unfair: bool,
) -> None:
    """Curves: where every group stands, in a sentence, and then as a picture or a table."""
    try:
        groups = [
            curves.group(run, arm, view.metric, view.by, view.event, labels[group], _style(group, runs))
            for group, run, arm in parts
        ]
    except SandboxError as error:
        st.info(escaped(str(error)))
        return
    at = _place(groups)
    index = view.groups.index(view.reference) if view.reference in view.groups else 0
    found, gaps, bands = compare_standings.standings(
        groups, groups[index], at, whole=view.show == "difference", resting=_resting(runs)
    )
    reference = groups[index].label
    said = compare_words.sentences(view.metric, view.by, at, found, reference, unfair)
    st.markdown("\n".join([escaped(said[0]), "", *(f"- {escaped(line)}" for line in said[1:])]))
    if view.show == "table":
        with st.container(key="compare.table"):
            st.markdown(standings_table(view, found, groups, runs, reference))
    else:
        compare_picture.picture(view, groups, settings, gaps, bands)


def _run_and_arm(group: str, runs: dict[str, Run]) -> tuple[Run, str]:
    run_id, _, arm = group.partition(":")
    return runs[run_id], runs[run_id].arms[int(arm)]


def _style(group: str, runs: dict[str, Run]) -> int:
    """The palette's place of a group: its arm's in one run, else its own among all groups of these runs."""
    run_id, _, arm = group.partition(":")
    before = 0
    for known, run in runs.items():
        if known == run_id:
            return before + int(arm)
        before += len(run.arms)
    return before


def _place(groups: list[Compared]) -> float:
    """The place that is looked at, and the slider that moves it."""
    last = curves.last_common(groups)
    places = [float(x) for x in groups[0].x if x <= last] if not math.isnan(last) else []
    thinned = (
        [places[i] for i in np.unique(np.linspace(0, len(places) - 1, 200).astype(int))] if places else []
    )
    compare_controls.choose_place(thinned)
    at = compare_controls.view().at
    if at is None or not thinned:
        return thinned[-1] if thinned else math.nan
    return min(thinned, key=lambda place: abs(place - at))


def _resting(runs: dict[str, Run]) -> bool:
    return all(run.status["state"] in ENDED for run in runs.values())


def _tick(seen: dict[str, tuple[str, int]]) -> None:
    """Look whether a run went on; no chart, so that a tick costs little."""
    try:
        entries, _ = gallery.entries()
    except SandboxError as error:  # a fragment runs by itself: the page does not hear of it
        st.error(escaped(str(error)))
        return
    if {e.id: (e.state, e.step) for e in entries if e.id in seen} != seen:
        st.rerun()
