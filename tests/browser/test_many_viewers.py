"""A pause with ten viewers beside the page is seen at once and takes effect within one update (C22)."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from sandbox.live.wire import SEQUENCE_AT
from tests.browser.conftest import Open
from tests.browser.serving import App, eventually
from tests.browser.watching import Watched, say

pytestmark = pytest.mark.e2e

VIEWERS = 10
STEP_AT = 4
"""Where the header of an update has its step."""
SEEN = 2500
"""Milliseconds; 300 is owed and measured by benchmarks/ui_costs.py, but a test machine may be busy."""
# Each viewer takes everything and says that it has drawn it, as a page does, and remembers the last step.
WATCH = """([address, count]) => {
  window.last = new Array(count).fill(-1);
  window.viewers = Array.from({ length: count }, (_, i) => {
    const socket = new WebSocket(address);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => socket.send(JSON.stringify({ since: -1 }));
    socket.onmessage = ({ data }) => {
      if (typeof data === 'string') {
        const { type, status } = JSON.parse(data);
        if (type === 'status') (window.states ??= [])[i] = status.state;
        return;
      }
      const view = new DataView(data);
      window.last[i] = view.getUint32(STEP, true);
      socket.send(JSON.stringify({ ack: view.getUint32(SEQUENCE, true) }));
    };
    return socket;
  });
}"""


@pytest.fixture
def crowd(app: App, training: Watched, open_page: Open) -> Iterator[Page]:
    """Ten sockets that watch the run of `training`, in a page of their own."""
    addresses: list[str] = []
    training.page.on("websocket", lambda socket: addresses.append(socket.url))
    training.page.reload()
    training.beyond(0)
    address = eventually(lambda: [a for a in addresses if "/live/ws/" in a], 30, "the live socket")[-1]
    page = open_page(f"{app.address}/_stcore/health")
    script = WATCH.replace("STEP", str(STEP_AT)).replace("SEQUENCE", str(SEQUENCE_AT))
    page.evaluate(script, [address, VIEWERS])
    page.wait_for_function("window.last.every((step) => step > 0)")
    yield page
    page.evaluate("window.viewers.forEach((socket) => socket.close())")


def test_a_pause_is_seen_at_once_and_acts_within_one_update(app: App, training: Watched, crowd: Page) -> None:
    for _ in range(3):
        training.beyond(training.step() + 2)
        seen = training.press("pause", "^Paus")
        expect(training.state).to_have_text("Paused")
        asked = app.queued(training.run_id).step
        training.page.wait_for_timeout(500)
        assert app.queued(training.run_id).step == asked
        training.page.wait_for_function(
            "(step) => document.querySelector('.acs-live')?.dataset.step === String(step)", arg=asked
        )
        crowd.wait_for_function(f"window.last.every((step) => step === {asked})")
        say(f"pause seen after {seen:.0f} ms with {VIEWERS} viewers")
        assert seen < SEEN
        training.press("resume", "^Running$")
