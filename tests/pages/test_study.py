"""Study: a sweep's points with states and results, cancel and resume; and what is said before a start."""

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sandbox.experiment.sweep import load_sweep
from sandbox.runner import queue, sweeping
from sandbox.runner.execution import Execution
from sandbox.store.study import Study, StudyPoint, new_study, point_id, write_study
from tests.pages.conftest import Open, said, settled
from tests.runner.small import tiny


@pytest.fixture
def study(runs_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Two widths, the first of them trained."""
    monkeypatch.setattr("sandbox.ui.sweep_page.ensure_supervisor", lambda: True)
    sweep = load_sweep(
        {"name": "Two *widths*", "experiment": tiny(steps=4), "grid": {"model.d_model": [4, 6]}}
    )
    points = []
    for point in sweep.points:
        plain = point.experiment.to_plain()
        points.append(StudyPoint(point_id("two-widths", plain), point.values, plain, {"flops": 1e6}))
    made = new_study(sweep.name, "ann", "cpu", sweep.keys, tuple(points))
    write_study(made)
    Execution(sweep.points[0].experiment, runs_folder / points[0].run).run()
    return made


def offered(app: AppTest) -> list[str]:
    return [button.label for button in app.button if str(button.key) in ("study.cancel", "study.resume")]


def opened(open_page: Open, study: Study) -> AppTest:
    return settled(open_page("study", study=study.id))


def test_a_study_lists_its_points_and_what_they_came_to(open_page: Open, study: Study) -> None:
    app = opened(open_page, study)
    words = said(app)
    assert app.title[0].value == r"Two \*widths\*" and "2 points over Architecture: width d_model" in words
    table = next(element.value for element in app.markdown if element.value.startswith("| Point"))
    lines = table.splitlines()
    assert len(lines) == 2 + 2 * 2 and len({line.count("|") for line in lines}) == 1
    assert lines[1].split("|")[1:-1] == ["--:", "--:", ":--", "--:", ":--"] + ["--:"] * 5  # numbers right
    assert "| 1 | 4 | Done | 4 of 4 | `standard` | 2 of 2 |" in table and "Not begun" in table
    assert len(app.get("plotly_chart")) == 1


def test_resume_queues_what_is_not_done_for_the_owner_and_cancel_takes_it_out(
    open_page: Open, study: Study
) -> None:
    app = opened(open_page, study)
    assert offered(app) == ["Resume 1 point"]
    app.button(key="study.resume").click()
    app = settled(app.run())
    assert offered(app) == ["Cancel 1 point"]
    (waiting,) = queue.states()
    assert (waiting.id, waiting.owner, waiting.state) == (study.points[1].run, "ann", "queued")
    app.button(key="study.cancel").click()
    settled(app.run())
    assert [one.state for one in sweeping.standings(study)] == ["done", "stopped"]


def test_a_finished_study_has_nothing_to_cancel_or_resume(
    open_page: Open, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [replace(one, state="done") for one in sweeping.standings(study)]
    monkeypatch.setattr(sweeping, "standings", lambda study: now)
    assert offered(opened(open_page, study)) == []


@pytest.mark.parametrize("name", ["none-such", "../x", ""])
def test_a_study_that_is_not_there_is_said_to_be_missing(open_page: Open, study: Study, name: str) -> None:
    app = settled(open_page("study", study=name))
    assert app.error and "Two" in str([link.proto.label for link in app.get("page_link")])


def test_home_and_the_list_of_runs_lead_to_it(open_page: Open, study: Study) -> None:
    for page in ("home", "gallery"):
        app = settled(open_page(page))
        assert "Two" in str([link.proto.label for link in app.get("page_link")]), page


def test_the_sandbox_says_how_long_before_anything_starts(open_page: Open) -> None:
    app = settled(open_page("sandbox"))
    assert "3 seeds × 4 arms × 1,500 steps: about" in said(app) and "here, a first guess" in said(app)


def test_an_owner_is_recorded_with_the_run(open_page: Open) -> None:
    app = settled(open_page("sandbox"))
    app.text_input(key="queue.owner").set_value("  ann  b ")
    app.toggle(key="queue.keeps_on").set_value(True)
    app = settled(app.run())
    app.button(key="sandbox.train").click()
    settled(app.run())
    assert [run.owner for run in queue.states()] == ["ann b"]
    with queue.catalogue_connection() as connection:
        keeps_on, flops = connection.execute("SELECT keeps_on, flops FROM runs").fetchone()
    assert keeps_on == 1 and flops > 1e6
