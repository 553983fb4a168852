"""One plane for the whole run: what is wider than two does not turn with step, seed or arm (C18)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from playwright.sync_api import Browser, Page

from sandbox.foundations.readings import SmallModel
from sandbox.live.feed import Feed
from sandbox.live.planes import Plane, planes_of, principal_plane
from sandbox.live.scales import Scales
from sandbox.live.visual_layers import look
from tests.live.synthetic import SyntheticRun
from tests.live.watched_canvas import calls, replayed

KIND, WIDTH, STEPS = "visual weights", 3, 200
SHAPES = ((2, WIDTH), (12, WIDTH), (WIDTH,), (WIDTH, WIDTH), (8, WIDTH), (8,), (WIDTH, 8), (WIDTH,))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of a visual model of width 3, whose seeds and steps differ in every weight."""
    run = SyntheticRun(tmp_path_factory.mktemp("wide") / "run", arms=2, seeds=2, steps=STEPS, visual=True)
    narrow, random = run.visual_weights, np.random.default_rng(11)
    size = sum(int(np.prod(shape)) for shape in SHAPES)
    ends = random.normal(size=(2, 2, size))

    def wide(done: float) -> SmallModel:
        part = min(1.0, 20 * done)
        values = ((1 - part) * ends[0] + part * ends[1]).astype(np.float16)
        return replace(narrow(done), values=values, shapes=SHAPES)

    run.visual_weights = wide  # type: ignore[method-assign]
    run.grow(STEPS)
    run.finish()
    return run.writer.path


@pytest.fixture(scope="module")
def feed(folder: Path) -> Feed:
    found = Feed("run", folder)
    found.refresh()
    return found


@given(hnp.arrays(np.float64, (9, 4), elements=st.floats(-9, 9)))
def test_a_plane_has_two_orthonormal_axes_and_never_flips(points: np.ndarray) -> None:
    plane = principal_plane(points, 0)
    again = principal_plane(points[::-1], 0)
    np.testing.assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-9)
    if np.linalg.svd(points - points.mean(axis=0))[1][:3].min() > 1e-3:
        gaps = np.diff(np.linalg.svd(points - points.mean(axis=0))[1])
        if (np.abs(gaps[:2]) > 1e-2).all():
            np.testing.assert_allclose(np.abs(plane.axes), np.abs(again.axes), atol=1e-6)
    assert (np.abs(plane.axes).max(axis=1) == plane.axes.max(axis=1)).all()


def test_the_plane_is_told_with_the_scales_and_is_that_of_the_first_step(feed: Feed) -> None:
    meta = feed.readings()[KIND][0]
    told = Scales(feed).look([KIND])[KIND]["planes"]
    assert set(told) == {"E+P", "z", "values", "xi", "nxi", "h"}
    for name, plane in planes_of(feed, KIND, 0, meta).items():
        np.testing.assert_allclose(told[name]["axes"], plane.axes, atol=1e-6)
        assert told[name]["step"] == 0


def drawn(page: Page, kind: str) -> np.ndarray:
    """Where a panel's round points stand, in pixels."""
    return np.array([call["given"][:2] for call in calls(page, kind, "arc")])


def expected(page: Page, feed: Feed, plane: Plane, arm: int, seed: int, step: int) -> np.ndarray:
    """Where the points outside the prefix belong in the picture of E + P, by NumPy."""
    ((_, values),) = feed.frames(arm, KIND, "values", [step])
    sums = look(values.astype(np.float64), feed.readings()[KIND][arm]).points["E+P"][seed]
    round_ones = sums.reshape(2, 12, WIDTH)[:, 5:].swapaxes(0, 1).reshape(-1, WIDTH)
    scale = Scales(feed).look([KIND])[KIND]["E+P"]
    box = page.locator('[data-kind="E + P"] canvas').bounding_box()
    assert box is not None
    size = max(20.0, min(box["width"] - 40, box["height"] - 24))
    left = 34 + (box["width"] - 40 - size) / 2
    x, y = ((plane.place(round_ones) - scale["centre"]) / (2 * scale["half"])).T
    return np.stack([left + size * (x + 0.5), 4 + size * (0.5 - y)], axis=1)


@pytest.fixture(scope="module")
def page(folder: Path, browser: Browser) -> Iterator[Page]:
    with replayed(folder, browser, viewport={"width": 1440, "height": 2600}) as opened:
        opened.evaluate(
            "document.querySelectorAll('.acs-unfold[aria-expanded=false]').forEach((b) => b.click())"
        )
        opened.wait_for_timeout(500)
        yield opened


@pytest.mark.e2e
@pytest.mark.parametrize("step", [0, 100, STEPS])
@pytest.mark.parametrize(("arm", "seed"), [(0, 0), (0, 1), (1, 0)])
def test_points_stand_where_the_runs_one_plane_puts_them(
    page: Page, feed: Feed, arm: int, seed: int, step: int
) -> None:
    plane = planes_of(feed, KIND, 0, feed.readings()[KIND][0])["E+P"]
    page.locator(".acs-arm").nth(arm).click()
    page.get_by_role("radiogroup", name="Seed").get_by_role("radio").nth(seed).click()
    page.get_by_label("Go to step").fill(str(step))
    page.get_by_label("Go to step").press("Enter")
    page.wait_for_timeout(400)
    found = drawn(page, "E + P")
    np.testing.assert_allclose(found, expected(page, feed, plane, arm, seed, step), atol=0.6)


def test_a_model_of_two_dimensions_has_no_plane(
    tmp_path: Path, made_up: Callable[..., SyntheticRun], feed_of: Callable[..., Feed]
) -> None:
    made_up(tmp_path / "run", visual=True, arms=1).grow(40)
    feed = feed_of(tmp_path / "run")
    feed.refresh()
    assert "planes" not in Scales(feed).look([KIND])[KIND]
