"""Home, themes, sizes, keys, strangers, links, and a finished run, as a person in a browser meets them."""

import base64
import http.client
import json
import re
import zlib

import pytest
from playwright.sync_api import Page, expect

from sandbox.live.routes import BUNDLE, STYLE
from sandbox.ui import links
from tests.browser.conftest import Open
from tests.browser.serving import LONG, SMALL, App
from tests.browser.watching import INK, Watched, say, seconds_to_play, settled

pytestmark = pytest.mark.e2e

OVERFLOW = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  return [document.documentElement.scrollWidth - window.innerWidth, main.scrollWidth - main.clientWidth];
}"""
LUMINANCE = """(element) => {
  const [r, g, b] = getComputedStyle(element).backgroundColor.match(/[0-9.]+/g).map(Number);
  return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
}"""
FETCHED = """(names) => {
  const fetched = performance.getEntriesByType('resource').map((entry) => entry.name.split('/').pop());
  return names.every((name) => fetched.includes(name));
}"""
IN_PLACE = "[data-testid=stMain] .acs-live[data-step]"
STEP = "() => Number(document.querySelector('.acs-time input').value)"


def test_home_plays_its_recorded_run_soon_after_opening(app: App, open_page: Open) -> None:
    open_page(app.address).wait_for_selector(".acs-live[data-step]")  # the server has answered before
    # The promised second is measured in benchmarks/ui_costs.py; here other tests share the machine.
    took: list[float] = []
    while not took or (min(took) >= 3.0 and len(took) < 8):
        took.append(seconds_to_play(open_page("about:blank"), app.address))
    say(f"the recorded run plays {min(took):.2f} s after the page was asked for, at attempt {len(took)}")
    assert min(took) < 3.0


def test_homes_run_goes_on_playing_when_the_page_takes_it_over(app: App, open_page: Open) -> None:
    page = open_page(app.address)
    page.wait_for_selector("#acs-opening .acs-live[data-step]")
    page.locator(".acs-live").evaluate("(node) => { node.dataset.mark = 'same'; }")
    page.wait_for_selector("[data-testid=stMain] .acs-live")
    assert page.locator("#acs-opening").count() == 0
    assert page.locator(".acs-live").get_attribute("data-mark") == "same"
    first = page.evaluate(STEP)
    page.wait_for_function(f"(first) => ({STEP})() > first", arg=first)
    assert page.locator('[data-kind="accuracy"] canvas').evaluate(INK) > 300
    expect(page.get_by_text("conditioned against standard").first).to_be_visible()
    expect(page.get_by_role("button", name="Open").first).to_be_visible()
    expect(page.get_by_role("heading", name="Attention Conditioning Sandbox")).to_have_count(1)


def test_the_stand_in_for_home_goes_when_another_page_is_chosen_meanwhile(app: App, open_page: Open) -> None:
    page = open_page("about:blank")
    page.goto(app.address, wait_until="commit")
    page.wait_for_selector("#acs-opening .acs-live[data-step]")
    page.evaluate("history.pushState(null, '', '/gallery')")  # as Streamlit does when a page is chosen
    page.wait_for_function("() => !document.getElementById('acs-opening')", timeout=5000)


def test_home_is_whole_when_the_live_view_cannot_load(app: App, open_page: Open) -> None:
    page = open_page("about:blank")
    page.route("**/live/static/**", lambda route: route.abort())
    page.goto(app.address)
    expect(page.get_by_role("button", name="Open").first).to_be_visible()
    expect(page.locator(".acs-live")).to_have_text(re.compile("reload the page"))
    assert page.locator("#acs-opening").count() == 0


def test_the_live_view_is_fetched_before_there_is_anything_to_watch(app: App, open_page: Open) -> None:
    page = open_page(app.setup(LONG))
    page.wait_for_function(FETCHED, arg=[BUNDLE, STYLE])
    assert page.locator(".acs-live").count() == 0


def test_the_dark_theme_is_dark_everywhere(app: App, finished: str, open_page: Open) -> None:
    page = open_page(app.run(finished), color_scheme="dark")
    page.wait_for_selector(".acs-live[data-step]")
    for place in ("stApp", "stSidebar"):
        assert page.locator(f'[data-testid="{place}"]').first.evaluate(LUMINANCE) < 0.2, place
    panel = page.locator('.acs-panel[data-kind="loss"]')
    panel.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    assert panel.evaluate(LUMINANCE) < 0.2
    assert panel.locator("canvas").evaluate(INK) > 300


def test_nothing_scrolls_sideways_on_small_screens(app: App, finished: str, open_page: Open) -> None:
    page = open_page(app.address)
    for address in (app.address, app.run(finished)):
        page.goto(address)
        page.wait_for_selector(IN_PLACE)
        for width in (1366, 1100):
            page.set_viewport_size({"width": width, "height": 768})
            page.wait_for_timeout(400)
            assert max(page.evaluate(OVERFLOW)) <= 0, (address, width)


def test_train_and_pause_are_reached_by_keyboard(app: App, open_page: Open) -> None:
    watched = Watched(open_page(app.setup(LONG)))
    page = watched.page
    expect(watched.train_button).to_be_enabled()
    reach(page, ".st-key-sandbox-train button", 40)
    page.keyboard.press("Enter")
    page.wait_for_url("**run=**")
    watched.beyond(2)
    reach(page, ".acs-buttons button", 250)
    page.keyboard.press("Enter")
    expect(watched.state).to_have_text("Paused")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(watched.state).to_have_text("Stopped")
    assert app.ended(watched.run_id).state == "stopped"


def reach(page: Page, selector: str, presses: int) -> None:
    """Press Tab until what `selector` names has the focus."""
    for _ in range(presses):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"{selector} was not reached within {presses} presses of Tab")


@pytest.mark.parametrize(
    "path", ["/", "/sandbox", "/_stcore/health", "/_stcore/stream", "/live/ws/x", "/live/instant/x"]
)
def test_a_foreign_host_is_refused(app: App, path: str) -> None:
    assert asked(app, path, f"localhost:{app.port}") != 403
    assert asked(app, path, "evil.example") == 403


def asked(app: App, path: str, host: str) -> int:
    """The status of a plain GET of `path` under a Host."""
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=20)
    try:
        connection.request("GET", path, headers={"Host": host})
        return connection.getresponse().status
    finally:
        connection.close()


def forged(text: str) -> str:
    """A link that holds `text`, whatever it is."""
    return f"{links.FORMAT}.{base64.urlsafe_b64encode(zlib.compress(text.encode())).decode().rstrip('=')}"


HOSTILE = {
    "an unknown key": (forged(json.dumps(SMALL | {"warp": 9})), "no setting 'warp'"),
    "NaN": (forged('{"optimizer": {"kind": "adamw", "learning_rate": NaN}}'), "NaN"),
    "a huge size": (forged(json.dumps(SMALL | {"steps": 10**12})), "1000000000000"),
    "a bomb": (forged(" " * 10_000_000), "nothing was changed"),
}


def test_a_hostile_link_gets_one_sentence_and_changes_nothing(app: App, open_page: Open) -> None:
    page = open_page("about:blank")
    for what, (link, said) in HOSTILE.items():
        page.goto(f"{app.address}/sandbox?{links.PARAMETER}={link}")
        alert = page.locator('[data-testid="stAlert"]')
        expect(alert).to_have_count(1)
        words = (alert.text_content() or "").strip()
        assert said in words, what
        assert words.endswith(".") and len(words) < 400, what
        expect(page.locator(".st-key-sandbox-train button")).to_be_enabled()
        expect(page.get_by_role("combobox", name="Preset")).to_have_value("conditioned against standard")


def test_a_finished_run_opens_as_figures_and_files(app: App, finished: str, open_page: Open) -> None:
    page = open_page(app.run(finished))
    expect(Watched(page).state).to_have_text("Done")
    page.get_by_text("Study the figures").click()
    figure = page.locator(".js-plotly-plot")
    expect(figure.first).to_be_visible()
    assert page.locator('[data-testid="stException"]').count() == 0
    page.get_by_role("tab", name="Accuracy", exact=True).click()
    expect(figure.locator("visible=true").first).to_contain_text("accuracy", ignore_case=True)

    page.get_by_role("button", name="Download", exact=True).click()
    settled(page)  # opening the menu runs the page once more
    with page.expect_download() as curves:
        page.get_by_role("button", name="Curves (CSV)").click()
    table = curves.value.path().read_text().splitlines()
    assert "step" in table[0]
    assert len(table) > 160
    with page.expect_download() as settings:
        page.get_by_role("button", name="Settings (JSON)").click()
    restored = json.loads(settings.value.path().read_text())
    assert restored["steps"] == 160
    assert [arm["name"] for arm in restored["arms"]] == SMALL["arms"]


def test_the_visual_model_says_why_conditioning_keys_does_nothing(app: App, open_page: Open) -> None:
    plain = SMALL | {"model": {"kind": "visual model"}, "arms": ["standard"]}
    page = open_page(app.setup(plain))
    expect(page.locator(".st-key-sandbox-train button")).to_be_enabled()
    toggle = page.locator('[class*="st-key-arm-projection-spectral"]').first
    expect(toggle.locator("input")).to_be_disabled()
    rail = page.locator('[data-testid="stSidebar"]')
    expect(rail).to_contain_text(re.compile(r"no (key|query|W)|only|one query", re.IGNORECASE))


def test_the_server_of_pages_stays_light(app: App, finished: str, open_page: Open) -> None:
    for address in (app.address, app.run(finished)):
        open_page(address).wait_for_selector(IN_PLACE)
    server = app.ui()
    words = server.cmdline()
    assert words[words.index("--runner.postScriptGC") + 1] == "false"
    libraries = " ".join(place.path for place in server.memory_maps())
    for heavy in ("/torch/", "/sklearn/", "/scipy/"):
        assert heavy not in libraries
    assert server.memory_info().rss < 250e6  # 200 MB are owed before anybody opened a figure
