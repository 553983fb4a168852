"""Weight selection: evenly spaced entries of a stored teacher, and one sentence where that cannot be."""

import numpy as np
import pytest

import sandbox
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.describe import check
from sandbox.experiment.experiment import load
from sandbox.experiment.presets import preset
from sandbox.foundations.errors import InvalidExperiment, InvalidKnob, RunUnavailable, SandboxError
from sandbox.initialization.weight_selection import evenly_spaced, select
from sandbox.store import open_run, runs_root
from sandbox.store.recorded import stored_run_path

TASK = {"kind": "sparse modular addition", "length": 6, "n_terms": 2, "n_train": 40, "n_test": 16}
TEACHER = {"kind": "encoder", "d_model": 12, "n_heads": 2, "n_layers": 2, "d_ff": 10}
RECORDED = "recorded:conditioned-against-standard"
STUDENT = TEACHER | {"d_model": 8, "n_layers": 1, "d_ff": 5}


def plain(model, arm="standard", **more):
    return {"task": TASK, "model": model, "arms": [arm], "batch_size": 8, "steps": 3, "seeds": [4, 7]} | more


def student(arm, model=STUDENT, **more):
    experiment = load(plain(model, arm, **more))
    return TorchGroup(experiment.setting(arm), experiment.seeds)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A runs folder with one trained teacher, `wise-owl`."""
    root = tmp_path_factory.mktemp("teachers")
    sandbox.train(load(plain(TEACHER)), out=root / "wise-owl")
    return root


@pytest.fixture(autouse=True)
def stored(runs, monkeypatch):
    monkeypatch.setenv("SANDBOX_RUNS", str(runs))


def test_entries_are_evenly_spaced():
    assert evenly_spaced(6, 3).tolist() == [0, 2, 4]
    assert evenly_spaced(12, 8).tolist() == [0, 1, 3, 4, 6, 7, 9, 10]
    assert evenly_spaced(5, 5).tolist() == [0, 1, 2, 3, 4]


def test_every_weight_of_the_student_stands_in_the_teacher():
    theirs = open_run(runs_root() / "wise-owl")
    layout = theirs.layout("standard")
    offsets = np.cumsum([0, *(int(np.prod(shape)) for shape in layout["shapes"])])
    row = theirs.weights(3, "standard")[1]
    teacher = {
        name: row[a:b].reshape(shape)
        for name, shape, a, b in zip(layout["names"], layout["shapes"], offsets, offsets[1:], strict=False)
    }
    taught = student("weight-selection:run=wise-owl,seed=7")
    mine = taught.layout.unflatten(taught.theta())
    columns = evenly_spaced(12, 8)
    for part in ("w_query", "w_key", "w_value", "w_out"):
        name = f"blocks.0.attention.{part}.weight"
        expected = teacher[name][np.ix_(columns, columns)]
        assert np.array_equal(mine[name][0], expected) and np.array_equal(mine[name][1], expected)
    assert np.array_equal(mine["tokens.weight"][0], teacher["tokens.weight"][:, columns])
    hidden = teacher["blocks.0.feed_forward.0.weight"][np.ix_(evenly_spaced(10, 5), columns)]
    assert np.array_equal(mine["blocks.0.feed_forward.0.weight"][0], hidden)


def test_a_model_of_the_teachers_size_starts_where_the_teacher_ended():
    taught = student("weight-selection:run=wise-owl,step=2", TEACHER)
    assert np.array_equal(taught.theta()[0], open_run(runs_root() / "wise-owl").weights(2, "standard")[0])


def test_it_trains_and_resumes_bit_for_bit():
    arm = "weight-selection:run=wise-owl"
    straight, first, second = student(arm), student(arm), student(arm)
    assert np.isfinite(straight.advance(3)).all()
    first.advance(1)
    second.load(first.state())
    second.advance(2)
    assert np.array_equal(straight.theta(), second.theta())


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ("", InvalidExperiment, "names no teacher"),
        (":run=nobody", RunUnavailable, "no run folder"),
        (":run=../wise-owl", InvalidKnob, "text of the form"),
        (":run=/etc", InvalidKnob, "text of the form"),
        (":run=wise-owl,arm=1", InvalidExperiment, "has 1 arms"),
        (":run=wise-owl,seed=5", InvalidExperiment, "has the seeds"),
        (":run=wise-owl,step=99", SandboxError, "99"),
        (":run=recorded:nobody", RunUnavailable, "the recorded runs are conditioned-against-standard"),
        (":run=recorded:../wise-owl", InvalidKnob, "text of the form"),
        (f":run={RECORDED},arm=1", InvalidExperiment, r"no weights of its arm 'spectral.*take the arm 0 "),
        (f":run={RECORDED},step=40", SandboxError, "1500"),
    ],
)
def test_a_teacher_that_is_not_there_gets_one_sentence(settings, error, words):
    with pytest.raises(error, match=words):
        student(f"weight-selection{settings}")


@pytest.mark.parametrize(
    ("model", "task", "words"),
    [
        (STUDENT | {"d_model": 16}, {}, "choose a larger teacher"),
        (STUDENT | {"n_layers": 3}, {}, "cannot take|finds no"),
        (STUDENT, {"modulus": 3, "n_train": 40}, "as many rows"),
        (STUDENT, {"length": 7}, "no more entries"),
    ],
)
def test_shapes_that_cannot_be_selected_get_one_sentence(model, task, words):
    with pytest.raises(InvalidExperiment, match=words):
        student("weight-selection:run=wise-owl", model, task=TASK | task)


def test_slots_the_teacher_did_not_have_are_named():
    with pytest.raises(InvalidExperiment, match="finds no .*gamma"):
        student("weight-selection:run=wise-owl+sigma-reparam")


def test_the_shipped_recorded_run_teaches_what_it_had_learned():
    theirs = open_run(stored_run_path(RECORDED))
    arm = f"weight-selection:run={RECORDED},seed=2"
    taught = load(theirs.experiment | {"arms": [arm], "seeds": [2]})
    group = TorchGroup(taught.setting(arm), taught.seeds)
    assert np.array_equal(group.theta()[0], theirs.weights(1500, "standard")[2])
    assert group.evaluate()["test_accuracy"][0] == theirs.curve("test_accuracy", "standard", 2)[1][-1] == 1.0


def test_a_preset_starts_from_it():
    experiment = load(preset("selected weights").experiment)
    plain_start, taught = (TorchGroup(experiment.setting(a.name), experiment.seeds) for a in experiment.arms)
    assert taught.setting.model.d_model == 16
    assert np.array_equal(taught.theta()[0], taught.theta()[1]), "one teacher for all seeds"
    assert not np.array_equal(plain_start.theta()[0], plain_start.theta()[1])
    assert np.isfinite(taught.advance(2)).all()


def test_the_check_before_training_says_the_same():
    answer = check(plain(STUDENT, "weight-selection"))
    assert not answer["ok"] and "names no teacher" in answer["error"]
    assert check(plain(STUDENT, "weight-selection:run=wise-owl"))["ok"]


def test_a_rank_that_differs_is_refused():
    with pytest.raises(InvalidExperiment, match="cannot take"):
        select("blocks.0.x", np.zeros((3, 3)), (3,))
