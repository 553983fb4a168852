"""What every registered diagnostic promises, on hand-made snapshots and on the real models."""

import json
import logging
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from sandbox.diagnostics import Diagnostic, SnapshotView, Watched, probe_batch, read_all
from sandbox.engine.optimizer import Optimizer
from sandbox.engine.torch_engine import TorchGroup
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import (
    Answer,
    AttentionMap,
    Certificate,
    PerHead,
    Trajectory,
    decode,
    encode,
)
from sandbox.models import Architecture
from sandbox.models.encoder import Encoder
from sandbox.models.placement.post_ln import PostLN
from sandbox.models.visual_model import VisualModel
from sandbox.tasks import Task
from sandbox.tasks.listops import ListOps
from sandbox.tasks.sparse_modular_addition import SparseModularAddition
from tests.diagnostics.views import one_run, random_view, visual_view

KINDS = ["attention entropy", "attention map", "condition numbers", "theta", "trajectories"]
KINDS += ["theta certificates", "singular values", "attention condition", "clustering", "token effect"]
KINDS += ["normalization curvature", "attention jacobian", "jacobian certificates", "sharpness"]
KINDS += ["residual geometry", "layer norms", "theta by layer", "residual gains"]
OF_XI = {"clustering", "token effect", "normalization curvature"}
REPLAYED = {kind for kind, asked in Diagnostic.variants.items() if asked.cost == "costly"}
MAY_BE_INFINITE = {"attention condition", *REPLAYED}
NO_ANSWER = {
    "encoder": {"token effect", "normalization curvature", "visual weights"},
    "visual": {"attention condition", *REPLAYED} - {"sharpness", "theta by layer"},
    "listops": {"clustering"},
}
"""Kinds that mean nothing in models or tasks whose name holds the word."""
ANSWERS_ONLY = {"expression": "listops"}
"""Kinds that mean something only where the name holds the word."""
OF_THE_UPDATE = "gradient norms"
"""Stored weights do not know the update that led to them."""
ADDITION = SparseModularAddition(n_train=128, n_test=128)
MODELS: dict[str, tuple[Task, Architecture]] = {
    "encoder": (ADDITION, Encoder(d_model=16)),
    "post-ln encoder of two layers": (ADDITION, Encoder(d_model=8, n_layers=2, placement=PostLN())),
    "encoder on listops": (ListOps(n_train=128, n_test=128), Encoder(d_model=16, n_layers=2)),
    "visual model": (ADDITION, VisualModel()),
    "wide visual model": (ADDITION, VisualModel(d_model=8)),
}
kinds = pytest.mark.parametrize("kind", list(Diagnostic.variants))
kinds_that_read = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.slow] if kind in REPLAYED else [])
        for kind in Diagnostic.variants
    ],
)
models = pytest.mark.parametrize("name", MODELS)
kinds_in_models = pytest.mark.parametrize(
    ("kind", "name"),
    [
        # A costly kind answers one model in the fast suite.
        pytest.param(kind, name, marks=[pytest.mark.slow] if kind in REPLAYED and name != "encoder" else [])
        for kind in Diagnostic.variants
        for name in MODELS
    ],
)


def group(name: str, seeds: tuple[int, ...] = (0, 1, 2)) -> TorchGroup:
    task, model = MODELS[name]
    setting = SimpleNamespace(
        task=task,
        model=model,
        optimizer=Optimizer.variants["adamw"](),
        batch_size=32,
        steps=100,
        reference_start=False,
    )
    return TorchGroup(setting, seeds)  # type: ignore[arg-type]


def look(trained: TorchGroup, basis: dict[str, np.ndarray] | None = None) -> SnapshotView:
    batch = probe_batch(trained.setting.task, trained.task_data[0], trained.seeds[0])
    return SnapshotView.of(trained, batch, {} if basis is None else basis)


def snapshot(kind: str) -> SnapshotView:
    """A snapshot of three seeds that the kind has an answer for."""
    if kind in REPLAYED:
        return look(group("post-ln encoder of two layers"))
    if kind == "visual weights":
        return look(group("visual model"))
    if kind in ANSWERS_ONLY:
        return look(group("encoder on listops"))
    if kind == "gradient norms":
        return replace(random_view(), norms={"gradient: all": np.array([1.0, 2.0, 3.0])})
    return visual_view() if kind in OF_XI else random_view()


def bits(answer: Answer, run: int | None = None) -> dict[str, bytes]:
    columns, _ = encode(answer)
    return {
        name: (values if run is None else values[run : run + 1]).tobytes() for name, values in columns.items()
    }


def test_the_folder_holds_the_named_diagnostics() -> None:
    assert set(KINDS) <= set(Diagnostic.variants)


@kinds
def test_a_diagnostic_says_what_it_is_and_where_it_comes_from(kind: str) -> None:
    diagnostic = Diagnostic.variants[kind]
    assert diagnostic.sentence.endswith(".") and len(diagnostic.sentence) < 220
    assert diagnostic.title and diagnostic.equation and diagnostic.unit and diagnostic.source
    assert diagnostic.certainty[0] in "ABCD" and diagnostic.cost in ("cheap", "costly")


@kinds_that_read
def test_a_seeds_answer_does_not_depend_on_the_seeds_beside_it(kind: str) -> None:
    whole = snapshot(kind)
    together = Diagnostic.variants[kind]().read(whole)
    for run in range(3):
        alone = Diagnostic.variants[kind]().read(one_run(whole, run))
        assert bits(alone) == bits(together, run)


@kinds_that_read
def test_reading_twice_gives_the_same_bits_and_changes_no_array(kind: str) -> None:
    whole = snapshot(kind)
    before = {name: values.tobytes() for name, values in {**whole.trace, **whole.projections}.items()}
    first = Diagnostic.variants[kind]().read(whole)
    assert bits(Diagnostic.variants[kind]().read(replace(whole, memo={}))) == bits(first)
    assert before == {name: values.tobytes() for name, values in {**whole.trace, **whole.projections}.items()}


@kinds_that_read
def test_a_seed_that_is_not_a_number_leaves_the_others_bits_alone(kind: str) -> None:
    whole = snapshot(kind)
    Diagnostic.variants[kind]().read(whole)  # fits a basis while all seeds are sound
    sound = Diagnostic.variants[kind]().read(whole)
    trace = {name: values.copy() for name, values in whole.trace.items()}
    projections = {name: values.copy() for name, values in whole.projections.items()}
    weights = {name: values.copy() for name, values in whole.weights.items()}
    norms = {name: values.copy() for name, values in whole.norms.items()}
    for values in (*trace.values(), *projections.values(), *weights.values(), *norms.values()):
        values[1] = np.nan
    broken = Diagnostic.variants[kind]().read(
        replace(whole, trace=trace, projections=projections, weights=weights, norms=norms, memo={})
    )
    assert not isinstance(broken, NotApplicable)
    for run in (0, 2):
        assert bits(broken, run) == bits(sound, run)
    floats = [values[1] for values in encode(broken)[0].values() if values.dtype.kind == "f"]
    assert floats and all(np.isnan(values).any() for values in floats)
    if isinstance(broken, Certificate):
        assert broken.sentence(1, 0, 0, 0) == "does not apply: weights or activations are not finite"


@kinds_in_models
def test_every_diagnostic_answers_every_model_and_survives_the_store(kind: str, name: str) -> None:
    trained = group(name)
    assert isinstance(trained, Watched)
    basis: dict[str, np.ndarray] = {}
    start = Diagnostic.variants[kind]().read(look(trained, basis))
    trained.advance(3)
    answer = Diagnostic.variants[kind]().read(look(trained, basis))
    columns, meta = encode(answer)
    nothing = any(word in name and kind in kinds for word, kinds in NO_ANSWER.items())
    nothing |= ANSWERS_ONLY.get(kind, "") not in name
    assert isinstance(answer, NotApplicable) == nothing, answer
    assert meta == encode(start)[1], "what is stored once must not change with the step"
    assert all(len(values) == 3 for values in columns.values())
    if kind not in MAY_BE_INFINITE:
        assert all(np.isfinite(values).all() for values in columns.values())
    assert bits(decode(columns, json.loads(json.dumps(meta)))) == bits(answer)


@kinds
def test_a_reading_carries_how_it_came_about(kind: str) -> None:
    answer = Diagnostic.variants[kind]().read(snapshot(kind))
    assert not isinstance(answer, NotApplicable)
    said = answer.provenance
    assert said.method and said.precision.startswith("float") and said.sample_size >= 1
    assert said.tolerance >= 0 and np.isfinite(said.tolerance)
    if said.exactness in ("sampled", "estimated"):
        assert said.note, "a sample says what it was drawn from"


@models
def test_looking_changes_nothing_in_the_training(name: str) -> None:
    watched, unwatched = group(name), group(name)
    for _ in range(3):
        read_all(look(watched))
        assert np.array_equal(watched.advance(2), unwatched.advance(2))
    assert np.array_equal(watched.theta(), unwatched.theta())


@models
def test_an_old_step_read_from_its_weights_is_what_was_read_then(name: str) -> None:
    trained = group(name)
    basis: dict[str, np.ndarray] = {}
    then, weights = read_all(look(trained, basis)), trained.theta()
    trained.advance(4)
    batch = look(trained).probe
    again = read_all(SnapshotView.of(trained, batch, basis, theta=weights, step=0))
    assert isinstance(again.pop(OF_THE_UPDATE), NotApplicable) and then.pop(OF_THE_UPDATE)
    assert {kind: bits(answer) for kind, answer in again.items()} == {
        kind: bits(answer) for kind, answer in then.items()
    }


def test_the_encoders_readings_agree_with_one_another() -> None:
    answers = read_all(look(group("encoder")))
    entropy, theta, attention = answers["attention entropy"], answers["theta"], answers["attention map"]
    assert isinstance(entropy, PerHead) and isinstance(theta, PerHead)
    assert isinstance(attention, AttentionMap) and isinstance(answers["trajectories"], Trajectory)
    assert (entropy.columns["entropy"] <= np.log(12)).all()
    assert entropy.columns["normalized entropy"] * np.log(12) == pytest.approx(entropy.columns["entropy"])
    assert attention.weights.sum(axis=-1) == pytest.approx(np.ones((3, 1, 2, 12)), abs=1e-6)
    assert (theta.columns["upper"] >= 0).all() and theta.provenance.exactness == "sampled"
    assert answers["trajectories"].points.shape == (3, 64, 2)
    tokens = answers["token trajectories"]
    assert isinstance(tokens, Trajectory) and tokens.points.shape == (3, 12 * 2, 2)


def test_the_visual_model_has_only_a_value_matrix_and_says_why() -> None:
    answer = read_all(look(group("visual model")))["condition numbers"]
    assert isinstance(answer, PerHead)
    assert list(answer.columns) == ["value"] and "no query matrix" in answer.not_applicable["query"]


@dataclass(frozen=True, kw_only=True)
class Failing(Diagnostic):
    title: ClassVar[str] = "Failing"
    problem: ClassVar[Exception]

    def read(self, view: SnapshotView) -> Answer:
        raise self.problem


def registered(monkeypatch: pytest.MonkeyPatch, problem: Exception, cost: str = "cheap") -> None:
    made: Any = type("Made", (Failing,), {"problem": problem, "cost": cost})
    monkeypatch.setitem(Diagnostic.variants, "failing", made)


def test_a_deliberate_error_becomes_its_sentence_and_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    registered(monkeypatch, InvalidData("Row 3 holds -1."))
    with caplog.at_level(logging.WARNING):
        answers = read_all(random_view())
    assert answers["failing"] == NotApplicable("Row 3 holds -1.")
    assert "failing at step 0: Row 3 holds -1." in caplog.text
    assert isinstance(answers["theta"], PerHead)


def test_a_bug_stops_no_training_and_is_called_a_fault(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    registered(monkeypatch, ZeroDivisionError("a bug"))
    answers = read_all(random_view())
    assert "ZeroDivisionError, a fault of its own" in answers["failing"].reason
    assert "Traceback" in caplog.text and isinstance(answers["theta"], PerHead)


def test_costly_questions_are_asked_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch, InvalidData("Asked."), cost="costly")
    assert "failing" not in read_all(random_view())
    assert read_all(random_view(), cost="costly")["failing"] == NotApplicable("Asked.")
