"""Files that take seconds: made beside the page, cancelled, saved; and a run brought from a ZIP."""

import zipfile
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, expect

from sandbox.store import open_run, run_path
from tests.browser.conftest import Open
from tests.browser.serving import App, eventually

pytestmark = pytest.mark.e2e


def ask(page: Page, label: str) -> None:
    page.locator('.acs-live[data-step="160"]').wait_for()
    page.get_by_role("button", name="Download", exact=False).first.click()
    page.get_by_role("button", name=label).click()


def saved(page: Page, words: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name=words).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def exporting(app: App) -> list[psutil.Process]:
    """The processes that make files now."""
    return [p for p in app.ui().children() if "export" in p.cmdline()]


def test_a_film_and_a_replay_are_made_and_saved(
    app: App, finished: str, open_page: Open, tmp_path: Path
) -> None:
    page = open_page(f"{app.address}/run?run={finished}")
    ask(page, "Film (GIF)")
    expect(page.get_by_text("Making the film")).to_be_visible()
    expect(page.get_by_role("button", name="Film (GIF)")).to_be_hidden()  # no menu covers how far it is
    film = saved(page, "Save the film", tmp_path)
    assert film.read_bytes().startswith(b"GIF89a") and film.name == f"{finished}.gif"
    page.keyboard.press("Escape")
    ask(page, "Replay (HTML")
    replay = saved(page, "Save the replay", tmp_path)
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_role("button", name="Save the replay")).to_be_hidden()
    page.goto(replay.as_uri())
    expect(page.locator(".acs-viewing")).to_contain_text("viewing step")


def test_a_film_in_the_making_is_cancelled_with_its_process(app: App, finished: str, open_page: Open) -> None:
    page = open_page(f"{app.address}/run?run={finished}")
    ask(page, "Film (GIF)")
    eventually(lambda: exporting(app), 30, "the process that makes the film")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Making the film")).to_be_hidden()
    eventually(lambda: not exporting(app), 10, "its end")
    expect(page.get_by_role("button", name="Save the film")).to_be_hidden()


def test_a_saved_run_is_brought_back_beside_the_one_that_is_there(
    app: App, finished: str, open_page: Open, tmp_path: Path
) -> None:
    page = open_page(f"{app.address}/run?run={finished}")
    ask(page, "The whole run (ZIP")
    archive = saved(page, "Save the archive", tmp_path)
    assert f"{finished}/run.sqlite" in zipfile.ZipFile(archive).namelist()
    page.goto(f"{app.address}/run")
    page.get_by_text("Bring a run from a ZIP").click()
    page.locator('input[type="file"]').set_input_files(archive)
    expect(page.get_by_text("is here now")).to_be_visible()
    expect(page.locator(".acs-live")).to_have_attribute("data-step", "160")
    brought = page.url.split("run=")[1].split("&")[0]
    assert brought != finished
    with open_run(run_path(brought)) as run, open_run(run_path(finished)) as original:
        curves = [found.curve("loss", "standard", 0)[1].tolist() for found in (run, original)]
    assert curves[0] == curves[1]
    page.goto(f"{app.address}/run")
    page.get_by_text("Bring a run from a ZIP").click()
    (tmp_path / "bad.zip").write_bytes(archive.read_bytes()[:500])
    page.locator('input[type="file"]').set_input_files(tmp_path / "bad.zip")
    expect(page.get_by_text("bad.zip is no ZIP archive or is damaged")).to_be_visible()
