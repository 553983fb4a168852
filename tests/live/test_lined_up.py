"""Pictures beside each other line up, words that do not fit are told whole, axes have ticks."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.live.serving import served
from tests.live.synthetic import SyntheticRun
from tests.live.test_live_browser import at_step
from tests.live.watched_canvas import MODULES, calls, replayed, scripts, words

pytestmark = pytest.mark.e2e

UNFOLD = "document.querySelectorAll('.acs-unfold[aria-expanded=false]').forEach((button) => button.click())"
ROWS = """() => [...document.querySelectorAll('.acs-grid > .acs-panel')]
  .filter((panel) => panel.checkVisibility() && panel.dataset.kind).map((panel) => {
    const top = (name) => Math.round(panel.querySelector(name).getBoundingClientRect().top);
    return [panel.offsetTop, top('h3'), top('.acs-canvas'), top('.acs-foot')]; })"""
CUT = """() => [...document.querySelectorAll('.acs-foot')].filter((foot) => foot.checkVisibility())
  .filter((foot) => foot.scrollHeight > foot.clientHeight + 2 && !foot.title)
  .map((foot) => foot.textContent)"""
WHOLE = "(node) => node.scrollWidth <= node.clientWidth && node.scrollHeight <= node.clientHeight"
TICKS = f"""async (ranges) => {{
  const {{ LogScale }} = await import('{MODULES}scale.js');
  return ranges.map(([low, high, about]) => new LogScale(low, high, 0, 150).ticks(about)
    .filter(({{ label }}) => label).map(({{ value, label }}) => [value, label]));
}}"""
REASON = (
    "the step limit of 400 is reached, and a reason may be far longer than the room that a row has for it"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = SyntheticRun(tmp_path_factory.mktemp("lined") / "run", steps=400)
    run.grow(400)
    run.finish()
    return run.writer.path


@pytest.mark.parametrize("width", [1366, 1440])
def test_titles_pictures_and_feet_of_a_row_begin_at_one_height(
    folder: Path, browser: Browser, width: int
) -> None:
    with replayed(folder, browser, viewport={"width": width, "height": 768}) as page:
        page.evaluate(UNFOLD)
        page.wait_for_timeout(300)
        found = page.evaluate(ROWS)
        rows: dict[int, set[tuple[int, ...]]] = {}
        for top, *inside in found:
            rows.setdefault(top, set()).add(tuple(inside))
        assert len(found) > len(rows) + 8 and all(len(places) == 1 for places in rows.values()), rows
        assert any(inside[1] - inside[0] > 60 for places in rows.values() for inside in places)
        assert page.evaluate(CUT) == []


def test_an_axis_says_what_it_counts_and_has_labels(folder: Path, browser: Browser) -> None:
    with replayed(folder, browser) as page:
        assert "step" in words(page, "loss") and "step" in words(page, "accuracy")
        axis = page.locator('[data-kind="condition numbers"]')
        axis.scroll_into_view_if_needed()
        labels = [
            call["given"] for call in calls(page, "condition numbers", "fillText") if call["given"][1] == 40
        ]
        assert len(labels) >= 3, labels


def test_a_log_axis_has_at_least_two_labels_however_little_of_it_is_seen(browser: Browser) -> None:
    ranges = [
        [low * 10.0**power, low * 10.0**power * ratio, about]
        for low in (1, 1.9, 2.01, 4, 6, 9.5)
        for power in (-6, -1, 0, 1, 4)
        for ratio in (4, 9, 40, 95, 130, 2e3, 1e6, 1e12)
        for about in (2, 3.6, 4)
    ]
    with scripts(browser) as page:
        for (low, high, about), ticks in zip(ranges, page.evaluate(TICKS, ranges), strict=True):
            assert 2 <= len(ticks) <= 7, (low, high, about, ticks)
            assert all(0.99 * low <= value <= 1.01 * high for value, _ in ticks)
            assert len({label for _, label in ticks}) == len(ticks)


@pytest.mark.parametrize("width", [1366, 1440])
def test_why_a_run_ended_is_read_whole_in_the_heads_one_row_and_a_long_reason_below(
    runs_folder: Path, made_up: Callable[..., SyntheticRun], browser: Browser, width: int
) -> None:
    run = made_up(runs_folder / "run", steps=100_000)
    run.grow(400)
    run.writer.status("stopped", 400, 6.2, "stopped at step 99,400 of 100,000")
    run.writer.commit()
    with served(runs_folder) as address:
        page = browser.new_page(viewport={"width": width, "height": 768})
        page.goto(address)
        at_step(page, 400)
        reason, head = page.locator(".acs-reason"), page.locator(".acs-head")
        expect(reason).to_have_text("stopped at step 99,400 of 100,000")
        assert reason.evaluate(WHOLE) and head.evaluate("(head) => head.clientHeight") < 45
        for state in ("done", "failed"):
            run.writer.status(state, 400, 6.2, REASON)
            run.writer.commit()
            expect(page.locator(".acs-state")).to_have_text(state.capitalize())
            expect(reason).to_have_text(REASON)
            assert reason.evaluate(WHOLE)
        page.close()


@pytest.mark.parametrize("height", [500, 768])
def test_the_list_of_keys_fills_two_columns_and_lies_within_the_window(
    folder: Path, browser: Browser, height: int
) -> None:
    with replayed(folder, browser, viewport={"width": 1366, "height": height}) as page:
        page.get_by_label("List of keys").click()
        keys = page.locator(".acs-help")
        box = keys.bounding_box()
        assert box is not None and box["y"] >= 0 and box["y"] + box["height"] <= height
        scrolls = keys.evaluate(
            "(keys) => [keys.scrollHeight - keys.clientHeight, getComputedStyle(keys).overflowY]"
        )
        assert scrolls[0] == 0 if height == 768 else scrolls[1] == "auto", scrolls
        places = keys.locator("section").evaluate_all("(all) => all.map((one) => one.offsetLeft)")
        assert places[0] == places[1] < places[2], places
