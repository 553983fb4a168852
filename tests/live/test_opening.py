"""The opening: pages name our scripts, Home's run starts by itself, and all else passes unchanged."""

import json
import re
from pathlib import Path

import pytest
import streamlit
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from sandbox.live.nowhere import plain_page
from sandbox.live.opening import STREAMLIT, EarlyPages, Opening
from sandbox.live.routes import BUNDLE, STYLE, address_of

PAGE = (
    '<!DOCTYPE html><html><head><script type="module" crossorigin src="./static/js/index.Ab_1.js"></script>'
    '</head><body><div id="root"></div></body></html>'
)
VIEW = {"run": "recorded:x", "note": "</script><b>"}
OTHERS = ("/_stcore/health", "/live/static/0/x.js", "/static/js/a.js", "/favicon.png")


async def page(request: Request) -> Response:
    asked = {name for name in ("if-none-match", "range") if name in request.headers}
    assert not asked
    return HTMLResponse(PAGE, headers={"etag": '"old"', "cache-control": "max-age=60"})


async def other(request: Request) -> Response:
    return PlainTextResponse("<head><body>", headers={"etag": '"kept"'})


def client(opening: Opening | None) -> TestClient:
    routes = [Route(path, page) for path in ("/", "/sandbox", "/deep/er")]
    routes += [Route(path, other) for path in OTHERS]
    return TestClient(
        Starlette(routes=routes, middleware=[Middleware(EarlyPages, openings={"/": lambda: opening})])
    )


@pytest.fixture
def told() -> TestClient:
    return client(Opening("Title & more", "A <b>text</b>.", VIEW))


def test_every_page_names_the_scripts_and_the_style_sheet_before_anything_else(told: TestClient) -> None:
    for path in ("/", "/sandbox"):
        answer = told.get(path, headers={"if-none-match": '"old"', "range": "bytes=0-3"})
        assert answer.text.index(f'href="./{address_of(BUNDLE)}"') < answer.text.index("index.Ab_1.js")
        assert f'href="./{address_of(STYLE)}"' in answer.text
        assert int(answer.headers["content-length"]) == len(answer.content)
        assert answer.headers["cache-control"] == "no-cache"
        assert "etag" not in answer.headers


@pytest.mark.parametrize("path", ["/deep/er", "/deep/er?run=x"])
def test_an_address_that_leads_nowhere_is_told_instead_of_left_empty(told: TestClient, path: str) -> None:
    answer = told.get(path)
    assert answer.status_code == 404
    assert (
        "leads to no page" in answer.text and "/deep/er" in answer.text and 'href="/gallery"' in answer.text
    )
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert "index.Ab_1.js" not in answer.text


def test_what_an_address_says_is_taken_literally() -> None:
    page = plain_page("/<script>alert(1)</script>/" + "x" * 1000).decode()
    assert "<script" not in page and "&lt;script&gt;" in page and "x" * 300 not in page


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/sandbox/", "/sandbox"), ("/run/?run=a%20b", "/run?run=a%20b"),
        ("//elsewhere.org/", "/elsewhere.org"), ("/a/b/", "/a/b"),
    ],
)  # fmt: skip
def test_a_slash_too_many_leads_to_the_page_and_never_elsewhere(
    told: TestClient, path: str, leads_to: str
) -> None:
    answer = told.get(f"http://testserver{path}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (308, leads_to)


def test_home_shows_its_title_and_starts_its_view_then_streamlit(told: TestClient) -> None:
    text = told.get("/").text
    assert "<h1>Title &amp; more</h1><p>A &lt;b&gt;text&lt;/b&gt;.</p>" in text
    handed = re.search(r"live\.open\((.*?)\)\)\.catch", text)
    assert handed is not None
    assert json.loads(handed[1]) == VIEW
    assert "</script><b>" not in text
    assert text.count("index.Ab_1.js") == 1
    assert text.index("live.open") < text.index('import("./static/js/index.Ab_1.js")')


def test_without_a_recorded_run_and_on_other_pages_streamlit_starts_as_it_does() -> None:
    for path in ("/", "/sandbox"):
        text = client(None).get(path).text
        assert text.replace(text[text.index("<head>") + 6 : text.index("<script")], "") == PAGE


@pytest.mark.parametrize("path", OTHERS)
def test_what_is_no_page_passes_unchanged(told: TestClient, path: str) -> None:
    answer = told.get(path)
    assert answer.text == "<head><body>"
    assert answer.headers["etag"] == '"kept"'


def test_the_page_that_streamlit_ships_is_understood() -> None:
    shipped = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    assert len(STREAMLIT.findall(shipped)) == 1
    assert shipped.count("<head>") == shipped.count("<body>") == 1
