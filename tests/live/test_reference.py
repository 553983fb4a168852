"""What is drawn still looks like the reference pictures that somebody has looked at."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from tests.live.reference import FOLDER, KINDS, SCHEMES, STEPS, apart, path, picture, wordless

pytestmark = pytest.mark.e2e

MOST_MEAN, MOST_FAR = 2.5, 0.015
"""Of 255, and of all pixels: how much the smoothing of edges may differ from machine to machine."""


@pytest.fixture(scope="module", params=SCHEMES)
def drawn(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, browser: Browser
) -> Iterator[tuple[str, Page]]:
    """The scheme and a page in it."""
    with wordless(browser, tmp_path_factory.mktemp("reference"), request.param) as page:
        yield request.param, page


@pytest.mark.parametrize("kind", KINDS)
def test_a_panel_looks_as_it_did(drawn: tuple[str, Page], kind: str) -> None:
    scheme, page = drawn
    mean, far = apart(picture(page, kind), Image.open(path(kind, scheme)).convert("RGB"))
    assert mean <= MOST_MEAN and far <= MOST_FAR, (mean, far)


def test_a_hidden_arm_and_another_step_are_told_from_the_reference(drawn: tuple[str, Page]) -> None:
    scheme, page = drawn
    page.get_by_role("button", name="Show preconditioned on the curves").click()
    for step in ("0", str(STEPS)):
        page.get_by_label("Go to step").fill(step)
        page.get_by_label("Go to step").press("Enter")
        for kind in (
            ("loss", "attention map", "trajectories") if step == "0" else ("loss", "condition numbers")
        ):
            mean, far = apart(picture(page, kind), Image.open(path(kind, scheme)).convert("RGB"))
            assert mean > MOST_MEAN or far > MOST_FAR, (kind, mean, far)
    page.get_by_role("button", name="Show preconditioned on the curves").click()


def test_the_pictures_are_few_and_small() -> None:
    files = [*Path(FOLDER).iterdir()]
    assert len(files) == len(KINDS) * len(SCHEMES)
    assert max(file.stat().st_size for file in files) < 30_000
