"""The live budget at its fullest: eight panels and all of them, four arms of five seeds, a long history.

Serves the test page over a made-up run, opens it in Chromium and prints a Markdown table with what is owed:
bytes and browser time of an update, frames and the longest task in steady state, opening 500 snapshots, and
one scrubbed step. `python benchmarks/live_budget.py [--seconds S]`; see docs/performance.md.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from benchmarks.live_costs import SCRUB, UNFOLD, thread_time  # noqa: E402
from tests.live.serving import FLAGS, served  # noqa: E402
from tests.live.synthetic import SyntheticRun  # noqa: E402
from tests.live.test_open_panels import read_all  # noqa: E402

SEEDS, EIGHT = 5, "Training dynamics"
WATCH = """() => {
  Object.assign(window, { longest: 0, frames: 0, spent: [] });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration);
  }).observe({ type: 'longtask', buffered: false });
  const root = document.querySelector('.acs-live');
  root.addEventListener('acs-drawn', ({ detail }) => window.spent.push(detail.spent));
  const count = () => { window.frames++; requestAnimationFrame(count); };
  requestAnimationFrame(count);
}"""


@contextmanager
def watched(browser: Browser, address: str, height: int) -> Iterator[tuple[Page, list[int]]]:
    """The test page, and the sizes of all that its socket is sent."""
    page = browser.new_page(viewport={"width": 1440, "height": height})
    sizes: list[int] = []

    def listen(socket: Any) -> None:
        if "/live/ws/" in socket.url:
            socket.on("framereceived", lambda data: sizes.append(len(data)))

    page.on("websocket", listen)
    page.goto(address)
    yield page, sizes
    page.close()


def steady(run: SyntheticRun, page: Page, sizes: list[int], seconds: float) -> dict[str, float]:
    """What updates cost while the run commits four times a second."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # CPU time, on a busy machine too
    page.evaluate(WATCH)
    began, before = time.monotonic(), thread_time(session)
    time.sleep(4.0)  # a page at rest, whose frame counter is no cost of ours
    rest = (thread_time(session) - before) / (time.monotonic() - began)
    page.evaluate("Object.assign(window, { longest: 0, frames: 0, spent: [] })")
    sizes.clear()
    began, before, updates = time.monotonic(), thread_time(session), 0
    while time.monotonic() - began < seconds:
        turn = time.monotonic()
        run.grow(run.step + 25)
        read_all(run, run.step)
        updates += 1
        time.sleep(max(0.0, 0.25 - (time.monotonic() - turn)))
    took = time.monotonic() - began
    updates = max(
        updates, round(4 * took)
    )  # a machine too slow to commit four a second owes no more for each
    load = (thread_time(session) - before) / took - rest
    frames, longest, spent = page.evaluate("[window.frames, window.longest, window.spent]")
    return {
        "bytes": statistics.median(size for size in sizes if size > 400),
        "most": max(sizes),
        "main": load * took / updates,
        "script": sum(spent) / updates,
        "frame": max(spent),
        "fps": frames / took,
        "longest": longest,
    }


def live(
    runs: Path, browser: Browser, tokens: int, height: int, seconds: float, *, everything: bool
) -> dict[str, float]:
    """Eight panels, or all that there are, of a run that grows."""
    run = SyntheticRun(runs / "run", seeds=SEEDS, tokens=tokens, steps=40_000, visual=everything, groups=True)
    run.grow(500)
    read_all(run, 500)
    with served(runs) as address, watched(browser, address, height) as (page, sizes):
        page.wait_for_selector(".acs-live[data-step]")
        if everything:
            page.evaluate(UNFOLD)
        else:
            page.get_by_role("button", name=EIGHT).click()
        page.wait_for_timeout(3500)
        found = steady(run, page, sizes, seconds)
    run.writer.close()
    shutil.rmtree(runs / "run")
    return found


def history(runs: Path, browser: Browser, snapshots: int) -> dict[str, float]:
    """Opening a run of many snapshots, and scrubbing through it."""
    run = SyntheticRun(runs / "run", seeds=SEEDS, steps=20 * snapshots, visual=True)
    run.grow(20 * snapshots - 20)
    run.finish()
    with served(runs) as address:
        found = []
        for _ in range(3):
            with watched(browser, address, 900) as (page, sizes):
                page.wait_for_function("document.querySelector('.acs-live')?.dataset.link === 'connected'")
                began = time.monotonic()
                page.wait_for_selector(f'.acs-live[data-step="{20 * snapshots - 20}"]')
                found.append((time.monotonic() - began, float(sum(sizes))))
                page.wait_for_timeout(1500)
                scrubbed = page.evaluate(SCRUB)
        sent = max(size for _, size in found)
    run.writer.close()
    shutil.rmtree(runs / "run")
    return {"seconds": statistics.median(took for took, _ in found), "kB": sent / 1000,
            "scrub": statistics.median(scrubbed), "worst": max(scrubbed)}  # fmt: skip


def line(
    what: str, value: float, owed: float | None, unit: str, digits: int = 0, *, least: bool = False
) -> str:
    """One row of the table; what is missed is said, and where nothing is owed, that."""
    if owed is None:
        return f"| {what} | {value:.{digits}f} {unit} | not owed |"
    missed = "" if (value >= owed if least else value <= owed) else " **missed**"
    owes = f"{'at least' if least else 'at most'} {owed:g} {unit}"
    return f"| {what} | {value:.{digits}f} {unit}{missed} | {owes} |"


def rows(found: dict[str, float], what: str, owed_bytes: float, owed_ms: float | None = 20) -> list[str]:
    """The rows of one live scene; `owed_ms` is the main thread's share of an update."""
    return [
        line(f"{what}: bytes of an update, median", found["bytes"], owed_bytes, "B"),
        line(f"{what}: main thread per update", found["main"], owed_ms, "ms", 1),
        line(f"{what}: of it our script", found["script"], owed_ms, "ms", 1),
        line(f"{what}: frames", found["fps"], 58, "1/s", least=True),
        line(f"{what}: longest task (0: none above 50)", found["longest"], 50, "ms"),
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0)
    seconds = parser.parse_args().seconds
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    print("| what | measured | owed |\n|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        runs, browser = Path(folder), playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for tokens, owed in ((12, 4096), (32, 6144)):
            found = live(runs, browser, tokens, 1300, seconds, everything=False)
            print("\n".join(rows(found, f"eight panels, {tokens} tokens", owed)), flush=True)
        found = live(runs, browser, 12, 4000, seconds, everything=True)
        # The budget is that of eight panels; more of them cost more.
        print("\n".join(rows(found, "every section open, 4000 px tall", 8192, None)), flush=True)
        opened = history(runs, browser, 500)
        print(line("opening 500 snapshots", opened["kB"], 400, "kB"))
        print(line("opening 500 snapshots, connected to drawn", opened["seconds"], 1, "s", 2))
        print(line("one scrubbed step, median", opened["scrub"], 8, "ms", 1))
        browser.close()
    print(f"\nFour arms of {SEEDS} seeds, four commits a second; load {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()
