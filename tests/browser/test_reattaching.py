"""A run lives on the server: what loses the network comes back by itself, with the whole history (C25)."""

import pytest
from playwright.sync_api import WebSocketRoute, expect

from sandbox.live.wire import RowsBlock, decode
from sandbox.store import open_run
from tests.browser.conftest import Open
from tests.browser.serving import App
from tests.browser.watching import Watched

pytestmark = pytest.mark.e2e


def test_a_lost_network_loses_nothing_and_the_view_comes_back_where_it_was(
    app: App, training: Watched, open_page: Open
) -> None:
    training.beyond(5)
    run_id = training.run_id
    routes: list[WebSocketRoute] = []
    received: list[bytes] = []
    away = [False]

    def through(route: WebSocketRoute) -> None:
        if away[0]:
            route.close(code=1011, reason="no network")
            return
        server = route.connect_to_server()
        routes.append(route)

        def keep(message: str | bytes) -> None:
            if isinstance(message, bytes):
                received.append(message)
            route.send(message)

        server.on_message(keep)

    back = Watched(open_page("about:blank"))
    back.page.route_web_socket(lambda address: "/live/ws/" in address, through)
    back.page.goto(app.run(run_id))
    back.beyond(10)
    back.page.get_by_role("radio", name="spectral:shift=0.5").first.click()
    view = back.page.locator(".acs-live")
    view.evaluate("(node) => { node.marked = 'the same'; }")
    away[0] = True
    for route in routes:
        route.close(code=1011, reason="no network")
    expect(back.page.locator(".acs-link")).to_contain_text("Connection lost")
    left_at = back.step()
    app.trained_to(run_id, left_at + 60)
    assert app.queued(run_id).state == "running"
    away[0] = False
    back.beyond(left_at + 59)
    expect(back.page.locator(".acs-link")).to_be_empty()
    assert view.evaluate("(node) => node.marked") == "the same"
    expect(back.page.get_by_role("radio", name="spectral:shift=0.5").first).to_be_checked()
    back.press("pause", "^Paused$")
    back.page.wait_for_timeout(1000)
    blocks = [block for data in received for block in decode(data).blocks if isinstance(block, RowsBlock)]
    evaluated = {int(step) for block in blocks for step in block.steps}
    with open_run(app.runs / run_id) as run:
        steps, _ = run.curve("test_loss", run.arms[0], run.seeds[0])
    assert len(steps) > 3 and {int(step) for step in steps} <= evaluated
