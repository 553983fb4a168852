"""A live knob changes at a step, is told as an event, and a resumed run goes on with it bit for bit."""

import json
from pathlib import Path

import numpy as np
import pytest

from sandbox.experiment.live_change import changed, live_values
from sandbox.foundations.errors import InvalidKnob, RunUnavailable, SandboxError
from sandbox.runner.execution import Execution
from sandbox.runner.live_requests import ANSWERED, REQUESTS, Requests, request_change, unanswered
from sandbox.runner.live_settings import planned_changes
from sandbox.store import Run, open_run
from sandbox.store.again import python_script
from tests.runner.small import assert_same_numbers, tiny_experiment

pytestmark = pytest.mark.slow

SPECTRAL = "spectral:shift=0.5"
EXPERIMENT = tiny_experiment(steps=12, arms=["standard", SPECTRAL, "constant"])
Ask = tuple[int, str, str, float]


def trained(folder: Path, asked: tuple[Ask, ...] = (), stop_after: int | None = None) -> Run:
    """Train to the end; each request is made as its step is done, and one step may end the first process."""

    def snapshot(taken) -> None:  # type: ignore[no-untyped-def]
        for step, *request in asked:
            if taken.step == step and execution.step == step:
                request_change(folder, *request)
        if taken.step == stop_after:
            execution.interrupt()

    execution = Execution(EXPERIMENT, folder, on_snapshot=snapshot)
    if execution.run()[0] == "stopped":
        Execution(EXPERIMENT, folder).run()
    return open_run(folder)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    home = tmp_path_factory.mktemp("live")
    asked = (
        (4, SPECTRAL, "projection.shift", 3.0),
        (4, SPECTRAL, "optimizer.learning_rate", 0.01),
        (6, "constant", "temperature.tau", 9.0),
        (6, "standard", "projection.shift", 1.0),
    )
    return {
        "plain": trained(home / "plain"),
        "changed": trained(home / "changed", asked),
        "resumed": trained(home / "resumed", asked, stop_after=7),
        "allowed": trained(home / "allowed", asked[:3]),  # without the request that is refused
    }


def test_nothing_moves_before_the_change_and_only_its_arm_after(runs: dict[str, Run]) -> None:
    for arm, step in ((SPECTRAL, 4), ("constant", 6), ("standard", 12)):
        before, after = (runs[name].group_curve("loss", arm)[1] for name in ("plain", "changed"))
        np.testing.assert_array_equal(before[:step], after[:step])
        assert step == 12 or not np.array_equal(before[step:], after[step:])


def test_the_corrected_matrices_follow_the_change(runs: dict[str, Run]) -> None:
    steps, kappa = runs["changed"].reading_column("condition numbers", "query", SPECTRAL)
    _, unchanged = runs["plain"].reading_column("condition numbers", "query", SPECTRAL)
    later = list(steps).index(5)
    assert np.array_equal(kappa[:later], unchanged[:later])
    assert (kappa[later] < unchanged[later]).all()


def test_each_change_is_an_event_that_says_what_became_stale(runs: dict[str, Run]) -> None:
    found = [(e.step, e.arm, e.detail) for e in runs["changed"].events() if e.kind == "live change"]
    assert [(step, arm) for step, arm, _ in found] == [(4, SPECTRAL), (6, "constant")]
    assert (
        "projection.shift from 0.5 to 3" in found[0][2] and "learning_rate from 0.001 to 0.01" in found[0][2]
    )
    assert all("certificates computed before" in detail for _, _, detail in found)
    assert [change["step"] for change in runs["changed"].meta("changes")] == [4, 4, 6]


def test_what_cannot_change_is_an_event_too(runs: dict[str, Run]) -> None:
    (refused,) = [e for e in runs["changed"].events() if e.kind == "live change refused"]
    assert refused.step == 6 and "optimizer.learning_rate" in refused.detail
    assert runs["changed"].meta(ANSWERED) == 4 and unanswered(runs["changed"]) == []


def test_a_resumed_run_keeps_its_changes_bit_for_bit(runs: dict[str, Run]) -> None:
    assert_same_numbers(runs["changed"], runs["resumed"])


def test_only_live_knobs_change_and_only_within_bounds() -> None:
    setting = EXPERIMENT.setting(SPECTRAL)
    assert live_values(setting) == {"projection.shift": 0.5, "optimizer.learning_rate": 1e-3}
    assert live_values(changed(setting, "projection.shift", 2))["projection.shift"] == 2.0
    for key, value in (
        ("projection.heads", "first"),
        ("model.d_model", 8),
        ("projection.shift", 1e9),
        ("projection.shift", "x"),
        ("", 1.0),
    ):
        with pytest.raises(InvalidKnob):
            changed(setting, key, value)


def test_damaged_lines_are_nobodys_request(tmp_path: Path) -> None:
    requests = Requests(tmp_path)
    assert requests.new() == []
    request_change(tmp_path, "standard", "optimizer.learning_rate", 0.1)
    with open(tmp_path / REQUESTS, "ab") as file:
        file.write(b'{"arm": 3}\nnot json\n[]\n')
    request_change(tmp_path, "standard", "optimizer.learning_rate", 0.2)
    with open(tmp_path / REQUESTS, "ab") as file:
        file.write(json.dumps({"arm": "standard"}).encode())  # still being written
    assert [request["value"] for request in requests.new()] == [0.1, 0.2]
    assert requests.new() == [] and requests.n_read == 5


def test_what_is_no_file_holds_no_request(tmp_path: Path) -> None:
    (tmp_path / REQUESTS).mkdir()
    assert Requests(tmp_path).new() == []
    with pytest.raises(RunUnavailable, match="cannot be written"):
        request_change(tmp_path, "standard", "optimizer.learning_rate", 0.1)
    (tmp_path / REQUESTS).rmdir()
    (tmp_path / REQUESTS).symlink_to(REQUESTS)
    assert Requests(tmp_path).new() == []


def test_a_run_that_is_not_there_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(RunUnavailable, match="no run folder"):
        request_change(tmp_path / "none", "standard", "optimizer.learning_rate", 0.1)


def test_the_script_of_a_run_makes_the_same_changes_and_comes_to_the_same_bits(
    runs: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = python_script(runs["allowed"])
    assert "Knobs that were changed during the run are changed again." in script
    monkeypatch.chdir(tmp_path)
    exec(compile(script, "again.py", "exec"), {"__name__": "__main__"})
    with open_run(tmp_path / "allowed-again") as again:
        assert_same_numbers(runs["allowed"], again)
        assert again.meta("changes") == runs["allowed"].meta("changes")
        told = [[(e.step, e.arm, e.detail) for e in run.events() if e.kind == "live change"]
                for run in (runs["allowed"], again)]  # fmt: skip
        assert told[0] == told[1]


def test_planned_changes_outlive_an_interruption(runs: dict[str, Run], tmp_path: Path) -> None:
    planned = planned_changes(EXPERIMENT, runs["allowed"].meta("changes"))

    def stop(taken) -> None:  # type: ignore[no-untyped-def]
        if taken.step == 5:
            execution.interrupt()

    execution = Execution(EXPERIMENT, tmp_path / "again", changes=planned, on_snapshot=stop)
    assert execution.run()[0] == "stopped"
    Execution(EXPERIMENT, tmp_path / "again", changes=planned).run()
    with open_run(tmp_path / "again") as again:
        assert_same_numbers(runs["allowed"], again)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"step": 12, "arm": SPECTRAL, "key": "projection.shift", "value": 1.0},
            "training goes from 0 to 12",
        ),
        ({"step": 3, "arm": "other", "key": "projection.shift", "value": 1.0}, "arm 'other'"),
        ({"step": 3, "arm": SPECTRAL, "key": "projection.kind", "value": 1.0}, "cannot change during a run"),
        ({"step": 3, "arm": SPECTRAL, "key": "projection.shift", "value": "x"}, "shift"),
    ],
)
def test_a_planned_change_that_cannot_be_made_is_refused_before_anything_starts(
    change: dict[str, object], words: str
) -> None:
    with pytest.raises(SandboxError, match=words):
        planned_changes(EXPERIMENT, [change])
