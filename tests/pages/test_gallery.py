"""The list of runs as a person works with it: find, name, pin, delete, put back, compare."""

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sandbox.runner import gallery, queue, trash
from sandbox.store import run_path
from sandbox.store.labels import Labels, read_labels
from sandbox.ui import bring, gallery_card
from tests.pages.conftest import Open, record, said, settled


@pytest.fixture
def three(runs_folder: Path) -> list[str]:
    ids = ["first-test-run", "second-test-run", "third-test-run"]
    for run_id in ids:
        record(runs_folder, run_id, nan_at=80 if run_id == "second-test-run" else None)
        with queue.catalogue_connection() as connection:
            connection.execute("UPDATE runs SET name = id")
    return ids


def names(app: AppTest) -> list[str]:
    """The ids of the cards on the page, in their order."""
    keys = [box.key or "" for box in app.checkbox]
    return [key.removeprefix("gallery.tick.") for key in keys if key.startswith("gallery.tick.")]


def test_every_run_has_a_card_with_its_picture_state_and_numbers(open_page: Open, three: list[str]) -> None:
    app = settled(open_page("gallery"))
    assert names(app) == three[::-1]
    assert "4 arms, 3 seeds, 100 steps" in said(app)
    assert "Held-out accuracy" in said(app)
    assert len(app.get("image")) == 3
    badges = " ".join(str(element.value) for element in app.markdown)
    assert "Done" in badges
    assert "4 seeds diverged" in badges or "1 seed diverged" in badges


def test_filters_by_text_outcome_and_arm_and_sorts_by_a_metric(open_page: Open, three: list[str]) -> None:
    app = settled(open_page("gallery"))
    app.text_input(key="gallery_text").set_value("SECOND")
    assert names(settled(app.run())) == ["second-test-run"]
    assert "1 of 3 runs" in said(app)
    app.text_input(key="gallery_text").set_value("")
    app.multiselect(key="gallery_state").set_value(["a seed diverged"])
    assert names(settled(app.run())) == ["second-test-run"]
    app.multiselect(key="gallery_state").set_value([])
    app.selectbox(key="gallery_sort").set_value("condition numbers/key")
    assert sorted(names(settled(app.run()))) == sorted(three)
    assert "condition numbers/key" in said(app)


def test_a_run_is_renamed_tagged_noted_and_pinned(open_page: Open, three: list[str]) -> None:
    app = settled(open_page("gallery"))
    app.button(key="gallery.pin.first-test-run").click()
    app = settled(app.run())
    assert names(app)[0] == "first-test-run"
    app.button(key="gallery.edit.first-test-run").click()
    app = settled(app.run())
    form = "gallery.form.first-test-run"
    app.text_input(key=f"{form}.name").set_value("the *good* one")
    app.text_input(key=f"{form}.tags").set_value("kept, best , kept")
    app.text_area(key=f"{form}.note").set_value("said so")
    app.button(key=f"{form}.save").click()
    app = settled(app.run())
    expected = Labels(name="the *good* one", tags=("kept", "best"), note="said so", pinned=True)
    assert read_labels(run_path("first-test-run")) == expected
    assert app.session_state["session.held"].get(gallery_card.EDITED) is None
    app.text_input(key="gallery_text").set_value("good")
    assert names(settled(app.run())) == ["first-test-run"]


def test_a_tag_that_is_none_is_told_and_nothing_is_written(open_page: Open, three: list[str]) -> None:
    app = settled(open_page("gallery"))
    app.button(key="gallery.edit.first-test-run").click()
    app = settled(app.run())
    app.text_input(key="gallery.form.first-test-run.tags").set_value("x" * 40)
    app.button(key="gallery.form.first-test-run.save").click()
    app = settled(app.run())
    assert any("tag" in error.value.lower() for error in app.error)
    assert read_labels(run_path("first-test-run")) == Labels()


def test_a_deleted_run_can_be_put_back(open_page: Open, three: list[str]) -> None:
    app = settled(open_page("gallery"))
    app.button(key="gallery.edit.third-test-run").click()
    app = settled(app.run())
    app.button(key="gallery.form.third-test-run.delete").click()
    app = settled(app.run())
    assert names(app) == ["second-test-run", "first-test-run"]
    assert [run.id for run in trash.deleted()] == ["third-test-run"]
    app.button(key="gallery.restore.third-test-run").click()
    assert len(names(settled(app.run()))) == 3


def test_a_running_run_cannot_be_deleted(open_page: Open, three: list[str]) -> None:
    with queue.catalogue_connection() as connection:
        connection.execute("UPDATE runs SET state = 'running'")
    app = settled(open_page("gallery"))
    app.button(key="gallery.edit.third-test-run").click()
    app = settled(app.run())
    assert app.button(key="gallery.form.third-test-run.delete").disabled


def test_ticked_runs_go_to_the_comparison(open_page: Open, three: list[str]) -> None:
    app = settled(open_page("gallery"))
    app.checkbox(key="gallery.tick.first-test-run").check()
    app.checkbox(key="gallery.tick.third-test-run").check()
    app = settled(app.run())
    app.button(key="gallery.compare").click()
    app = settled(app.run())
    assert app.title[0].value == "Compare"
    assert set(app.multiselect(key="compare.runs").value) == {"first-test-run", "third-test-run"}


def test_a_damaged_folder_is_one_card_that_names_the_file(open_page: Open, three: list[str]) -> None:
    (run_path("second-test-run") / "run.sqlite").write_bytes(b"not what it was" * 100)
    app = settled(open_page("gallery"))
    assert len(names(app)) == 3
    assert "run.sqlite" in said(app)


def test_hundreds_of_runs_are_paged(open_page: Open, runs_folder: Path) -> None:
    record(runs_folder, "run-000")
    for number in range(1, 30):
        shutil.copytree(runs_folder / "run-000", runs_folder / f"run-{number:03d}")
    while gallery.entries(5.0)[1]:
        continue
    app = settled(open_page("gallery"))
    assert len(names(app)) == 12
    assert "30 runs" in said(app)
    app.session_state["gallery_view"] = "Table"
    app = settled(app.run())
    assert len(app.dataframe[0].value) == 30


def test_the_page_of_runs_without_a_run_is_the_list(open_page: Open, three: list[str]) -> None:
    app = settled(open_page("run"))
    assert app.title[0].value == "Runs"
    assert len(names(app)) == 3


def test_a_run_that_was_brought_is_opened(open_page: Open, three: list[str]) -> None:
    app = open_page("gallery")
    app.session_state["session.held"] = {bring.BROUGHT: "first-test-run"}
    app = settled(app.run())
    assert "first-test-run" in app.subheader[0].value.replace("\\", "")


def test_without_runs_the_page_says_how_to_begin(open_page: Open) -> None:
    assert "no run on this server" in said(settled(open_page("gallery")))
