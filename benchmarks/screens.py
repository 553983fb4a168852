"""Screenshots of every page in both themes and two sizes into build/screens: `make screens`.

A run is trained for the pictures in a folder of its own; nothing of the reader's runs is shown or touched.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "screens"
SIZES = ((1440, 900), (1366, 768))
THEMES = ("light", "dark")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)
TRAIN = ".st-key-sandbox-train button"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(runs: Path) -> Iterator[str]:
    """The app on a free port, with its runs in `runs`; the address."""
    port = free_port()
    environment = os.environ | {"SANDBOX_RUNS": str(runs)}
    command = [sys.executable, "-m", "sandbox", "serve", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
                break
            except OSError:
                time.sleep(0.25)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def shoot(page: Page, name: str, size: tuple[int, int], theme: str) -> None:
    """One picture of what a person sees, and one of the whole page."""
    stem = f"{name}-{theme}-{size[0]}x{size[1]}"
    page.screenshot(path=OUT / f"{stem}.png")
    main = page.locator('[data-testid="stMain"]')
    height = main.evaluate("element => element.scrollHeight")
    page.set_viewport_size({"width": size[0], "height": min(int(height), 6000)})
    page.wait_for_timeout(800)
    page.screenshot(path=OUT / f"{stem}-whole.png")
    page.set_viewport_size({"width": size[0], "height": size[1]})


def tour(browser: Browser, address: str, size: tuple[int, int], theme: str, run: str | None) -> str:
    """Open every page once; the first tour trains the run that the later ones look at."""
    width, height = size
    page = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if theme == "dark" else "light"
    ).new_page()
    page.goto(address)
    page.wait_for_timeout(6000)
    shoot(page, "home", size, theme)
    if run is None:
        page.goto(f"{address}/sandbox")
        page.locator(TRAIN).wait_for(timeout=60000)
        page.wait_for_timeout(2000)
        shoot(page, "sandbox-before", size, theme)
        page.locator(TRAIN).click()
        page.wait_for_url("**run=**", timeout=30000)
        run = page.url.split("run=")[1].split("&")[0]
        page.wait_for_timeout(20000)
    else:
        page.goto(f"{address}/sandbox?run={run}")
        page.wait_for_timeout(8000)
    shoot(page, "sandbox", size, theme)
    page.goto(f"{address}/run?run={run}")
    page.wait_for_timeout(5000)
    shoot(page, "run", size, theme)
    page.goto(f"{address}/reference")
    page.wait_for_timeout(4000)
    shoot(page, "reference", size, theme)
    page.context.close()
    return run


def main() -> None:
    """Take all pictures."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as runs, served(Path(runs)) as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        run: str | None = None
        for size in SIZES:
            for theme in THEMES:
                run = tour(browser, address, size, theme, run)
        browser.close()
    print(f"{len(list(OUT.iterdir()))} pictures in {OUT}")


if __name__ == "__main__":
    main()
