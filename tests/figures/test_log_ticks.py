"""A log axis has labels as Plotly draws it, however little or much of it the values span."""

import json

import numpy as np
import pytest
from playwright.sync_api import sync_playwright
from plotly.offline import get_plotlyjs

from sandbox.figures.drawing import HEIGHT, blank
from sandbox.figures.rails import Rails
from tests.live.serving import FLAGS

pytestmark = pytest.mark.e2e

SPANS = (1.0, 1.0001, 1.05, 1.16, 1.9, 4.0, 9.0, 13.0, 40.0, 95.0, 400.0, 2e3, 1e5, 1e9)
LABELS = """async (figure) => { await Plotly.newPlot('place', figure);
  return [...document.querySelectorAll('.ytick text')].map((label) => label.textContent); }"""


@pytest.mark.parametrize("height", [HEIGHT, 230])
def test_a_log_axis_has_at_least_two_labels(chromium: str, height: int) -> None:
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium, args=FLAGS).new_page()
        page.set_content("<div id=place style='width: 700px'></div>")
        page.add_script_tag(content=get_plotlyjs())
        for low in (4.2, 2.3e-4, 6.1e5):
            for span in SPANS:
                figure, rails = blank("one", "step", "kappa", False, height), Rails(log=True)
                figure.add_scatter(x=np.arange(3.0), y=low * np.array([1.0, span, 1.0]))
                rails.lay_out(figure)
                labels = page.evaluate(LABELS, json.loads(figure.to_json()))
                assert 2 <= len([label for label in labels if label]) <= 20, (low, span, labels)
