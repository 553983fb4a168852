"""A run says which engine trains each arm and why, and marks where it goes on with another."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sandbox.engine import choice
from sandbox.engine.native import coverage
from sandbox.engine.setting import GroupSetting
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import Experiment
from sandbox.foundations.errors import EngineUnavailable
from sandbox.runner.execution import Execution
from sandbox.store import RunWriter, open_run
from tests.runner.small import tiny_experiment

VISUAL: dict[str, Any] = {"model": {"kind": "visual model", "d_ff": 8}, "arms": ["standard"]}
LONG = {"kind": "listops", "max_length": 150, "max_depth": 3, "n_train": 64, "n_test": 64}


@pytest.fixture(autouse=True)
def as_if_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """The native engine is chosen as if it were built; torch stands in for it, so this runs anywhere."""

    def group_for(setting: GroupSetting, seeds: Sequence[int], device: str, engine: str) -> TorchGroup:
        assert engine in choice.ENGINES[1:]
        return TorchGroup(setting, seeds, device)

    monkeypatch.setattr("sandbox.runner.engines.group_for", group_for)
    monkeypatch.setattr(coverage, "found_build", lambda: ("some-build", ""))


def visual(**changes: Any) -> Experiment:
    """The visual model on the tiny task."""
    return tiny_experiment(**VISUAL, **changes)


def part_of(experiment: Experiment, folder: Path, engine: str) -> None:
    """Train a few steps and stop at a checkpoint."""
    execution = Execution(experiment, folder, engine=engine)
    turn = execution._turn

    def one_turn() -> None:
        turn()
        execution.interrupt()

    execution._turn = one_turn  # type: ignore[method-assign]
    assert execution.run()[0] == "stopped"


def described(folder: Path, experiment: Experiment) -> dict[str, Any]:
    writer = RunWriter.open(folder, experiment.to_plain())
    try:
        return writer.described("engines")
    finally:
        writer.close()


def switches(folder: Path) -> list[tuple[str | None, str]]:
    return [(event.arm, event.detail) for event in open_run(folder).events() if event.kind == "engine"]


def test_the_engine_and_the_reason_of_every_arm_are_recorded(tmp_path: Path):
    part_of(visual(), tmp_path / "visual", "auto")
    assert described(tmp_path / "visual", visual()) == {"standard": {"engine": "native", "reason": ""}}
    other = tiny_experiment(task=LONG, arms=["standard", "preconditioned"])
    part_of(other, tmp_path / "other", "auto")
    found = described(tmp_path / "other", other)
    assert set(found) == {"standard", "preconditioned"}
    assert all(
        arm["engine"] == "torch" and arm["reason"].startswith("length 150: ") for arm in found.values()
    )


def test_a_run_resumed_as_it_was_has_no_switch(tmp_path: Path):
    for engine in ("auto", "native", "auto"):
        part_of(visual(), tmp_path / "run", engine)
    assert switches(tmp_path / "run") == []


def test_auto_keeps_the_engine_that_a_run_began_with(tmp_path: Path):
    part_of(visual(), tmp_path / "run", "torch")
    part_of(visual(), tmp_path / "run", "auto")
    assert switches(tmp_path / "run") == []
    assert described(tmp_path / "run", visual())["standard"]["engine"] == "torch"


def test_another_engine_at_a_checkpoint_is_an_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    part_of(visual(), tmp_path / "run", "torch")
    part_of(visual(), tmp_path / "run", "native")
    assert switches(tmp_path / "run") == [
        ("standard", "goes on with the native engine, after the torch engine")
    ]
    monkeypatch.setattr(coverage, "found_build", lambda: ("", "the native engine is not built"))
    part_of(visual(), tmp_path / "run", "auto")
    assert switches(tmp_path / "run")[1:] == [
        (
            "standard",
            "goes on with the torch engine, after the native engine: the native engine is not built",
        )
    ]


def test_asking_for_what_does_not_apply_is_refused(tmp_path: Path):
    with pytest.raises(EngineUnavailable, match="cannot train this: length 150"):
        Execution(tiny_experiment(task=LONG), tmp_path / "run", engine="native").run()
    assert open_run(tmp_path / "run").status["state"] == "failed"
