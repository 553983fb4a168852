"""The component that pages place: one element, mounted once, that owns the whole live view."""

import time
from collections.abc import Callable
from typing import Any, Literal

import streamlit as st

from sandbox.live.routes import BUNDLE, address_of
from sandbox.live.tokens import LIFETIME, Permission, Tokens

FORK = "fork"
"""What the view calls the step to go on from when it tells the page."""

# Streamlit sends this script with every mount, so it only imports the real one, which the page has asked for.
LOADER = """
export default function (component) {
  const { parentElement, data, setTriggerValue } = component;
  const address = new URL(data.script, document.baseURI);
  let gone = false;
  let leave = null;
  const complaint = "The live view could not be loaded; reload the page.";
  import(address.href)
    .then((module) => { if (!gone) leave = module.mount(parentElement, data, setTriggerValue); })
    .catch(() => { parentElement.querySelector(".acs-live").textContent = complaint; });
  return () => { gone = true; if (leave) leave(); };
}
"""

_live_view = st.components.v2.component(
    "attention_conditioning_sandbox.live",
    html='<div class="acs-live" data-state="waiting"></div>',
    js=LOADER,
    isolate_styles=False,
)


def live_data(
    run_id: str, token: str, mode: Literal["live", "replay"] = "live", panels: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """What the browser needs to build a live view."""
    return {"run": run_id, "token": token, "mode": mode, "panels": panels}


def live_view(
    run_id: str,
    *,
    key: str,
    mode: Literal["live", "replay"] = "live",
    height: int | None = None,
    steer: bool = False,
    panels: tuple[str, ...] | None = None,
    on_continue: Callable[[int], None] | None = None,
    address: str = "",
    shown: dict[str, Any] | None = None,
) -> None:
    """Place the live view of a run (or of `recorded:NAME`) on the page; call it outside any fragment.

    `mode="replay"` plays what is recorded from the start; `steer` shows the buttons that act on the run;
    `panels` limits which panels stand there, by kind; `on_continue` is called with the step that somebody
    wants to go on from. `address` is the run's own, to which a button adds what is shown, and `shown` is
    what such an address said. Without `height` it is as tall as its panels.
    """
    data = live_data(run_id, signed(run_id, steer, key), mode, panels)

    def asked() -> None:
        step = (st.session_state.get(key) or {}).get(FORK)
        if on_continue is not None and isinstance(step, int):
            on_continue(step)

    _live_view(
        key=key,
        data=data | {"script": address_of(BUNDLE), "height": height, "address": address, "shown": shown},
        on_fork_change=asked,  # named after FORK
    )


def signed(run_id: str, steer: bool, key: str) -> str:
    """A token for the view under `key`; the same one for a while."""
    # The same token for a while: new data makes the browser run the loader again. An open view
    # renews its own token through its socket.
    place = f"_live_token_{key}"
    kept = st.session_state.get(place)
    now = time.time()
    if kept is None or kept[0] != (run_id, steer) or now - kept[2] > LIFETIME / 2:
        kept = ((run_id, steer), Tokens().sign(Permission(run_id, steer)), now)
        st.session_state[place] = kept
    return str(kept[1])
