"""The list of runs as a person works with it: find, name, pin, delete, put back, compare."""

import json
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sandbox.runner import gallery, queue, trash
from sandbox.store import RunWriter, open_run, run_path
from sandbox.store.labels import Labels, read_labels
from sandbox.store.study import StudyPoint, new_study, write_study
from sandbox.ui import bring, gallery_card, gallery_table, session
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
    assert "Condition numbers κ(W): key" in said(app) and "condition numbers/key" not in said(app)


def test_the_table_names_the_arm_of_its_number_and_writes_settings_in_words(
    open_page: Open, three: list[str]
) -> None:
    plain = json.loads((run_path("first-test-run") / "experiment.json").read_text())
    fork = {"run": "third-test-run", "step": 1200, "stages": [], "values": []}
    RunWriter.create(run_path("forked-run"), plain | {"steps": 2000, "fork": fork}).close()
    app = open_page("gallery")
    app.session_state["gallery_view"] = "Table"
    table = settled(app.run()).dataframe[0].value
    row = table[table["Run"] == "first-test-run"].iloc[0]
    with open_run(run_path("first-test-run")) as run:
        last = {arm: run.group_curve("test_accuracy", arm)[1][-1].mean() for arm in run.arms}
    best = max(last, key=last.__getitem__)
    assert row["Of the arm"] == best
    assert row["Held-out accuracy, best arm"] == pytest.approx(100 * last[best], abs=0.05)
    forked = table[table["Run"] == "forked-run"].iloc[0]
    assert forked["Comes from"] == "fork of third-test-run at step 1,200"
    assert forked["Goes on from"] == "third-test-run at step 1,200" and forked["Steps"] == "2,000"
    assert not [name for name in table.columns if "fork" in name or "_" in name or "." in name]


def test_columns_of_numbers_stand_right() -> None:
    columns = {
        "Steps": ["2,000", "", "160"],
        "Rate": ["1e-3", "0.5"],
        "Task": ["160", "listops"],
        "Note": ["", ""],
    }
    assert gallery_table.numeric(columns) == ["Steps", "Rate"]


def test_a_card_says_what_its_run_comes_from(open_page: Open, three: list[str]) -> None:
    plain = json.loads((run_path("first-test-run") / "experiment.json").read_text())
    fork = {"run": "third-test-run", "step": 1200, "stages": [], "values": []}
    RunWriter.create(run_path("forked-run"), plain | {"fork": fork}).close()
    point = StudyPoint("first-test-run", {"model.d_model": 16, "steps": 100}, plain, {"flops": 1.0})
    write_study(new_study("how wide", "ann", "cpu", ("model.d_model",), (point,)))
    words = said(settled(open_page("gallery")))
    assert "Fork of third-test-run at step 1,200" in words
    told = next(line for line in words.splitlines() if line.startswith("How wide: "))
    assert told == "How wide: width d_model 16, steps 100"


def test_what_is_ticked_on_cards_is_ticked_in_the_table_and_back(open_page: Open, three: list[str]) -> None:
    app = settled(open_page("gallery"))
    app.checkbox(key="gallery.tick.first-test-run").check()
    app = settled(app.run())
    app.session_state["gallery_view"] = "Table"
    app = settled(app.run())
    ids = list(app.dataframe[0].value["Run"])
    rows = app.session_state[gallery_table.table_key(ids)]["selection"]["rows"]
    assert rows == [ids.index("first-test-run")]
    assert app.button(key="gallery.compare").label == "Compare 1 run"


def test_rows_ticked_in_the_table_are_the_ticked_runs_and_others_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held: dict[str, list[str]] = {gallery_card.CHOSEN: ["b", "elsewhere"]}
    monkeypatch.setattr(session, "held", held.get)
    monkeypatch.setattr(session, "hold", held.__setitem__)
    monkeypatch.setattr(session, "reported", lambda _: {"selection": {"rows": [0, 2]}})
    gallery_table._tick("any", ["a", "b", "c"])
    assert held[gallery_card.CHOSEN] == ["elsewhere", "a", "c"]


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
    assert "Note: said so" in [caption.value for caption in app.caption]
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
    assert "third-test-run lies in the trash below" in said(app)
    app.button(key="gallery.restore.third-test-run").click()
    assert len(names(settled(app.run()))) == 3


def test_only_its_owner_deletes_a_run(open_page: Open, three: list[str]) -> None:
    with queue.catalogue_connection() as connection:
        connection.execute("UPDATE runs SET owner = 'ann'")
    app = settled(open_page("gallery"))
    app.button(key="gallery.edit.third-test-run").click()
    app = settled(app.run())
    assert "It belongs to ann, who alone can delete it." in said(app)
    app.button(key="gallery.form.third-test-run.delete").click()
    app = settled(app.run())
    assert any("only its owner" in error.value for error in app.error) and len(names(app)) == 3


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
