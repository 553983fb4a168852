"""What the pages cost: memory, CPU of a fragment's tick, and how long a person waits for what was pressed.

    python benchmarks/ui_costs.py [--sessions N] [--rounds N]

Serves the real app with its supervisor in a folder of its own, drives it in Chromium while a run trains, and
prints a Markdown table with what is owed. What one live update costs (bytes, browser main thread, publish to
pixels) is measured by live_costs.py, which this calls unless --pages is given.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402
from playwright.sync_api import Browser, expect, sync_playwright  # noqa: E402

from sandbox.runner import queue  # noqa: E402
from sandbox.runner.control import RunControl  # noqa: E402
from tests.browser.serving import LONG, App, eventually  # noqa: E402
from tests.browser.watching import Watched, seconds_to_play  # noqa: E402
from tests.live.serving import FLAGS  # noqa: E402

IDLE_SECONDS = 12.0

STEPPED = """() => new Promise((resolve) => {
  const root = document.querySelector('.acs-live'), before = root.dataset.step, began = performance.now();
  const look = () => {
    if (root.dataset.step !== before) resolve(performance.now() - began);
    else requestAnimationFrame(look);
  };
  [...root.querySelectorAll('button')].find((b) => b.title.startsWith('Train one')).click();
  look();
})"""


def megabytes(process: psutil.Process) -> float:
    """Resident memory of the process in MB."""
    return float(process.memory_info().rss) / 1e6


def cpu_seconds(process: psutil.Process) -> float:
    """User and system time of the process so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


def cpu_per_second(process: psutil.Process, seconds: float) -> float:
    """CPU seconds per second over a while in which nobody does anything."""
    before, began = cpu_seconds(process), time.monotonic()
    time.sleep(seconds)
    return (cpu_seconds(process) - before) / (time.monotonic() - began)


def fragment_ms(app: App, browser: Browser, process: psutil.Process, viewers: int = 4) -> float:
    """CPU of one tick of the fragment under a run: what `viewers` pages of a run cost more than none.

    The run is queued but its trainer is stopped by SIGSTOP, so that no live update is counted; ticks come
    once a second.
    """
    run_id = queue.enqueue(queue.check(LONG)["plain"], "benchmark")
    app.trained_to(run_id, 60)
    trainer = psutil.Process(app.queued(run_id).pid)
    trainer.suspend()
    try:
        time.sleep(4.0)
        resting = cpu_per_second(process, IDLE_SECONDS)
        contexts = [browser.new_context() for _ in range(viewers)]
        for context in contexts:
            page = context.new_page()
            page.goto(app.run(run_id))
            page.locator("table").filter(has_text="Held-out accuracy").wait_for()
        time.sleep(4.0)
        busy = cpu_per_second(process, IDLE_SECONDS)
        for context in contexts:
            context.close()
    finally:
        trainer.resume()
        queue.stop(run_id)
        app.ended(run_id)
    return 1000 * (busy - resting) / viewers


def first_pictures(app: App, browser: Browser, rounds: int) -> list[float]:
    """Milliseconds from the click on Train to the first picture; the browser has shown Home before."""
    found = []
    context = browser.new_context()
    for _ in range(rounds):
        watched = Watched(context.new_page())
        watched.page.goto(app.address)
        watched.page.wait_for_selector(".acs-live[data-step]")
        watched.page.goto(app.setup(LONG))
        found.append(watched.train())
        queue.stop(watched.run_id)
        app.ended(watched.run_id)
        watched.page.close()
    context.close()
    return found


def presses(app: App, browser: Browser, rounds: int) -> dict[str, list[float]]:
    """Milliseconds from a press to the word that acknowledges it, and to the word that it has been done."""
    watched = Watched(browser.new_context().new_page())
    watched.page.goto(app.setup(LONG))
    watched.train()
    watched.beyond(5)
    found: dict[str, list[float]] = {name: [] for name in ("seen", "pause", "step", "resume", "stop")}
    for _ in range(rounds):
        found["pause"].append(watched.press("pause", "^Paused$"))
        watched.page.wait_for_timeout(400)
        found["step"].append(stepped(watched))
        watched.page.wait_for_timeout(400)
        found["resume"].append(watched.press("resume", "^Running$"))
        watched.page.wait_for_timeout(1500)
        found["seen"].append(watched.press("pause", "^Paus"))
        watched.page.wait_for_timeout(600)
        watched.press("resume", "^Running$")
        watched.page.wait_for_timeout(800)
    found["stop"].append(watched.press("stop", "^Stopped$"))
    app.ended(watched.run_id)
    watched.page.context.close()
    return found


def stepped(watched: Watched) -> float:
    """Milliseconds from a press on Step to the picture of the next step."""
    return float(watched.page.evaluate(STEPPED))


def recoveries(app: App, rounds: int) -> list[float]:
    """Milliseconds from kill -9 of a worker to the first word of its successor that it trains."""
    found = []
    run_id = queue.enqueue(queue.check(LONG)["plain"], "benchmark")
    for _ in range(rounds):
        app.trained_to(run_id, app.queued(run_id).step + 30)
        eventually(lambda: any((app.runs / run_id).glob("checkpoint-*")))
        old = app.queued(run_id).pid
        psutil.Process(old).kill()
        began = time.monotonic()
        eventually(lambda old=old: app.queued(run_id).pid not in (None, old))
        started = app.queued(run_id).heartbeat
        eventually(lambda started=started: app.queued(run_id).heartbeat != started)
        found.append(1000 * (time.monotonic() - began))
    with RunControl(app.runs / run_id) as control:
        control.stop()
    app.ended(run_id)
    return found


def sessions(app: App, browser: Browser, process: psutil.Process, n: int) -> float:
    """Memory of the UI process with `n` browser sessions on it, half of them on a training run."""
    run_id = queue.enqueue(queue.check(LONG)["plain"], "benchmark")
    app.trained_to(run_id, 20)
    contexts = [browser.new_context() for _ in range(n)]
    for number, context in enumerate(contexts):
        page = context.new_page()
        page.goto(app.run(run_id) if number % 2 else app.address)
        page.wait_for_selector(".acs-live[data-step]")
    time.sleep(3.0)
    found = megabytes(process)
    for context in contexts:
        context.close()
    queue.stop(run_id)
    app.ended(run_id)
    return found


def openings(app: App, browser: Browser, rounds: int, again: bool) -> list[float]:
    """Seconds from asking for Home until its recorded run plays; `again` in browsers that saw it before."""
    found = []
    for _ in range(rounds):
        context = browser.new_context()
        for _ in range(2 if again else 1):
            page = context.new_page()
            took = seconds_to_play(page, app.address)
            page.wait_for_selector("[data-testid=stMain] .acs-live")
            page.close()
        found.append(took)
        context.close()
    return found


def row(what: str, value: float, unit: str, owed: float) -> str:
    """One line of the table; a missed target is marked in words."""
    missed = "" if value <= owed else " **missed**"
    shown = f"{value:.2f}" if unit == "s" else f"{value:.0f}" if value >= 20 else f"{value:.1f}"
    return f"| {what} | {shown} {unit}{missed} | {owed:g} {unit} |"


def measure(runs: Path, chromium: str, n_sessions: int, rounds: int) -> list[str]:
    """All rows of the table."""
    os.environ["SANDBOX_RUNS"] = str(runs)
    expect.set_options(timeout=60_000)
    app = App(runs)
    lines: list[str] = []
    say = lines.append
    try:
        app.wait()
        process = app.ui()
        time.sleep(3.0)
        say(row("UI process before the first page", megabytes(process), "MB", 150))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            for browser_kind, again in (("fresh browser", False), ("a browser that was here before", True)):
                took = median(openings(app, browser, rounds, again))
                say(row(f"Home asked for to its recorded run playing, {browser_kind}, median", took, "s", 1))
            say(
                row(
                    f"UI process with {n_sessions} sessions",
                    sessions(app, browser, process, n_sessions),
                    "MB",
                    200,
                )
            )
            say(row("CPU of a fragment's tick", fragment_ms(app, browser, process), "ms", 10))
            say(
                row(
                    "Train to first picture, warm, median",
                    median(first_pictures(app, browser, rounds)) / 1000,
                    "s",
                    1,
                )
            )
            pressed = presses(app, browser, rounds)
            say(row("pause is acknowledged", median(pressed["seen"]) / 1000, "s", 0.3))
            for name in ("pause", "step", "resume", "stop"):
                say(row(f"{name} is done and seen", median(pressed[name]) / 1000, "s", 0.3))
            browser.close()
        say(row("worker killed to running again", median(recoveries(app, rounds)) / 1000, "s", 2))
    finally:
        app.close()
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pages", action="store_true", help="without the costs of a live update")
    options = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    print("| what | measured | owed, at most |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        print("\n".join(measure(Path(folder), chromium, options.sessions, options.rounds)))
    print(f"\nLoad {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n", flush=True)
    if not options.pages:
        subprocess.run([sys.executable, str(ROOT / "benchmarks" / "live_costs.py")], check=True)


if __name__ == "__main__":
    main()
