"""Screenshots of every page in both themes and two sizes into build/screens: `make screens`.

A small study and a run are trained for the pictures in a folder of their own; nothing of the reader's runs is
shown or touched.
"""

import json
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
SWEEP = """name = "two learning rates"
preset = "conditioned against standard"
arms = ["standard", "spectral:shift=0.5"]
seeds = 2
set.steps = 200
grid.optimizer.learning_rate = [0.001, 0.003]
"""
LIVE, FIGURE = '[data-testid="stMain"] .acs-live[data-step]', ".js-plotly-plot .legend"


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


def studied(runs: Path) -> tuple[str, list[str]]:
    """Train a small study; its id and its runs."""
    file = runs / "rates.toml"
    file.write_text(SWEEP)
    command = [sys.executable, "-m", "sandbox", "sweep", str(file), "--json"]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"SANDBOX_RUNS": str(runs)}, check=True, stdout=subprocess.PIPE
    )
    found = json.loads(done.stdout)
    return Path(found["study"]).stem, [str(point["id"]) for point in found["points"]]


def begun(page: Page, address: str) -> str:
    """Press Train on a fresh Sandbox; the run that all pictures show, once it has gone a while."""
    page.goto(f"{address}/sandbox")
    page.locator(TRAIN).wait_for(timeout=60000)
    page.wait_for_timeout(2000)
    shoot(page, "sandbox-before", SIZES[0], THEMES[0])
    page.locator(TRAIN).click()
    page.wait_for_url("**run=**", timeout=30000)
    page.wait_for_timeout(20000)
    return page.url.split("run=")[1].split("&")[0]


def tour(browser: Browser, places: dict[str, tuple[str, str]], size: tuple[int, int], theme: str) -> None:
    """Open every page once, by name its address and what it has when it is complete."""
    for name, (address, complete) in places.items():
        page = browser.new_page(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if theme == "dark" else "light",
        )
        page.goto(address)
        if name == "study-figures":
            page.wait_for_timeout(4000)
            page.get_by_text("Study the figures").click()
        page.wait_for_selector(complete, timeout=60000)
        if name == "study-figures":
            page.locator(complete).first.scroll_into_view_if_needed()
        page.wait_for_timeout(3000)
        shoot(page, name, size, theme)
        page.close()


def main() -> None:
    """Take all pictures."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        runs = Path(folder)
        study, points = studied(runs)
        with served(runs) as address:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
            run = begun(browser.new_page(viewport={"width": SIZES[0][0], "height": SIZES[0][1]}), address)
            places = {
                "home": (address, "[class*=st-key-home-open]"),
                "sandbox": (f"{address}/sandbox?run={run}", LIVE),
                "instant": (f"{address}/instant", ".acs-instant[data-epoch='300']"),
                "runs": (f"{address}/gallery", "[class*=st-key-gallery-card]"),
                "compare": (f"{address}/compare?runs={','.join(points)}", FIGURE),
                "run": (f"{address}/run?run={run}", LIVE),
                "study-figures": (f"{address}/run?run={points[0]}", FIGURE),
                "study": (f"{address}/study?study={study}", ".js-plotly-plot"),
                "reference": (f"{address}/reference", ".katex"),
            }
            for size in SIZES:
                for theme in THEMES:
                    tour(browser, places, size, theme)
            browser.close()
    print(f"{len(list(OUT.iterdir()))} pictures in {OUT}")


if __name__ == "__main__":
    main()
