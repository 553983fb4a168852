"""Every panel explains itself, draws something that is recorded, and travels to the browser as JSON."""

import json
import re
from pathlib import Path

import pytest

from sandbox.diagnostics import Diagnostic
from sandbox.live.feed import SCALARS
from sandbox.live.hello import palette
from sandbox.live.panels import Panel, curve_columns, declare_panels, fact_columns

PANELS = sorted(Panel.variants)


@pytest.mark.parametrize("kind", PANELS)
def test_a_panel_says_what_it_shows_in_one_short_sentence_and_how_to_read_it(kind: str) -> None:
    panel = Panel.variants[kind]
    assert 20 < len(panel.sentence) <= 80 and panel.sentence.endswith(".")
    assert len(panel.title) <= 18 and len(panel.how_to_read) > 60
    assert panel.equation and panel.source and panel.certainty[0] in "ABCD"


@pytest.mark.parametrize("kind", PANELS)
def test_a_panel_draws_a_reading_or_curves_that_exist(kind: str, repository: Path) -> None:
    panel = Panel.variants[kind]
    assert not panel.reading or panel.reading in Diagnostic.variants
    columns = [name for curve in panel.curves for name in (curve.column, curve.to) if name]
    columns += [column for column, _ in panel.facts]
    for column in columns:
        assert column in SCALARS or column.split("/", 1)[0] == panel.reading
    assert all(kind in Diagnostic.variants and len(words) <= 80 for kind, _, words in panel.also)
    assert not panel.also or panel.also[0][0] == panel.reading
    assert (repository / "assets" / "live" / f"{panel.renderer}.js").is_file()
    assert bool(panel.curves) == (panel.renderer == "curves")


def test_the_columns_are_those_that_the_diagnostics_name_in_their_source(repository: Path) -> None:
    for column in (*curve_columns(), *fact_columns()):
        kind, name = column.split("/", 1)
        source = (repository / "sandbox" / "diagnostics" / f"{kind.replace(' ', '_')}.py").read_text()
        assert f'"{name}"' in source, column


def test_the_declarations_travel_as_json_in_their_order() -> None:
    declared = json.loads(json.dumps(declare_panels(frozenset({"visual model", "groups"}))))
    assert {panel["kind"] for panel in declared} == set(PANELS)
    assert [p["renderer"] for p in declared][:2] == ["trajectories", "map"]


def test_a_panel_that_needs_something_is_shown_only_where_a_run_has_it() -> None:
    plain = {panel["kind"] for panel in declare_panels()}
    visual = {panel["kind"] for panel in declare_panels(frozenset({"visual model"}))}
    assert "loss" in plain and "level lines" not in plain and "accuracy by group" not in plain
    assert len(visual - plain) == 14 and "accuracy by group" not in visual
    assert all(bool(panel["section"]) == (panel["kind"] not in plain) for panel in declare_panels(
        frozenset({"visual model", "groups"})
    ))  # fmt: skip


def test_arms_differ_by_colour_in_both_themes_by_dash_and_by_marker() -> None:
    arms = palette()["arms"]
    assert len(arms) == 8
    for word in ("light", "dark", "marker", "plotly_dash"):
        assert len({arm[word] for arm in arms}) == 8, word
    assert all(re.fullmatch("#[0-9a-f]{6}", arm[theme]) for arm in arms for theme in ("light", "dark"))


def test_no_script_writes_html(repository: Path) -> None:
    for path in (repository / "assets" / "live").glob("*.js"):
        text = path.read_text()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text), (
            path.name
        )
        assert len(text.splitlines()) < 300, path.name
