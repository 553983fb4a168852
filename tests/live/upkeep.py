"""Looking after a page while its run goes on: which nodes stay, what shifts, what memory and frames do."""

import time
from typing import Any

from playwright.sync_api import Page

from tests.live.synthetic import SyntheticRun

MARK = """() => {
  const kept = '.acs-live, .acs-panel, .acs-panel canvas, .acs-live :is(button, input, select)';
  window.marked = [...document.querySelectorAll(kept)];
  Object.assign(window, { shifts: [], longest: 0, frames: 0 });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput)
      window.shifts.push([entry.value, ...entry.sources.map(({ node }) => node?.className ?? '')]);
  }).observe({ type: 'layout-shift' });
  const count = () => { window.frames++; requestAnimationFrame(count); };
  requestAnimationFrame(count);
}"""
STAYED = """() => {
  const kept = '.acs-live, .acs-panel, .acs-panel canvas, .acs-live :is(button, input, select)';
  const now = new Set(document.querySelectorAll(kept));
  return [window.marked.length, window.marked.filter((node) => now.has(node)).length];
}"""


def watch(page: Page) -> None:
    """Remember every node that a person may hold on to, and record what shifts from now on."""
    page.evaluate(MARK)


def seen(page: Page) -> dict[str, Any]:
    """How many of the remembered nodes there were and are, and what has shifted."""
    were, are = page.evaluate(STAYED)
    return {"were": were, "are": are, "shifts": page.evaluate("window.shifts")}


def heap(page: Page) -> float:
    """Megabytes that scripts hold once what is not needed is given back."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("HeapProfiler.collectGarbage")
    used = float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6
    session.detach()
    return used


def train(run: SyntheticRun, seconds: float, stride: int = 5) -> None:
    """Commit four times a second for a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        turn = time.monotonic()
        run.grow(run.step + stride)
        time.sleep(max(0.0, 0.25 - (time.monotonic() - turn)))
