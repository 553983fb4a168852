"""What dies comes back: a killed worker goes on with the same numbers, an open page with a new server."""

import os
import signal
import time

import numpy as np
import pytest
from playwright.sync_api import expect

from sandbox.runner import queue
from sandbox.store import open_run
from tests.browser.conftest import Open
from tests.browser.serving import SHORT, App, eventually
from tests.browser.watching import Watched, say

pytestmark = pytest.mark.e2e


LASTING = SHORT | {"steps": 300, "evaluate_every": 100, "arms": ["standard", "linear"]}
"""Without kernels for one of its arms, so that there is time to kill it."""


def test_a_killed_worker_runs_again_and_changes_no_number(app: App, open_page: Open) -> None:
    undisturbed = queue.enqueue(queue.check(LASTING)["plain"], "local")
    assert app.ended(undisturbed).state == "done"
    run_id = queue.enqueue(queue.check(LASTING)["plain"], "local")
    watched = Watched(open_page(app.run(run_id)))
    folder = app.runs / run_id
    eventually(lambda: any(folder.glob("checkpoint-*")), what="the first checkpoint")
    watched.beyond(20)
    pid = app.queued(run_id).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()

    def again() -> bool:
        now = app.queued(run_id)
        return now.state == "running" and now.pid not in (None, pid) and now.attempt == 2

    eventually(again, what="a second worker")
    say(f"a new worker after {time.monotonic() - killed:.2f} s")
    assert app.ended(run_id).state == "done"
    expect(watched.state).to_have_text("Done")
    watched.beyond(LASTING["steps"] - 1)  # the word may arrive before the last picture
    with open_run(folder) as disturbed, open_run(app.runs / undisturbed) as calm:
        assert disturbed.scalar_names() == calm.scalar_names()
        for name in calm.scalar_names():
            for arm in calm.arms:
                (steps, values), (as_before, expected) = (
                    disturbed.group_curve(name, arm),
                    calm.group_curve(name, arm),
                )
                np.testing.assert_array_equal(steps, as_before)
                np.testing.assert_array_equal(values, expected)


def test_an_open_page_goes_on_by_itself_after_the_server_was_killed(app: App, training: Watched) -> None:
    training.beyond(3)
    before = training.step()
    app.ui().kill()
    killed = time.monotonic()
    expect(training.page.locator(".acs-link")).to_contain_text("Connection lost")
    eventually(app.healthy, what="the new server")
    back = time.monotonic()
    expect(training.page.locator(".acs-link")).to_be_empty()
    training.beyond(before)
    say(f"served again after {back - killed:.1f} s, drawn again {time.monotonic() - back:.1f} s later")
    training.press("pause", "^Paused$")
    expect(training.page.locator("table").filter(has_text="Held-out accuracy")).to_be_visible()
