"""One selection for all pictures: hovering marks, a click pins, Esc lets go, and keys do what buttons do."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from sandbox.foundations.readings import Answer, Trajectory
from tests.live.synthetic import SyntheticRun
from tests.live.watched_canvas import calls, replayed, strokes, words

pytestmark = pytest.mark.e2e

TOKENS, PLACE = 12, 3
UNFOLD = "document.querySelectorAll('.acs-unfold[aria-expanded=false]').forEach((button) => button.click())"
PICTURE = "document.querySelector('[data-kind=\"attention map\"] canvas').toDataURL()"
KEYS = [("s", "Seed", "1"), ("y", "Layer", "2"), ("h", "Head", "2"), ("a", "Arm", "spectral")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A visual model whose token points are named as a trainer names them."""
    run = SyntheticRun(tmp_path_factory.mktemp("linked") / "run", steps=400, visual=True, heads=2, layers=2)
    record = run.writer.reading

    def named(step: int, arm: int, kind: str, reading: Answer) -> None:
        if kind == "token trajectories" and isinstance(reading, Trajectory):
            labels = tuple(f"{i % 2} @ {i // 2 + 1}" for i in range(len(reading.labels)))
            reading = Trajectory(
                points=reading.points, labels=labels, groups=reading.groups,
                explained_variance=reading.explained_variance,
            )  # fmt: skip
        record(step, arm, kind, reading)

    run.writer.reading = named  # type: ignore[method-assign]
    run.grow(400)
    run.finish()
    return run.writer.path


@pytest.fixture
def page(folder: Path, browser: Browser) -> Iterator[Page]:
    with replayed(folder, browser, viewport={"width": 1440, "height": 2600}) as opened:
        opened.evaluate(
            "document.querySelectorAll('.acs-unfold[aria-expanded=false]').forEach((b) => b.click())"
        )
        opened.get_by_role("button", name="tokens").click()
        opened.wait_for_timeout(400)
        yield opened


def accents(page: Page, kind: str) -> int:
    """Frames of 1.5 pixels around a place of the sequence."""
    return len([call for call in calls(page, kind, "strokeRect") if call["width"] == 1.5])


def over_the_map(page: Page) -> tuple[float, float]:
    """A point over the column of keys at PLACE."""
    (frame,) = [c["given"] for c in calls(page, "attention map", "strokeRect") if c["width"] == 1][:1]
    box = page.locator('[data-kind="attention map"] canvas').bounding_box()
    assert box is not None
    return box["x"] + frame[0] + frame[2] * (PLACE + 0.5) / TOKENS, box["y"] + frame[1] + frame[3] / 2


def faded(page: Page, kind: str) -> int:
    """Points that are drawn pale because others are marked."""
    return len([call for call in calls(page, kind, "fill") if call["alpha"] in (0.25, 0.35)])


def test_a_token_of_the_map_is_marked_in_every_picture_pinned_by_a_click_and_let_go_by_esc(
    page: Page,
) -> None:
    page.mouse.move(*over_the_map(page))
    page.wait_for_timeout(200)
    assert accents(page, "attention map") == 2  # its column of keys, its row of queries
    assert accents(page, "attention rows") == 1
    assert faded(page, "trajectories") == 2 * TOKENS - 2
    page.mouse.click(*over_the_map(page))
    page.mouse.move(5, 5)
    page.wait_for_timeout(200)
    assert accents(page, "attention rows") == 1 and faded(page, "trajectories") == 2 * TOKENS - 2
    assert faded(page, "E + P") == 2 * TOKENS - 2
    page.keyboard.press("Escape")
    page.wait_for_timeout(200)
    assert accents(page, "attention rows") == 0 and faded(page, "trajectories") == 0


def test_a_step_clicked_on_a_curve_is_shown_everywhere_and_by_the_keyboard_too(page: Page) -> None:
    loss = page.locator('[data-kind="loss"] canvas')
    loss.scroll_into_view_if_needed()
    box = loss.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 46 + (box["width"] - 56) / 2, box["y"] + 60)
    expect(page.locator(".acs-viewing")).to_have_text("viewing step 200")
    expect(page.locator('[data-kind="attention map"] .acs-foot')).to_contain_text("step 200")
    loss.dblclick(position={"x": 100, "y": 60})
    page.wait_for_timeout(400)
    expect(page.locator(".acs-viewing")).to_have_text("viewing step 200")
    loss.focus()
    page.mouse.move(5, 5)
    loss.press("Home")
    loss.press("Enter")
    expect(page.locator(".acs-viewing")).to_have_text("viewing step 0")


@pytest.mark.parametrize(("key", "group", "name"), KEYS)
def test_a_key_chooses_the_next_and_the_pictures_follow(page: Page, key: str, group: str, name: str) -> None:
    before = page.evaluate(PICTURE)
    page.locator(".acs-live").get_by_role("slider").focus()
    page.keyboard.press(key)
    chosen = page.get_by_role("radiogroup", name=group).locator('[aria-checked="true"]')
    expect(chosen).to_have_count(1)
    expect(chosen).to_contain_text(name)
    page.wait_for_timeout(300)
    assert (page.evaluate(PICTURE) != before) == (key == "a")  # here seeds and heads have equal maps


def test_every_panel_has_a_text_alternative_with_numbers(page: Page) -> None:
    silent = []
    for panel in page.locator(".acs-panel[data-kind]").all():
        panel.scroll_into_view_if_needed()
        page.wait_for_timeout(250)
        kind = panel.get_attribute("data-kind") or ""
        if panel.locator(".acs-silence").is_visible():
            continue
        canvas = panel.locator("canvas").first
        table = page.locator(f"#{canvas.get_attribute('aria-describedby')}")
        expect(table).to_contain_text("latest values")
        if not any(word[0].isdigit() for word in (table.inner_text().split() or [" "])):
            silent.append(kind)
    assert silent == []


def test_the_colour_bar_and_its_ends_stand_beside_the_map_and_do_not_move_with_the_step(page: Page) -> None:
    ends = {"0", "1"}
    for step in ("0", "400"):
        page.get_by_label("Go to step").fill(step)
        page.get_by_label("Go to step").press("Enter")
        page.wait_for_timeout(200)
        assert ends <= {*words(page, "attention map")}
    page.get_by_role("button", name="0 to max").click()
    page.wait_for_timeout(200)
    assert len([word for word in words(page, "attention map") if word.startswith("0.")]) == 1


def test_axes_of_pictures_stay_where_they_are_whatever_arm_seed_or_step_is_chosen(page: Page) -> None:
    def ticks(kind: str) -> list[str]:
        return [
            c["given"]
            for c in calls(page, kind, "fillText")
            if str(c["given"][0]).strip("−.0123456789") == ""
        ]

    before = {kind: ticks(kind) for kind in ("E + P", "sequence embeddings", "condition numbers")}
    page.keyboard.press("a")
    page.keyboard.press("s")
    page.get_by_label("Go to step").fill("40")
    page.get_by_label("Go to step").press("Enter")
    page.wait_for_timeout(400)
    for kind, words_ in before.items():
        assert ticks(kind) == words_ != [], kind


def test_masked_cells_are_hatched(
    tmp_path: Path, made_up: Callable[..., SyntheticRun], browser: Browser
) -> None:
    run = made_up(tmp_path / "run", arms=1, steps=40)
    record = run.writer.reading

    def causal(step: int, arm: int, kind: str, reading: Answer) -> None:
        if kind == "attention map":
            reading.mask[0, 1:] = False  # type: ignore[union-attr]
        record(step, arm, kind, reading)

    run.writer.reading = causal  # type: ignore[method-assign]
    run.grow(40)
    run.finish()
    with replayed(tmp_path / "run", browser) as page:
        assert max(len(stroke["places"]) for stroke in strokes(page, "attention map")) == TOKENS - 1
