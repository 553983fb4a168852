"""Figures leave the study as PNG, SVG and CSV, made by the browser, and stay as they were."""

import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.conftest import Open
from tests.browser.serving import App

pytestmark = pytest.mark.e2e

STATE = """() => { const chart = document.querySelector('.js-plotly-plot');
  return JSON.stringify([chart.layout, chart._context.toImageButtonOptions, chart.innerHTML.length]); }"""


def saved(page: Page, words: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name=words, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_figure_is_saved_with_title_legend_units_footer_and_ground(
    app: App, finished: str, open_page: Open, tmp_path: Path, scheme: str
) -> None:
    page = open_page(f"{app.address}/run?run={finished}", color_scheme=scheme)
    expect(page.locator(".acs-live .acs-state")).to_have_text("Done")  # nothing moves below it any more
    page.get_by_text("Study the figures").click()
    page.locator(".js-plotly-plot .legend").wait_for()
    page.wait_for_timeout(500)
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    before = page.evaluate(STATE)
    drawing = saved(page, "SVG", tmp_path)
    text = " ".join(ElementTree.fromstring(drawing.read_text()).itertext())
    for words in (
        "Loss",
        "loss in nats",
        "step",
        "standard: mean of 2",
        f"Run {finished}",
        f"run={finished}",
    ):
        assert words in text, words
    ground = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}[scheme]
    assert f"fill: {ground}; fill-opacity: 1" in drawing.read_text()
    picture = saved(page, "PNG", tmp_path).read_bytes()
    width, height = struct.unpack(">II", picture[16:24])
    assert picture.startswith(b"\x89PNG") and width > 1500 and height > 900
    assert page.evaluate(STATE) == before
    assert [request.url for request in asked if not request.url.startswith(("data:", "blob:"))] == []
    table = saved(page, "CSV of what is drawn", tmp_path).read_text().splitlines()
    assert table[0] == "trace,place,x,y,z,n,text"
    assert table[1].startswith('"standard, seed 0",plot,0,')
