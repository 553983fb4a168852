"""The list of runs and the comparison, as a person in a browser works with them."""

import csv
import re

import pytest
from playwright.sync_api import Page, expect

from sandbox.runner import gallery, queue
from sandbox.store import run_path
from sandbox.store.labels import Labels, read_labels, write_labels
from tests.browser.conftest import Open
from tests.browser.serving import App
from tests.browser.test_pages import OVERFLOW
from tests.browser.watching import Watched, settled

pytestmark = pytest.mark.e2e


def name_of(run_id: str) -> str:
    """What the run is called."""
    return gallery.entry_of(run_id).name


def listed(open_page: Open, address: str, run_id: str) -> Page:
    """The list of runs with this one on it, however many are newer."""
    page = open_page(address)
    page.get_by_label("Search").fill(name_of(run_id))
    page.keyboard.press("Enter")
    expect(page.locator(f".st-key-gallery-card-{run_id}")).to_be_visible()
    settled(page)  # for a moment a list that was filtered has its cards twice
    return page


def test_a_name_in_the_list_opens_its_run(app: App, finished: str, open_page: Open) -> None:
    page = listed(open_page, f"{app.address}/run", finished)  # an address without a run is the list
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    link = page.locator(f'a[href="run?run={finished}"]')
    expect(link).to_be_visible()
    assert page.locator('[data-testid="stImage"] img').first.get_attribute("alt")
    link.click()
    page.wait_for_url(f"**/run?run={finished}")
    expect(Watched(page).state).to_have_text("Done")
    page.go_back()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()


def test_a_run_is_tagged_found_deleted_and_put_back(app: App, finished: str, open_page: Open) -> None:
    before = read_labels(run_path(finished))
    page = listed(open_page, f"{app.address}/gallery", finished)
    own = page.locator(f".st-key-gallery-card-{finished}")
    own.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Tags, separated by commas").fill("kept, *bold*")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(own.get_by_text("*bold*")).to_be_visible()  # taken as it was written
    page.get_by_label("Search").fill("nothing has these words")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No run fits these filters.")).to_be_visible()
    page.get_by_label("Search").fill("*BOLD*")
    page.keyboard.press("Enter")
    expect(own).to_be_visible()
    own.get_by_role("button", name="Edit").click()
    dialog.get_by_role("button", name="Delete this run").click()
    expect(own).to_have_count(0)
    assert queue.state(finished) is None
    page.get_by_text(re.compile("^Trash")).click()
    page.get_by_role("button", name="Put back").click()
    expect(own).to_be_visible()
    assert app.queued(finished).state == "done"
    assert read_labels(run_path(finished)) == Labels(name=name_of(finished), tags=("kept", "*bold*"))
    write_labels(run_path(finished), before)


def test_nothing_of_the_list_scrolls_sideways(app: App, finished: str, open_page: Open) -> None:
    page = listed(open_page, f"{app.address}/gallery", finished)
    for width in (1366, 1100):
        page.set_viewport_size({"width": width, "height": 768})
        page.wait_for_timeout(400)
        assert max(page.evaluate(OVERFLOW)) <= 0, width


def test_arms_are_compared_and_the_address_restores_what_is_shown(
    app: App, finished: str, open_page: Open
) -> None:
    page = listed(open_page, f"{app.address}/gallery", finished)
    page.locator(f".st-key-gallery-card-{finished} [data-testid=stCheckbox] label").click()
    page.get_by_role("button", name="Compare 1 run").click()
    expect(page.locator(".js-plotly-plot")).to_be_visible()
    expect(page.get_by_text(re.compile("At step 160, held-out accuracy, mean over seeds"))).to_be_visible()
    page.get_by_role("radio", name="Difference").click()
    expect(page.get_by_text(re.compile("percentile bootstrap of the paired mean"))).to_be_visible()
    assert max(page.evaluate(OVERFLOW)) <= 0
    page.wait_for_url("**show=difference**")
    again = open_page(page.url)
    expect(again.get_by_text(re.compile("percentile bootstrap of the paired mean"))).to_be_visible()
    with again.expect_download() as drawn:
        again.get_by_role("button", name="CSV of what is drawn").click()
    rows = list(csv.DictReader(drawn.value.path().read_text().splitlines()))
    assert {row["trace"] for row in rows} >= {"spectral:shift=0.5, seed 0", "spectral:shift=0.5, seed 1"}
    assert again.locator('[data-testid="stException"]').count() == 0
