"""Tokens: only ours, only fresh, only for the run they name."""

import os
import stat
import time
from pathlib import Path

import pytest

from sandbox.live.tokens import SECRET_FILE, Permission, TokenRefused, Tokens, read_secret


def test_a_token_gives_back_what_was_permitted() -> None:
    tokens = Tokens("secret")
    for steer in (True, False):
        permission = Permission("brisk-otter-1", steer)
        assert tokens.check(tokens.sign(permission), "brisk-otter-1") == permission


def test_a_token_of_another_run_is_refused() -> None:
    tokens = Tokens("secret")
    with pytest.raises(TokenRefused, match="another run"):
        tokens.check(tokens.sign(Permission("one")), "two")


def test_a_token_that_was_changed_anywhere_is_refused() -> None:
    tokens = Tokens("secret")
    token = tokens.sign(Permission("run"))
    for place in range(0, len(token), 3):
        other = "A" if token[place] != "A" else "B"
        with pytest.raises(TokenRefused):
            tokens.check(token[:place] + other + token[place + 1 :] + "", "run")


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é" * 40])
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(TokenRefused):
        Tokens("secret").check(token, "run")


def test_a_token_of_another_secret_is_refused() -> None:
    with pytest.raises(TokenRefused):
        Tokens("secret").check(Tokens("guess").sign(Permission("run", True)), "run")


def test_an_old_token_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = Tokens("secret", lifetime=60)
    token = tokens.sign(Permission("run"))
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 59)
    assert tokens.check(token, "run")
    monkeypatch.setattr(time, "time", lambda: now + 120)
    with pytest.raises(TokenRefused, match="reload"):
        tokens.check(token, "run")


def test_the_secret_is_made_once_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    first = read_secret(tmp_path / "runs")
    assert first == read_secret(tmp_path / "runs") and len(first) >= 32
    assert stat.S_IMODE(os.stat(tmp_path / "runs" / SECRET_FILE).st_mode) == 0o600
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [SECRET_FILE]
    assert first != read_secret(tmp_path / "other")


def test_the_environment_may_name_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_SECRET", "from the lab")
    assert read_secret() == "from the lab"


def test_a_runs_folder_that_cannot_be_written_has_a_secret_of_this_process(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    passing = read_secret(tmp_path / "file" / "runs")
    assert len(passing) >= 32 and passing == read_secret(tmp_path / "file" / "runs")
    (tmp_path / SECRET_FILE).write_text("")
    assert read_secret(tmp_path) == passing
