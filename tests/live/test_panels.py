"""Every panel explains itself, draws something that is recorded, and travels to the browser as JSON."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.diagnostics import Diagnostic, SnapshotView, probe_batch
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import load
from sandbox.foundations.readings import PerHead
from sandbox.live.feed import SCALARS
from sandbox.live.hello import palette
from sandbox.live.panels import Panel, curve_columns, declare_panels, fact_columns, standard_columns

HAS = frozenset({"visual model", "groups", "sparse modular addition", "listops"})
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
        assert column in SCALARS or column.split("/", 1)[0] == panel.reading, column
    assert all(kind in Diagnostic.variants and len(words) <= 80 for kind, _, words in panel.also)
    assert not panel.also or panel.also[0][0] == panel.reading
    assert (repository / "assets" / "live" / f"{panel.renderer}.js").is_file()
    assert bool(panel.curves or panel.every) == (panel.renderer == "curves")


def _views() -> Iterator[SnapshotView]:
    """Snapshots of an encoder and of the visual model at their start."""
    for model in ("encoder", "visual model"):
        plain = {"task": {"kind": "sparse modular addition"}, "model": {"kind": model}, "steps": 1}
        experiment = load({"schema": 1, **plain, "seeds": [0], "arms": [{"name": "standard"}]})
        setting = experiment.setting("standard")
        group = TorchGroup(setting, (0,))
        yield SnapshotView.of(group, probe_batch(setting.task, group.task_data[0], 0, 8), {})


def test_the_columns_are_those_that_the_diagnostics_answer_with() -> None:
    found: set[str] = set()
    for view in _views():
        for kind in {name.split("/", 1)[0] for name in (*curve_columns(), *fact_columns())}:
            answer = Diagnostic.variants[kind]().read(view)
            if isinstance(answer, PerHead):
                found |= {f"{kind}/{name}" for name in (*answer.columns, *answer.not_applicable)}
    assert set(curve_columns()) | set(fact_columns()) <= found


def test_the_declarations_travel_as_json_in_their_order() -> None:
    declared = json.loads(json.dumps(declare_panels(HAS)))
    assert {panel["kind"] for panel in declared} == set(PANELS)
    assert [p["renderer"] for p in declared][:2] == ["trajectories", "map"]


def test_a_panel_that_needs_something_is_shown_only_where_a_run_has_it() -> None:
    plain = {panel["kind"] for panel in declare_panels()}
    visual = {panel["kind"] for panel in declare_panels(frozenset({"visual model"}))}
    assert "loss" in plain and "level lines" not in plain and "accuracy by group" not in plain
    assert len(visual - plain) == 16 and "accuracy by group" not in visual
    assert all(panel["section"] for panel in declare_panels(HAS) if panel["kind"] not in plain)


def test_a_panel_that_is_not_open_asks_for_nothing_at_first() -> None:
    curves, values = standard_columns()
    folded = {panel["kind"]: panel for panel in declare_panels(HAS) if panel["section"]}
    asked = {c["column"] for p in folded.values() for c in p["curves"]} - set(fact_columns())
    assert folded.keys() >= {"attention jacobian", "singular values", "sharpness"}
    assert curves and values and not {c.split("/")[0] for c in curves} & {c.split("/")[0] for c in asked} - {
        "theta", "attention entropy"
    }  # fmt: skip


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
