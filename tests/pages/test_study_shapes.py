"""The study draws a reading of one moment as the live panels do, or over the steps."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import PerHead, Table
from sandbox.live.panels import Panel
from sandbox.store import RunWriter, open_run
from sandbox.ui import study_shapes, study_tabs
from tests.live.synthetic import SyntheticRun
from tests.pages.conftest import said, settled
from tests.ui import described


@pytest.fixture
def folder(runs_folder: Path) -> Path:
    described.put_into(runs_folder)
    made = SyntheticRun(runs_folder / "run", arms=2, layers=2, steps=40)
    made.grow(40)
    read(made.writer)
    made.writer.event(3, "phase", "plateau: it stands", 0, 1)
    made.finish()
    return made.writer.path


def read(writer: RunWriter) -> None:
    """Every reading that has a shape, with the columns that its panel names, at two steps."""
    for panel in Panel.variants.values():
        if panel.renderer in ("layers", "ladder"):
            names = [column.partition("/")[2] for column, _ in panel.table]
            columns = {name: np.full((3, 2, 1), 0.5) for name in names}
            for step in (20, 40):
                writer.reading(step, 0, panel.reading, PerHead(columns=columns, unit="unit"))
    cells = np.full((3, 1, 1, 3, 1), 0.25, np.float32)
    tree = Table(cells=cells, rows=("[MAX", "1", "]"), columns=("received",), unit="attention")
    writer.reading(40, 0, "expression", tree)


def page(folder: str, name: str) -> None:
    """The study's tab `name` alone."""
    import sandbox.figures as figures
    from sandbox.store import open_run
    from sandbox.ui import study_tabs

    with open_run(folder) as run:
        study_tabs.draw(figures, run, name, "test", False)


def opened(folder: Path, name: str) -> AppTest:
    return settled(AppTest.from_function(page, args=(str(folder), name), default_timeout=60).run())


def shapes() -> list[Any]:
    panels = [panel for panel in Panel.variants.values() if panel.renderer in study_shapes.OF_RENDERER]
    return sorted((panel.reading, study_shapes.OF_RENDERER[panel.renderer]) for panel in panels)


@pytest.mark.parametrize(("kind", "shape"), shapes(), ids=str)
def test_every_shape_of_a_panel_is_drawn_and_so_is_the_usual_way(folder: Path, kind: str, shape: str) -> None:
    app = opened(folder, study_tabs._title(kind))
    assert app.selectbox(key="test.shape").value == shape
    assert len(app.get("plotly_chart")) == 1
    assert "arm standard, seed 0, step 40" in said(app).replace("Arm", "arm")
    usual = app.selectbox(key="test.shape").options[-1]
    app.selectbox(key="test.shape").set_value(usual)
    assert len(settled(app.run()).get("plotly_chart")) == 1


def test_phases_have_a_tab_where_there_are_any(folder: Path) -> None:
    with open_run(folder) as run:
        assert study_tabs.HAPPENINGS in study_tabs.available(run)
    app = opened(folder, study_tabs.HAPPENINGS)
    assert len(app.get("plotly_chart")) == 1 and "0 spikes" in said(app)


def test_only_tabs_that_apply_are_there_and_the_reason_is_said_for_the_others(folder: Path) -> None:
    with open_run(folder) as run:
        plain = run.experiment
    writer = RunWriter.resume(folder, plain)
    for arm in range(2):
        writer.reading(20, arm, "sharpness", NotApplicable("no second derivative"))
    writer.reading(20, 0, "gradient norms", NotApplicable("no gradient"))
    writer.reading(20, 1, "gradient norms", PerHead(columns={"all": np.ones((3, 1, 1))}, unit=""))
    writer.close()
    with open_run(folder) as run:
        names, missing = study_tabs.available(run), study_tabs.without(run)
    sharpness, norms = study_tabs._title("sharpness"), study_tabs._title("gradient norms")
    assert sharpness not in names and norms in names
    assert [line.replace("\\", "") for line in missing] == [f"{sharpness}: no second derivative"]


def test_no_tab_of_a_run_is_without_a_figure(folder: Path) -> None:
    with open_run(folder) as run:
        names = study_tabs.available(run)
    for name in names:
        assert len(opened(folder, name).get("plotly_chart")) == 1, name
