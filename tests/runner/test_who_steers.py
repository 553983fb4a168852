"""Who may steer a run: everybody, or where the server says so its owner alone."""

import pytest

from sandbox.cli import main
from sandbox.foundations.errors import InvalidKnob, RunUnavailable
from sandbox.runner import queue, steering


@pytest.mark.parametrize("said", [None, "", "all", " ALL "])
def test_unless_the_server_says_otherwise_everybody_steers(
    monkeypatch: pytest.MonkeyPatch, said: str | None
) -> None:
    if said is not None:
        monkeypatch.setenv(steering.STEER, said)
    assert steering.who_steers() == steering.ALL and steering.refusal("ann", "bob") == ""
    steering.refuse_unknown()


@pytest.mark.parametrize(
    ("owner", "by", "allowed"),
    [("ann", "ann", True), ("ann", "bob", False), ("ann", "local", False), ("ann", "", False),
     ("local", "bob", True), ("local", "local", True), ("", "bob", True)],
)  # fmt: skip
def test_where_owners_steer_a_name_is_needed(
    monkeypatch: pytest.MonkeyPatch, owner: str, by: str, allowed: bool
) -> None:
    monkeypatch.setenv(steering.STEER, "owner")
    assert (steering.refusal(owner, by) == "") is allowed


def test_a_run_is_known_by_its_place_in_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = queue.enqueue({"schema": 1}, "ann")
    monkeypatch.setenv(steering.STEER, "owner")
    steering.require(run_id, "ann")
    steering.require("never-in-the-queue", "bob")
    with pytest.raises(RunUnavailable, match="This is ann's"):
        steering.require(run_id, "bob")


def test_another_word_is_refused_at_the_start_and_closed_until_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(steering.STEER, "nobody")
    assert steering.who_steers() == steering.OWNER
    with pytest.raises(InvalidKnob, match="must be 'all' or 'owner'"):
        steering.refuse_unknown()
    assert main(["serve", "--port", "0"]) == 2
    assert capsys.readouterr().err == "SANDBOX_STEER is 'nobody'; it must be 'all' or 'owner'.\n"
