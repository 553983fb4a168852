"""Formulas behind the "i" are typeset: indices low, powers high, variables slanted, no letter lost."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from sandbox.live.panels import Panel
from tests.live.watched_canvas import MODULES, scripts

pytestmark = pytest.mark.e2e

SHOWN = """([name, text]) => {
  const box = document.createElement('p');
  box.append(...window.formulas[name](text));
  const of = (tag) => [...box.querySelectorAll(tag)].map((node) => node.textContent);
  return { text: box.textContent, low: of('sub'), high: of('sup'), slanted: of('i') };
}"""
EQUATIONS = {kind: panel.equation for kind, panel in Panel.variants.items() if panel.equation}


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    with scripts(browser) as opened:
        opened.evaluate(f"async () => {{ window.formulas = await import('{MODULES}formula.js'); }}")
        yield opened


def shown(page: Page, text: str, name: str = "formula") -> dict[str, object]:
    return dict(page.evaluate(SHOWN, [name, text]))


def test_no_letter_of_a_panels_formula_is_lost_and_no_sign_of_plain_text_is_left(page: Page) -> None:
    for kind, equation in EQUATIONS.items():
        text = str(shown(page, equation)["text"])
        assert not {"_", "^"} & {*text}, kind
        assert text == equation.replace("_", "").replace("^", ""), kind


@pytest.mark.parametrize(
    ("text", "low", "high", "slanted"),
    [
        ("κ(W) = σ_max(W) / σ_min(W)", ["max", "min"], [], ["κ", "W", "σ", "W", "σ", "W"]),
        ("W_V^h", ["V"], ["h"], ["W", "V", "h"]),
        ("α = (2N)^¼, β = (8N)^-¼", [], ["¼", "-¼"], ["α", "N", "β", "N"]),
        ("softmax(qᵀz / √d)", [], [], ["q", "z", "d"]),
        ("1 - p_max²", ["max"], [], ["p"]),
        ("mean over rows", [], [], []),
    ],
)
def test_what_follows_a_sign_is_set_low_or_high_and_single_letters_are_variables(
    page: Page, text: str, low: list[str], high: list[str], slanted: list[str]
) -> None:
    found = shown(page, text)
    assert (found["low"], found["high"], found["slanted"]) == (low, high, slanted)


def test_in_a_sentence_only_signs_of_one_letter_have_an_index(page: Page) -> None:
    found = shown(page, "κ_eff leaves out cross_entropy and torch.nn.x_y; see W_Q.", "prose")
    assert found["low"] == ["eff", "Q"]
    assert found["text"] == "κeff leaves out cross_entropy and torch.nn.x_y; see WQ."
