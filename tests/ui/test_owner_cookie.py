"""The owner's cookie: what this server signed comes back, and nothing else does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.runner.steering import ANYBODY
from sandbox.ui import owner_cookie, session
from sandbox.ui.owner_cookie import LONGEST, read, signed


@pytest.fixture(autouse=True)
def one_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_cookie, "read_secret", lambda: "a secret")


NAMES = st.text(min_size=1, max_size=40).filter(str.isprintable)


def test_every_name_comes_back_from_a_cookie_that_a_browser_takes() -> None:
    @given(NAMES)
    def check(name: str) -> None:
        value = signed(name)
        assert read(value) == name
        assert value.isascii() and not set(value) & set('";, \\') and len(value) < LONGEST

    check()


def test_what_is_not_ours_is_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    @given(st.text(max_size=LONGEST + 10))
    def check(value: str) -> None:
        assert read(value) == ""

    check()
    mine = signed("ann")
    monkeypatch.setattr(owner_cookie, "read_secret", lambda: "another secret")
    assert read(mine) == "" and read(signed("ann")) == "ann"
    assert read(mine[:-1]) == ""


def test_a_new_session_begins_with_the_name_of_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, object] = {}
    monkeypatch.setattr(session.st, "session_state", state)
    monkeypatch.setattr(owner_cookie, "remembered", lambda: "ann  b")
    assert session.owner() == "ann b"
    session.set_owner("")
    assert session.owner() == ANYBODY, "a name that was taken back stays away"
