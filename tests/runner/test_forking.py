"""A run goes on from a step of another: the same bits where nothing is changed, and said where they part."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sandbox
from sandbox.experiment.experiment import load
from sandbox.foundations.errors import InvalidExperiment, InvalidKnob, InvalidPlain, SandboxError
from sandbox.runner.execution import Execution
from sandbox.runner.fork_plan import Plan, forked, read_steps
from sandbox.runner.forking import make_folder
from sandbox.runner.live_requests import request_change
from sandbox.store import Run, open_run
from sandbox.store.checkpoint import checkpoint_files, latest_checkpoint, read_start, save_checkpoint
from sandbox.store.summary import summarize
from tests.runner.small import CURVES, tiny_experiment

pytestmark = pytest.mark.slow

SPECTRAL = "spectral:shift=0.5"
TURNED = "spectral:shift=2"
"""What that arm is called from step 6 on, where its knob was turned."""


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """24 steps, with a checkpoint after step 10 and a live change of one arm at step 6."""
    folder = tmp_path_factory.mktemp("parent") / "old-parent"
    execution = Execution(tiny_experiment(), folder)
    turn = execution._turn

    def one_step() -> None:
        execution._seconds_per_step = 1.0
        if execution.step == 6:
            request_change(folder, SPECTRAL, "projection.shift", 2.0)
            execution._change()
        if execution.step == 10:
            execution._save()
        turn()

    execution._turn = one_step  # type: ignore[method-assign]
    with pytest.MonkeyPatch.context() as patch:  # so that some steps have no weights stored
        patch.setattr("sandbox.runner.timetable.snapshot_budget", lambda *_: 16)
        patch.setattr("sandbox.runner.execution.CHECKPOINT_EVERY", 1e9)  # only those of this fixture
        assert execution.run()[0] == "done"
    return open_run(folder)


def fork(parent: Run, folder: Path, step: int, **plan: Any) -> Run:
    plain = load(forked(parent, Plan(step=step, **plan))).to_plain()
    make_folder(folder, parent, plain)
    assert Execution(load(plain), folder).run()[0] == "done"
    return open_run(folder)


def details(run: Run, kind: str) -> dict[str | None, tuple[int, str]]:
    return {e.arm: (e.step, e.detail) for e in run.events() if e.kind == kind}


def assert_goes_on_as(child: Run, parent: Run, step: int) -> None:
    """Every loss, evaluation and weight that both have after `step`, to the last bit."""
    parent = parent.with_arms({SPECTRAL: TURNED})
    for arm in child.arms:
        columns = [parent.seeds.index(seed) for seed in child.seeds]
        for name in CURVES:
            here, there = child.group_curve(name, arm), parent.group_curve(name, arm)
            both = np.intersect1d(here[0], there[0])
            assert len(both) and both[-1] == 24 and (name != "loss" or len(both) == 24 - step)
            mine, theirs = (values[np.isin(at, both)] for at, values in (here, there))
            np.testing.assert_array_equal(mine, theirs[:, columns])
        np.testing.assert_array_equal(child.weights(24, arm), parent.weights(24, arm)[columns])


@pytest.mark.parametrize("step", [6, 10, 17, 23])
def test_a_rewound_run_ends_with_its_parents_bits(parent: Run, tmp_path: Path, step: int) -> None:
    child = fork(parent, tmp_path / "child", step)
    assert_goes_on_as(child, parent, step)
    assert child.experiment["fork"]["run"] == "old-parent" and child.experiment["fork"]["step"] == step
    again = "by way of the checkpoint at step 10" in details(child, "fork")[None][1]
    assert again == (10 < step < 24)  # where checkpoints are, at the ends also
    assert child.arms == ("standard", TURNED), "an arm is called by what it is set to"
    assert min(child.group_curve("loss", TURNED)[0]) == step + 1
    assert {arm: where for arm, (where, _) in details(child, "no difference").items()} == dict.fromkeys(
        child.arms, 24
    )
    replayed = details(child, "replay")
    stored = step in parent.weight_steps("standard")
    began = {6: "was taken up", 10: "was taken up", 17: "step 10", 23: "step 10"}[step]
    for _, detail in replayed.values():
        assert began in detail and ("bit for bit the weights" in detail) == stored


def test_what_was_changed_later_by_hand_is_not_done_again(parent: Run, tmp_path: Path) -> None:
    child = fork(parent, tmp_path / "child", 3)
    assert "bit for bit" in details(child, "replay")[SPECTRAL][1]
    assert details(child, "no difference").keys() == {"standard"}
    assert details(child, "divergence")[SPECTRAL][0] == 7


def test_some_seeds_and_arms_can_go_on_alone(parent: Run, tmp_path: Path) -> None:
    child = fork(parent, tmp_path / "child", 12, arms=[SPECTRAL], seeds=[11])
    assert (child.arms, child.seeds) == ((TURNED,), (11,))
    assert_goes_on_as(child, parent, 12)


def test_a_fork_needs_nothing_of_a_parent_that_is_gone(parent: Run, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / parent.id
    shutil.copytree(parent.path, copy)
    plain = load(forked(open_run(copy), Plan(step=13))).to_plain()
    make_folder(tmp_path / "child", open_run(copy), plain)
    shutil.rmtree(copy)
    Execution(load(plain), tmp_path / "child").run()
    child = open_run(tmp_path / "child")
    assert_goes_on_as(child, parent, 13)
    steps, ghost = child.group_curve("parent/loss", TURNED)
    at, losses = parent.group_curve("loss", SPECTRAL)
    np.testing.assert_array_equal(steps, at)
    np.testing.assert_array_equal(ghost, losses)


def test_the_plain_form_alone_leads_to_the_same_bits(parent: Run, tmp_path: Path) -> None:
    plain = load(forked(parent, Plan(step=9))).to_plain()
    assert load(load(plain).to_plain()).to_plain() == plain
    assert_goes_on_as(sandbox.train(load(plain), tmp_path / "child"), parent, 9)


def test_training_goes_on_beyond_the_limit(parent: Run, tmp_path: Path) -> None:
    child = fork(parent, tmp_path / "child", 24, steps=40)
    whole = sandbox.train(tiny_experiment(steps=40, arms=["standard"]), tmp_path / "whole")
    np.testing.assert_array_equal(child.weights(40, "standard"), whole.weights(40, "standard"))
    assert not details(child, "no difference") and not details(child, "divergence")


@pytest.mark.parametrize(
    ("key", "value", "parts_at"),
    [
        ("projection.shift", 3.0, 13),
        ("optimizer.learning_rate", 0.5, 14),
        ("optimizer.weight_decay", 1.0, 14),
        ("batch_size", 8, 13),
    ],
)
def test_the_first_step_that_differs_is_an_event(
    parent: Run, tmp_path: Path, key: str, value: float, parts_at: int
) -> None:
    child = fork(parent, tmp_path / "child", 12, settings=[(None, key, value)])
    told = details(child, "divergence")
    arm = "spectral:shift=3" if key == "projection.shift" else TURNED
    assert told[arm][0] == parts_at and "old-parent" in told[arm][1]
    here, there = child.curve("loss", arm, 3), parent.curve("loss", SPECTRAL, 3)
    same = parts_at - 13
    np.testing.assert_array_equal(here[1][:same], there[1][12 : 12 + same])
    assert not np.array_equal(here[1][same:], there[1][12 + same :])
    (_, detail) = details(child, "fork")[None]
    assert key in detail and "optimizer moments" in detail
    if key == "projection.shift":
        assert details(child, "no difference").keys() == {"standard"}


def test_one_arm_may_get_a_value_of_its_own(parent: Run, tmp_path: Path) -> None:
    child = fork(parent, tmp_path / "child", 12, settings=[("standard", "optimizer.learning_rate", 0.1)])
    assert details(child, "divergence").keys() == {"standard, learning_rate=0.1"}
    assert details(child, "no difference").keys() == {TURNED}


def test_a_fork_of_a_fork_begins_where_it_should(parent: Run, tmp_path: Path) -> None:
    rates = [(None, "optimizer.learning_rate", 0.1)]
    child = fork(parent, tmp_path / "child", 12, settings=rates)
    grandchild = fork(child, tmp_path / "grandchild", 20)
    assert grandchild.arms == child.arms == ("standard", TURNED)
    for arm in child.arms:
        np.testing.assert_array_equal(grandchild.weights(24, arm), child.weights(24, arm))
    assert len(grandchild.experiment["fork"]["stages"]) == 2
    assert list(grandchild.group_curve("parent/loss", "standard")[0]) == list(range(1, 25))
    alone = sandbox.train(load(grandchild.experiment), tmp_path / "alone")
    np.testing.assert_array_equal(alone.weights(24, TURNED), child.weights(24, TURNED))
    with pytest.raises(InvalidKnob, match="continue that run"):
        forked(grandchild, Plan(step=11))


@pytest.mark.parametrize("stop_at", [11, 15, 19])
def test_a_fork_that_was_stopped_goes_on_with_the_same_bits(
    parent: Run, tmp_path: Path, stop_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.runner.rewinding.MOST_AT_ONCE", 1)
    plain = load(forked(parent, Plan(step=16))).to_plain()
    make_folder(tmp_path / "child", parent, plain)

    def stop(_: str, step: int) -> None:
        if step >= stop_at:
            execution.interrupt()

    execution = Execution(load(plain), tmp_path / "child", on_beat=stop)
    monkeypatch.setattr("sandbox.runner.standing.COMMIT_EVERY", 0.0)
    assert execution.run()[0] == "stopped"
    found = read_start(tmp_path / "child")
    assert found is not None and found[0] == min(stop_at, 16)
    assert bool(checkpoint_files(tmp_path / "child")) == (stop_at > 16)
    Execution(load(plain), tmp_path / "child").run()
    assert_goes_on_as(open_run(tmp_path / "child"), parent, 16)


def test_the_time_of_a_fork_is_its_own(parent: Run, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / parent.id
    shutil.copytree(parent.path, copy)
    at, state = latest_checkpoint(copy) or (0, {})
    assert at == 24 and state["clock"][0] > 0
    save_checkpoint(copy, 24, state | {"clock": np.full(3, 1e6)})
    child = fork(open_run(copy), tmp_path / "child", 24, steps=30)
    assert child.status["seconds"] < 1e3
    assert all(line.seconds_per_step is not None and line.seconds_per_step < 100 for line in summarize(child))


def test_two_arms_that_swap_their_values_keep_apart(tmp_path: Path) -> None:
    both = ["spectral:shift=0.5", "spectral:shift=2"]
    sandbox.train(tiny_experiment(steps=6, seeds=[3], arms=both), tmp_path / "swap-parent")
    parent = open_run(tmp_path / "swap-parent")
    swapped = [(arm, "projection.shift", value) for arm, value in zip(both, (2.0, 0.5), strict=True)]
    child = fork(parent, tmp_path / "child", 6, steps=9, settings=swapped)
    assert child.arms == ("spectral:shift=2", "spectral:shift=0.5")
    for place, name in enumerate(child.arms):
        np.testing.assert_array_equal(
            child.group_curve("parent/loss", name)[1], parent.group_curve("loss", both[place])[1]
        )


def test_new_seeds_start_at_step_0_beside_the_parents_mean(parent: Run, tmp_path: Path) -> None:
    child = fork(parent, tmp_path / "child", 0, seeds=[5])
    fresh = sandbox.train(tiny_experiment(seeds=[5]), tmp_path / "fresh")
    np.testing.assert_array_equal(child.weights(24, "standard"), fresh.weights(24, "standard"))
    _, ghost = child.group_curve("parent/loss", "standard")
    np.testing.assert_allclose(ghost[:, 0], parent.group_curve("loss", "standard")[1].mean(axis=1))
    assert child.meta("parent")["mean"] == 2
    assert not details(child, "divergence")


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"step": 25}, "trained from 0 to 24"),
        ({"step": -1}, "trained from 0 to 24"),
        ({"step": 24}, "give a higher limit, such as 1024"),
        ({"step": 5, "steps": 4}, "higher limit"),
        ({"step": 5, "seeds": [4]}, "no seed 4.*starts from step 0"),
        ({"step": 5, "arms": ["x"]}, "no arm 'x'"),
        ({"step": 5, "arms": []}, "No arm is chosen"),
        ({"step": 5, "settings": [(None, "task.length", 6)]}, "data and batch order"),
        ({"step": 5, "settings": [(None, "model.d_model", 8)]}, "moments are of the parent's model"),
        ({"step": 5, "settings": [(None, "optimizer.kind", "adam")]}, "kind cannot change"),
        ({"step": 5, "settings": [(None, "optimizer.speed", 1)]}, "no setting 'speed'"),
        ({"step": 5, "settings": [(None, "temperature.tau", 1)]}, "No arm of the fork has"),
        ({"step": 5, "settings": [(None, "shift", 1)]}, "no setting 'shift'"),
        ({"step": 5, "settings": [(None, "projection.heads", "first")]}, "what can change are live knobs"),
        ({"step": 5, "settings": [(None, "placement.epsilon", 1)]}, "."),
        ({"step": 5, "settings": [(None, "projection.shift", 1e9)]}, "shift"),
        ({"step": 5, "settings": [(None, "optimizer.learning_rate", "fast")]}, "learning_rate"),
        ({"step": 5, "settings": [(None, "batch_size", 0)]}, "batch_size"),
        ({"step": 5, "settings": [(None, "seeds", [1])]}, "new seeds from step 0"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(parent: Run, plan: dict[str, Any], words: str) -> None:
    with pytest.raises(SandboxError, match=words) as refused:
        load(forked(parent, Plan(**plan)))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("damage", ["run", "stages", "values", "until", "arm", "extra"])
def test_a_damaged_plain_form_is_refused(parent: Run, damage: str) -> None:
    plain = forked(parent, Plan(step=9))
    bad: dict[str, Any] = {
        "run": {"run": 3},
        "stages": {"stages": []},
        "values": {"values": [{"step": 9}]},
        "until": {"stages": [plain["fork"]["stages"][0] | {"until": 8}]},
        "arm": {"values": [{"step": 9, "arm": "nobody", "key": "optimizer.learning_rate", "value": 1.0}]},
        "extra": {"more": 1},
    }
    with pytest.raises((InvalidPlain, InvalidExperiment)):
        load(plain | {"fork": plain["fork"] | bad[damage]})


def test_a_step_limit_is_a_number_or_so_many_more() -> None:
    assert read_steps("3000", 1500) == 3000 and read_steps("+1000", 1500) == 2500
    for text in ("", "+", "-5", "1e3", "many", "9" * 12):
        with pytest.raises(InvalidKnob):
            read_steps(text, 0)
