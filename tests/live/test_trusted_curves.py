"""Curves one can trust: nothing that was measured vanishes, is replaced, or is smoothed unseen (C1 to C8)."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from sandbox.foundations.readings import Answer, PerHead
from sandbox.mathematics.smoothing import moving_mean
from tests.live.synthetic import SyntheticRun
from tests.live.watched_canvas import MODULES, calls, replayed, scripts, strokes, words

pytestmark = pytest.mark.e2e

NAN_AT, STEPS = 220, 400
CONDITION = "condition numbers"
SAYS = """(word) => document.querySelector('[data-kind=loss] canvas').calls.some(
  ({ name, given }) => name === 'fillText' && given[0] === word)"""
SMOOTHED = """([row, reach]) => [
  ...window.smooth.mean(Float32Array.from(row.map((v) => v ?? NaN)), row.length, reach),
].map((v) => Number.isNaN(v) ? null : v)"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Page]:
    """A run in which a seed diverges, and in which condition numbers are 0, negative and infinite."""
    run = SyntheticRun(tmp_path_factory.mktemp("odd") / "run", steps=STEPS, nan_at=NAN_AT)
    record = run.writer.reading

    def odd(step: int, arm: int, kind: str, reading: Answer) -> None:
        if kind == CONDITION and arm == 1 and isinstance(reading, PerHead):
            for at, value in ((100, 0.0), (120, -3.0), (140, np.inf)):
                if step == at:
                    reading.columns["query"][0] = value
        record(step, arm, kind, reading)

    run.writer.reading = odd  # type: ignore[method-assign]
    run.grow(STEPS)
    run.finish()
    with replayed(run.writer.path, browser) as opened:
        yield opened


def test_nan_is_a_cross_with_its_step_a_count_and_a_badge(page: Page) -> None:
    said = words(page, "loss")
    assert f"NaN at step {NAN_AT}" in said
    rows = (STEPS - NAN_AT) // 20 + 1  # held-out values of the seed that diverged
    assert f"{rows} points NaN" in said
    expect(page.locator('[data-kind="loss"] .acs-badge')).to_have_text(
        f"NaN at step {NAN_AT}: standard, seed 2"
    )
    expect(page.locator(".acs-arm").first).to_contain_text("1 NaN")


def test_a_mean_of_fewer_seeds_is_dotted_from_where_one_was_lost(page: Page) -> None:
    lost = [call for call in calls(page, "loss", "lineTo") if call["dash"] == "1.5,3"]
    held = [call for call in calls(page, "loss", "lineTo") if call["dash"] == "" and call["width"] > 2]
    assert lost and held
    assert min(call["given"][0] for call in lost) >= min(call["given"][0] for call in held)
    assert not [call for call in calls(page, "accuracy", "lineTo") if call["dash"] == "1.5,3"]


def test_a_log_axis_puts_what_it_cannot_hold_on_rails_and_breaks_the_line(page: Page) -> None:
    said = words(page, CONDITION)
    assert "2 points ≤ 0, 1 point at ∞" in said and "≤ 0" in said and "∞" in said
    marks = [call["given"][:3] for call in calls(page, CONDITION, "arc") if call["given"][2] == 2.6]
    low, high = max(y for _, y, _ in marks), min(y for _, y, _ in marks)
    assert sorted(y == low for _, y, _ in marks) == [False, True, True] and high < low - 50
    drawn = [call["given"] for call in calls(page, CONDITION, "lineTo") if call["width"] == 0.8]
    marked = {round(x) for x, _, _ in marks}
    seed = [x for x, y in drawn if y < low - 7]
    assert marked & {round(x) for x, _ in drawn}  # the other seeds are there
    assert all(y <= low - 7 for _, y in drawn) and seed


def test_chance_and_majority_are_drawn_and_named(page: Page) -> None:
    assert "chance (ln 2)" in words(page, "loss")
    # Every curve of the accuracy begins and stays at chance: on the picture the names would meet them.
    written = {part for word in words(page, "accuracy") for part in word.split(" · ")}
    assert not written & {"majority class", "chance"}
    panel = page.locator('[data-kind="accuracy"]')
    expect(panel.locator(".acs-foot")).to_contain_text("dotted across: chance · majority class")
    for name, level in (("chance", "0.500"), ("majority class", "0.513")):
        expect(panel.locator("table")).to_contain_text(f"{name}{level}reference line")


def test_labels_of_levels_overprint_neither_one_another_nor_the_axis(page: Page) -> None:
    kind = "loss"  # the accuracy's names have no room here
    said = [call["given"] for call in calls(page, kind, "fillText")]
    labels = [g for g in said if any(name in str(g[0]) for name in ("chance", "majority"))]
    box = page.locator(f'[data-kind="{kind}"] canvas').bounding_box()
    assert labels and box is not None
    boxes = [(x, x + 5 * len(text), y - 6, y + 6) for text, x, y in labels]
    assert all(left >= 46 and right <= box["width"] + 20 for left, right, _, _ in boxes)
    for a, b in itertools.combinations(boxes, 2):
        assert a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]


def test_smoothing_is_off_at_first_named_when_on_and_never_touches_accuracy_or_brackets(page: Page) -> None:
    loss = page.locator('[data-kind="loss"]')
    foot, smooth = loss.locator(".acs-foot"), loss.get_by_role("button", name="smooth")
    expect(smooth).to_have_attribute("aria-pressed", "false")
    before = [stroke["places"] for stroke in strokes(page, "loss") if stroke["width"] > 2]
    table = loss.locator("table").text_content()
    smooth.click()
    expect(foot).to_contain_text("smoothed: mean of 5 points, raw behind")
    smooth.click()
    expect(foot).to_contain_text("smoothed: mean of 17 points, raw behind")
    after = strokes(page, "loss")
    assert [stroke["places"] for stroke in after if stroke["width"] > 2] != before
    raw = [place for s in after if (s["width"], s["alpha"]) == (1, 0.4) for place in s["places"]]
    assert raw and all(place in raw for line in before for place in line)
    assert loss.locator("table").text_content() == table
    smooth.click()
    expect(foot).not_to_contain_text("smoothed")
    for kind in ("accuracy", "theta"):
        assert page.locator(f'[data-kind="{kind}"]').get_by_role("button", name="smooth").count() == 0


def test_a_log_axis_is_a_choice_of_each_chart_but_of_accuracies(page: Page) -> None:
    loss = page.locator('[data-kind="loss"]')
    log = loss.get_by_role("button", name="log")
    assert "1" not in words(page, "loss")
    log.click()
    page.wait_for_function(SAYS, arg="1")  # a power of ten, above all that was measured
    log.click()
    expect(page.locator(f'[data-kind="{CONDITION}"]').get_by_role("button", name="log")).to_have_attribute(
        "aria-pressed", "true"
    )
    assert page.locator('[data-kind="accuracy"]').get_by_role("button", name="log").count() == 0


@pytest.mark.parametrize(("x", "y"), [(0.12, 0.15), (0.97, 0.15), (0.97, 0.85), (0.5, 0.5)])
def test_a_tip_names_the_step_and_five_rows_and_stays_inside_its_panel(
    page: Page, x: float, y: float
) -> None:
    panel = page.locator('[data-kind="loss"]')
    panel.scroll_into_view_if_needed()
    box = panel.locator("canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
    tip = panel.locator(".acs-tip")
    expect(tip.locator(".acs-tip-row")).to_have_count(5)
    expect(tip).to_contain_text("3 more")
    expect(tip.locator(".acs-tip-step")).to_contain_text("step ")
    shown, frame = tip.bounding_box(), panel.bounding_box()
    assert shown is not None and frame is not None
    assert frame["x"] <= shown["x"] and shown["x"] + shown["width"] <= frame["x"] + frame["width"]
    assert frame["y"] <= shown["y"] and shown["y"] + shown["height"] <= frame["y"] + frame["height"]


def test_a_spike_of_one_step_in_fifty_thousand_is_seen_and_the_thinning_said(
    tmp_path: Path, made_up: Callable[..., SyntheticRun], browser: Browser
) -> None:
    long = {"evaluate_every": 25_000, "read_every": 25_000, "steps": 50_000}
    run = made_up(tmp_path / "run", arms=1, seeds=2, **long)
    plain = run.loss

    def spiked(arm: int, steps: np.ndarray, seed: int, rows: str = "train") -> np.ndarray:
        return plain(arm, steps, seed, rows) + 40.0 * ((steps == 31_415) & (seed == 1))

    run.loss = spiked  # type: ignore[method-assign]
    run.grow(50_000)
    run.finish()
    with replayed(tmp_path / "run", browser) as page:
        panel = page.locator('[data-kind="loss"]')
        panel.get_by_role("button", name="every step").click()
        expect(panel.locator(".acs-foot")).to_contain_text("50,001 rows shown as")
        box = panel.locator("canvas").bounding_box()
        assert box is not None
        drawn = [call["given"] for call in calls(page, "loss", "lineTo") if call["width"] == 0.8]
        ordinary = float(np.median([y for _, y in drawn]))
        spike = min(drawn, key=lambda place: place[1])
        assert ordinary - spike[1] > 0.6 * box["height"]
        assert spike[0] == pytest.approx(46 + (box["width"] - 56) * 31_415 / 50_000, abs=2)


def test_smoothing_in_the_browser_is_that_of_the_figures(browser: Browser) -> None:
    random = np.random.default_rng(3)
    values = random.normal(size=60).astype(np.float32).astype(float)
    values[[7, 8, 30, 59]] = np.nan
    constant = np.full(40, 1e-7, dtype=np.float32).astype(float)
    with scripts(browser) as page:
        page.evaluate(f"async () => {{ window.smooth = await import('{MODULES}smooth.js'); }}")
        for row in (values, constant, np.array([np.nan]), np.zeros(0)):
            for reach in (1, 2, 8):
                found = page.evaluate(
                    SMOOTHED,
                    [[None if np.isnan(v) else v for v in row], reach],
                )
                np.testing.assert_allclose(
                    np.array([np.nan if v is None else v for v in found]), moving_mean(row, reach), rtol=1e-6
                )
    np.testing.assert_array_equal(moving_mean(constant, 8), constant)
