"""A saved replay in Chromium whose canvases tell what was drawn on them since they were last cleared."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from sandbox.live.hello import ASSETS
from sandbox.live.replay.page import write_replay
from sandbox.store import open_run
from tests.live.serving import FLAGS

WATCH = """const watched = ['clearRect', 'beginPath',
  'fillText', 'arc', 'moveTo', 'lineTo', 'stroke', 'fill', 'drawImage',
  'fillRect', 'strokeRect'];
for (const name of watched) {
  const kind = CanvasRenderingContext2D.prototype, own = kind[name];
  kind[name] = function (...given) {
    if (name === 'clearRect') this.canvas.calls = [];
    this.canvas.calls?.push({ name, given: given.filter((value) => typeof value !== 'object'),
      dash: this.getLineDash().join(),
      alpha: Math.round(100 * this.globalAlpha) / 100,
      width: Math.round(10 * this.lineWidth) / 10 });
    return own.apply(this, given);
  };
}"""
CALLS = '(kind) => document.querySelector(`[data-kind="${kind}"] canvas`).calls ?? []'
MODULES = "http://sandbox.test/"


@contextmanager
def launched(chromium: str) -> Iterator[Browser]:
    """Chromium, for all pages of a file of tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def replayed(folder: Path, browser: Browser, script: str = WATCH, **options: Any) -> Iterator[Page]:
    """The replay of a finished run, at its last step; a script error fails the test. `script` goes before."""
    with open_run(folder) as run:
        file = write_replay(run, folder.parent / "replay.html")
    errors: list[str] = []
    given = {"viewport": {"width": 1440, "height": 1300}, "reduced_motion": "reduce", "bypass_csp": True}
    page = browser.new_page(**(given | options))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(script)
    page.goto(file.as_uri())
    page.wait_for_function("Number(document.querySelector('.acs-live').dataset.step) > 0")
    yield page
    page.close()
    assert errors == []


@contextmanager
def scripts(browser: Browser) -> Iterator[Page]:
    """A blank page that can import the live view's scripts by name, from MODULES."""

    def answer(route: Any) -> None:
        name = route.request.url.removeprefix(MODULES)
        text = (ASSETS / "live" / name).read_text(encoding="utf-8") if name else "<title>scripts</title>"
        kind = "text/javascript" if name else "text/html"
        route.fulfill(body=text, headers={"content-type": kind})

    page = browser.new_page()
    page.route(f"{MODULES}**", answer)
    page.goto(MODULES)
    yield page
    page.close()


def calls(page: Page, kind: str, name: str = "") -> list[dict[str, Any]]:
    """What was drawn on a panel's canvas, of one kind of call or of all."""
    page.locator(f'[data-kind="{kind}"]').scroll_into_view_if_needed()
    page.wait_for_function(f"(kind) => ({CALLS})(kind).length > 9", arg=kind)
    return [call for call in page.evaluate(CALLS, kind) if name in ("", call["name"])]


def words(page: Page, kind: str) -> list[str]:
    """The words on a panel's canvas."""
    return [str(call["given"][0]) for call in calls(page, kind, "fillText")]


def strokes(page: Page, kind: str) -> list[dict[str, Any]]:
    """Every stroke on a panel's canvas: its dash, alpha and width, and the places that lines lead to."""
    found: list[dict[str, Any]] = []
    places: list[list[float]] = []
    for call in calls(page, kind):
        if call["name"] == "beginPath":
            places = []
        elif call["name"] == "lineTo":
            places.append(call["given"])
        elif call["name"] == "stroke":
            found.append(call | {"places": places})
    return found
