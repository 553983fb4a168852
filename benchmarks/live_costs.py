"""What one live update costs: bytes, server CPU, browser main thread, frames, and time from commit to pixels.

Serves the test page over a made-up run (4 arms, 3 seeds) that commits 4 times a second, opens it in Chromium
and prints a Markdown table. `python benchmarks/live_costs.py [--seconds S]`; see docs/performance.md.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402

from sandbox.live.feed import Feed  # noqa: E402
from sandbox.live.selection import Selection  # noqa: E402
from sandbox.live.updates import Cursor, next_update  # noqa: E402
from tests.live.serving import FLAGS, free_port, served  # noqa: E402
from tests.live.synthetic import SyntheticRun  # noqa: E402

WATCH = """() => {
  const root = document.querySelector('.acs-live');
  window.drawn = {};
  window.frames = 0;
  root.addEventListener('acs-drawn', (event) => {
    const { step, at } = event.detail;
    if (!(step in window.drawn)) window.drawn[step] = event.detail;
  });
  const count = () => { window.frames++; requestAnimationFrame(count); };
  requestAnimationFrame(count);
}"""

UNFOLD = "document.querySelectorAll('.acs-unfold[aria-expanded=false]').forEach((button) => button.click())"
SCRUB = """async () => {
  const slider = document.querySelector('.acs-track input'), spent = [];
  document.querySelector('.acs-live').addEventListener('acs-drawn', ({ detail }) => spent.push(detail.spent));
  for (let i = 0; i < 30; i++) {
    slider.value = 100 + 50 * i;
    slider.dispatchEvent(new Event('input'));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
  return spent;
}"""


def grow(run: SyntheticRun, seconds: float, rate: float = 4.0, stride: int = 25) -> dict[int, float]:
    """Commit `rate` times a second for `seconds`; the wall time of every commit by step, in ms."""
    published = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begun = time.monotonic()
        run.grow(run.step + stride)
        published[run.step] = time.time() * 1000
        time.sleep(max(0.0, 1 / rate - (time.monotonic() - begun)))
    return published


def thread_time(session: Any) -> float:
    """Main-thread time of the page so far, in ms: scripts, styles, layout, painting."""
    metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"]) * 1000


def server_process(port: int) -> psutil.Process:
    """Our child that listens on `port`."""
    for child in psutil.Process().children(recursive=True):
        if f"--server.port={port}" in child.cmdline():
            return child
    raise RuntimeError("the server is gone")


def cpu_ms(process: psutil.Process) -> float:
    """User and system time of the process so far, in ms."""
    times = process.cpu_times()
    return 1000 * float(times.user + times.system)


def sizes(tokens: int, runs: Path, *, batch: bool) -> tuple[float, int]:
    """Median and greatest bytes of 40 updates at 25 steps each, two of them evaluations."""
    run = SyntheticRun(runs / f"sizes-{tokens}-{batch}", tokens=tokens, steps=5000, evaluate_every=12)
    run.grow(100)
    feed = Feed("sizes", run.writer.path)
    feed.refresh()
    selection = Selection(batch=batch)
    _, cursor = next_update(feed, Cursor(), selection, 0)
    found = []
    for _ in range(40):
        run.grow(run.step + 25)
        feed.refresh()
        message, cursor = next_update(feed, cursor, selection, 0)
        found.append(len(message))
    feed.close()
    run.writer.close()
    return statistics.median(found), max(found)


def in_browser(runs: Path, chromium: str, seconds: float, tokens: int) -> dict[str, float]:
    """One viewer for `seconds`."""
    run = SyntheticRun(runs / "run", tokens=tokens, steps=20_000)
    run.grow(500)
    port = free_port()
    with served(runs, port) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 1300})
        page.goto(address)
        page.wait_for_selector('.acs-live[data-step="500"]')
        grow(run, 4.0)
        page.evaluate(WATCH)
        process = server_process(port)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        resting = measured(lambda: time.sleep(5.0) or {}, page, session, process)
        busy = measured(lambda: grow(run, seconds), page, session, process)
        time.sleep(1.0)
        drawn: dict[str, Any] = page.evaluate("window.drawn")
        browser.close()
    run.writer.close()
    shutil.rmtree(runs / "run")
    published: dict[int, float] = busy["answer"]
    delays = [drawn[str(step)]["at"] - at for step, at in published.items() if str(step) in drawn]
    updates = len(delays)
    # Costs that a page has without updates (its frame counter, the server's polling) are taken off.
    load = {k: busy[k] / busy["seconds"] - resting[k] / resting["seconds"] for k in ("server", "browser")}
    return {
        "updates": updates,
        "bytes": statistics.median(float(d["bytes"]) for d in drawn.values() if d["bytes"]),
        "server": load["server"] * seconds / updates,
        "browser": load["browser"] * seconds / updates,
        "script": statistics.median(float(d["spent"]) for d in drawn.values()),
        "fps": busy["frames"] / busy["seconds"],
        "median": statistics.median(delays),
        "p95": sorted(delays)[int(0.95 * len(delays))],
    }


def with_pictures(runs: Path, chromium: str) -> dict[str, float]:
    """Our script's ms per update and per scrubbed step, with all pictures of the visual model on screen."""
    run = SyntheticRun(runs / "run", steps=20_000, visual=True, groups=True, evaluate_every=25)
    run.grow(2000)
    with served(runs) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 3600})
        page.goto(address)
        page.wait_for_selector('.acs-live[data-step="2000"]')
        page.evaluate(UNFOLD)
        page.wait_for_timeout(2500)
        page.evaluate(WATCH)
        grow(run, 6.0)
        page.wait_for_timeout(500)
        drawn: list[dict[str, float]] = list(page.evaluate("Object.values(window.drawn)"))
        scrubbed = {}
        for height in (3600, 900):
            page.set_viewport_size({"width": 1440, "height": height})
            page.wait_for_timeout(800)
            scrubbed[height] = statistics.median(page.evaluate(SCRUB))
        browser.close()
    run.writer.close()
    bytes_ = max(float(d["bytes"]) for d in drawn[1:] if d["bytes"])
    script = statistics.median(float(d["spent"]) for d in drawn[1:])
    return {"bytes": bytes_, "script": script, "all": scrubbed[3600], "screen": scrubbed[900]}


def measured(act: Callable[[], Any], page: Page, session: Any, process: psutil.Process) -> dict[str, Any]:
    """What `act` answers and what it cost: server CPU ms, page main-thread ms, frames, seconds."""
    before = (cpu_ms(process), thread_time(session), int(page.evaluate("window.frames")), time.monotonic())
    answer = act()
    after = (cpu_ms(process), thread_time(session), int(page.evaluate("window.frames")), time.monotonic())
    names = ("server", "browser", "frames", "seconds")
    return {"answer": answer} | {n: b - a for n, a, b in zip(names, before, after, strict=True)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args().seconds
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    print("| tokens | bytes, median (greatest) | with every step's loss |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder)
        for tokens in (12, 32):
            plain, batch = sizes(tokens, runs, batch=False), sizes(tokens, runs, batch=True)
            print(f"| {tokens} | {plain[0]:.0f} ({plain[1]}) | {batch[0]:.0f} ({batch[1]}) |")
        print(
            "\n| tokens | updates | server CPU ms | browser main thread ms | of it our script | frames/s "
            "| commit to pixels ms, median (p95) |\n|---|---|---|---|---|---|---|"
        )
        for tokens in (12, 32):
            m = in_browser(runs, chromium, seconds, tokens)
            costs = f"{m['server']:.1f} | {m['browser']:.1f} | {m['script']:.1f}"
            pace = f"{m['fps']:.0f} | {m['median']:.0f} ({m['p95']:.0f})"
            print(f"| {tokens} | {m['updates']:.0f} | {costs} | {pace} |")
        p = with_pictures(runs, chromium)
        print(
            f"\nAll pictures of the visual model on screen: {p['bytes']:.0f} bytes and {p['script']:.1f} ms "
            f"of our script per update; a scrubbed step {p['all']:.1f} ms, {p['screen']:.1f} where the "
            "screen is 900 px tall."
        )
        print(f"\nPer update and viewer, 7 panels (5 of curves), one viewer; load {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()
