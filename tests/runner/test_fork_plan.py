"""A run that says nonsense of where it began is one sentence to who would fork it."""

from pathlib import Path
from typing import Any

import pytest

from sandbox.cli import main
from sandbox.foundations.errors import SandboxError
from sandbox.runner.fork_plan import Plan, forked, values_at
from sandbox.store import Run, RunWriter, open_run

CHANGE = {"step": 0, "arm": "standard", "key": "projection.shift", "value": 1.0}
FORK = {"run": "brisk-otter-7", "step": 50, "stages": [], "values": [CHANGE]}


def run_with(fork: Any, folder: Path) -> Run:
    plain = {"schema": 1, "steps": 100, "seeds": [0], "arms": [{"name": "standard"}], "fork": fork}
    with RunWriter.create(folder / "run", plain) as writer:
        writer.status("done", 100, 1.0)
    return open_run(folder / "run")


def test_a_fork_as_it_is_written_goes_on(tmp_path: Path) -> None:
    run = run_with(FORK, tmp_path)
    assert values_at(run, 50) == {("standard", "projection.shift"): 1.0}
    (value,) = forked(run, Plan(step=50, steps=200))["fork"]["values"]
    assert (value["step"], value["key"], value["value"]) == (50, "projection.shift", 1.0)


@pytest.mark.parametrize(
    "fork",
    [
        {"run": "../../x", "step": -5},
        {},
        FORK | {"step": -5},
        FORK | {"step": True},
        FORK | {"run": 5},
        FORK | {"stages": 5},
        FORK | {"stages": [{"until": 5}]},
        FORK | {"values": {"a": 1}},
        FORK | {"values": [5]},
        FORK | {"values": [CHANGE | {"arm": ["standard"]}]},
    ],
)
def test_junk_in_a_forks_place_is_one_sentence(
    fork: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SandboxError, match="which is no fork"):
        run_with(fork, tmp_path)
    assert main(["fork", str(tmp_path / "run"), "--step", "60"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "which is no fork" in err and err.count("\n") == 1
