"""Any stored step can be asked for any diagnostic, of a run in training, paused or done, with one writer."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sandbox
from sandbox.diagnostics import Diagnostic
from sandbox.experiment.live_change import live_values
from sandbox.foundations.errors import InvalidData, InvalidKnob, SandboxError
from sandbox.foundations.readings import encode
from sandbox.runner import queue
from sandbox.runner.answerer import answer_all, diagnose
from sandbox.runner.children import Children
from sandbox.runner.execution import Execution
from sandbox.runner.on_demand import OnDemand
from sandbox.runner.questions import (
    LAST_STEP,
    MOST_OPEN,
    QUESTIONS_FILE,
    AskedQuestions,
    ask,
    cancel,
    question,
    questions_of,
    waiting,
)
from sandbox.runner.stored_views import StoredStep, settings_at
from sandbox.runner.supervisor import Supervisor
from sandbox.store import Run, RunWriter, open_run
from tests.runner.fake_jobs import fake_answers
from tests.runner.small import assert_same_numbers, tiny_experiment
from tests.runner.test_costly_readings import Busy

SPECTRAL = "spectral:shift=0.5"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run."""
    return sandbox.train(tiny_experiment(steps=8), out=tmp_path_factory.mktemp("asked") / "run").path


def told(_done: int, _of: int) -> None:
    """Progress that nobody looks at."""


def same(one: Run, kind: str, step: int, columns: dict[str, dict[str, np.ndarray]]) -> None:
    for arm in one.arms:
        for name, values in encode(one.reading(kind, step, arm))[0].items():
            np.testing.assert_array_equal(values, columns[arm][name])


def test_stored_weights_answer_as_the_run_did_when_it_stood_there(done: Path) -> None:
    run = open_run(done)
    for step in (0, 5, 8):
        views = StoredStep.of(done, step).views()
        for kind in ("theta", "singular values", "trajectories", "attention entropy"):
            answers = {
                arm: encode(Diagnostic.variants[kind]().read(view))[0]
                for arm, view in zip(run.arms, views, strict=True)
            }
            same(run, kind, step, answers)


def test_a_finished_run_is_asked_and_keeps_the_answer_beside_what_it_had(done: Path) -> None:
    before = {name: open_run(done).group_curve(name, "standard")[1] for name in ("loss", "test_accuracy")}
    heard: list[tuple[int, int]] = []
    diagnose(done, "sharpness", 6, lambda *progress: heard.append(progress))
    run = open_run(done)
    assert 6 in run.reading_steps("sharpness", SPECTRAL) and heard[-1][1] in (0, 4)
    for name, values in before.items():
        np.testing.assert_array_equal(values, run.group_curve(name, "standard")[1])
    (asked,) = [q for q in questions_of(run) if q.kind == "sharpness"]
    assert (asked.state, asked.done, asked.of, asked.step) == ("done", 4, 4, 6)
    assert run.status["state"] == "done"
    columns = {
        arm: encode(Diagnostic.variants["sharpness"]().read(view))[0]
        for arm, view in zip(run.arms, StoredStep.of(done, 6).views(), strict=True)
    }
    same(run, "sharpness", 6, columns)


@pytest.mark.parametrize(
    ("kind", "step", "says"),
    [("nonsense", 3, "nonsense"), ("sharpness", 77, "the nearest"), ("theta", -1, "nearest")],
)
def test_what_cannot_be_answered_is_said_with_its_reason(done: Path, kind: str, step: int, says: str) -> None:
    with pytest.raises(InvalidData, match=says):
        diagnose(done, kind, step, told)
    assert questions_of(open_run(done))[-1].state == "failed"


def on_demand(writer: RunWriter, until: Callable[[OnDemand], bool], patience: float = 30.0) -> OnDemand:
    answering = OnDemand(writer.path, writer)
    deadline = time.monotonic() + patience
    while True:
        answering.turn()
        writer.commit()
        if until(answering):
            return answering
        assert time.monotonic() < deadline
        time.sleep(0.005)


def busy(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Make the diagnostic `sharpness` take `seconds` per seed."""
    monkeypatch.setattr(Diagnostic.variants["sharpness"], "read", Busy(seconds=seconds).read)


def test_a_question_is_cancelled_amid_its_reading(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy(monkeypatch, 60)
    with RunWriter.resume(done, open_run(done).experiment) as writer:
        number = ask(done, "sharpness", 2)
        answering = on_demand(writer, lambda a: a._side is not None)
        cancel(done, number)
        began = time.monotonic()
        while answering.open:
            answering.turn()
        assert time.monotonic() - began < 2
        writer.commit()
    found = question(open_run(done), number)
    assert found is not None and found.state == "cancelled"
    assert 2 not in open_run(done).reading_steps("sharpness", "standard")


def test_what_was_open_when_a_writer_ended_is_answered_by_the_next(
    done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy(monkeypatch, 60)
    number = ask(done, "sharpness", 4)
    with RunWriter.resume(done, open_run(done).experiment) as writer:
        on_demand(writer, lambda a: a._side is not None).close()
    monkeypatch.undo()
    answer_all(done)
    found = question(open_run(done), number)
    assert found is not None and found.state == "done"
    assert 4 in open_run(done).reading_steps("sharpness", "standard")


def test_an_interrupted_wait_cancels_its_question(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy(monkeypatch, 60)

    def interrupt(_done: int, of: int) -> None:
        if of:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        diagnose(done, "sharpness", 3, interrupt)
    assert questions_of(open_run(done))[-1].state == "cancelled"


def test_a_run_in_training_answers_itself_and_trains_the_same_bits(done: Path, tmp_path: Path) -> None:
    execution = Execution(tiny_experiment(steps=8), tmp_path / "run")
    turn = execution._turn
    number = ""

    def ask_and_wait() -> None:
        nonlocal number
        turn()
        if execution.step >= 4 and not number:
            execution._commit("running")  # nobody can ask about what is not shown
            number = ask(tmp_path / "run", "layer norms", 2)
        while execution._on_demand.open:
            execution._on_demand.turn()
            time.sleep(0.005)

    execution._turn = ask_and_wait  # type: ignore[method-assign]
    execution.run()
    run = open_run(tmp_path / "run")
    found = question(run, number)
    assert found is not None and found.state == "done"
    assert 2 in run.reading_steps("layer norms", "standard")
    assert_same_numbers(open_run(done), run)


@pytest.mark.parametrize("step", [-(10**23), 10**23, True, 1.5, None])
def test_a_step_that_none_can_be_is_nobodys_question(tmp_path: Path, step: object) -> None:
    line = json.dumps({"id": "z", "kind": "theta", "step": step})
    (tmp_path / QUESTIONS_FILE).write_text(line + "\n")
    assert AskedQuestions(tmp_path).new() == ([], [])


@pytest.mark.parametrize(("number", "kind"), [("z", "\udcff"), ("\udcff", "theta"), (1, "theta")])
def test_what_the_database_cannot_hold_is_nobodys_question(tmp_path: Path, number: object, kind: str) -> None:
    line = json.dumps({"id": number, "kind": kind, "step": 3})
    (tmp_path / QUESTIONS_FILE).write_text(line + "\n")
    assert AskedQuestions(tmp_path).new() == ([], [])


def test_such_a_step_or_kind_is_refused_before_anything_is_written(done: Path) -> None:
    before = (done / QUESTIONS_FILE).read_bytes() if (done / QUESTIONS_FILE).exists() else None
    for step in (LAST_STEP + 1, 10**23, 10**5000):
        with pytest.raises(InvalidData, match="is no step of a run"):
            ask(done, "theta", step)
    with pytest.raises(InvalidData, match="is no text"):
        ask(done, "\udcff", 3)
    after = (done / QUESTIONS_FILE).read_bytes() if (done / QUESTIONS_FILE).exists() else None
    assert after == before


@pytest.mark.timeout(60)
def test_a_question_that_nobody_takes_up_is_given_up(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(done, tmp_path / "run"))
    with open(folder / QUESTIONS_FILE, "a") as file:
        file.write("{")  # a line cut short swallows the next
    with pytest.raises(InvalidData, match="was not taken up"):
        diagnose(folder, "theta", 3, told)
    monkeypatch.setattr("sandbox.runner.answerer.PATIENCE", 0.2)
    with (
        RunWriter.resume(folder, open_run(folder).experiment),
        pytest.raises(InvalidData, match="was not taken up"),
    ):
        diagnose(folder, "theta", 3, told)


def test_settings_follow_the_live_changes_made_by_then() -> None:
    experiment = tiny_experiment()
    change = {"step": 4, "arm": SPECTRAL, "key": "projection.shift", "value": 3.0}
    found = [live_values(settings_at(experiment, [change], step)[1]) for step in (4, 5)]
    assert [values["projection.shift"] for values in found] == [0.5, 3.0]
    with pytest.raises((SandboxError, InvalidKnob)):
        settings_at(experiment, [change | {"key": "model.d_model"}], 5)


@pytest.mark.slow
def test_the_supervisor_has_a_question_to_a_finished_run_answered(done: Path, runs_folder: Path) -> None:
    import threading

    shutil.copytree(done, runs_folder / "asked-run-1")
    supervisor = Supervisor(runs_folder, Children(questions=fake_answers, preload=""), 1)
    thread = threading.Thread(target=supervisor.run)
    thread.start()
    try:
        number = queue.diagnose("asked-run-1", "layer norms", 7)
        deadline = time.monotonic() + 60
        while (found := question(open_run(runs_folder / "asked-run-1"), number)) is None or found.open:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert found.state == "done"
        with queue.catalogue_connection() as connection:
            while connection.execute("SELECT * FROM questions").fetchall():
                assert time.monotonic() < deadline
                time.sleep(0.05)
    finally:
        supervisor.end()
        thread.join(timeout=20)


def test_more_questions_than_may_wait_are_refused_whether_they_were_seen_or_not(tmp_path: Path) -> None:
    folder = sandbox.train(tiny_experiment(steps=2), out=tmp_path / "run").path
    numbers = [ask(folder, "sharpness", 2) for _ in range(MOST_OPEN)]
    for _ in range(3):
        with pytest.raises(InvalidData, match=f"{MOST_OPEN} questions to this run wait"):
            ask(folder, "sharpness", 2)
    cancel(folder, numbers[3])
    ask(folder, "sharpness", 2)
    assert waiting(folder) == MOST_OPEN
    for number in numbers:
        cancel(folder, number)
    with pytest.raises(InvalidData):
        diagnose(folder, "nothing of the kind", 2, told)
    answer_all(folder)
    assert waiting(folder) == 0 and ask(folder, "theta", 2)
