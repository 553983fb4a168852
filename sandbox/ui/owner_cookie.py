"""Owner cookie: a browser keeps the name that its person has in the queue, signed by this server."""

import streamlit as st
from itsdangerous import BadSignature, URLSafeSerializer

from sandbox.live.tokens import read_secret

NAME = "acs_owner"
SALT = "sandbox owner"
SECONDS = 365 * 86_400
LONGEST = 400
"""Characters of a cookie that is looked at; ours are shorter."""

# Pages answer over a socket, where no header can set a cookie; so the page itself does.
SCRIPT = """
export default function ({ data }) {
  const safe = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${data.name}=${data.value}; path=/; max-age=${data.seconds}; SameSite=Lax${safe}`;
}
"""

_keep = st.components.v2.component(
    "attention_conditioning_sandbox.owner", html="<span hidden></span>", js=SCRIPT, isolate_styles=False
)


def keep(name: str) -> None:
    """Let this browser remember `name`, or forget it where that is empty; place it where it stays mounted."""
    data = {"name": NAME, "value": signed(name) if name else "", "seconds": SECONDS if name else 0}
    _keep(key="queue.cookie", data=data)


def remembered() -> str:
    """The name that this browser came with; empty where it has none that this server signed."""
    return read(str(st.context.cookies.get(NAME, "")))


def signed(name: str) -> str:
    """The cookie's value for a name."""
    return str(URLSafeSerializer(read_secret(), salt=SALT).dumps(name))


def read(value: str) -> str:
    """The name in a cookie's value; empty for what is not ours."""
    if not value or len(value) > LONGEST:
        return ""
    try:
        found = URLSafeSerializer(read_secret(), salt=SALT).loads(value)
    except BadSignature:
        return ""
    return found if isinstance(found, str) else ""
