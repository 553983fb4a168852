"""Visual weights: what is kept is enough to work the visual model out again, for every probe sequence."""

from types import SimpleNamespace

import numpy as np
import pytest

from sandbox.diagnostics import SnapshotView, probe_batch
from sandbox.diagnostics.visual_weights import VisualWeights
from sandbox.engine.optimizer import Optimizer
from sandbox.engine.torch_engine import TorchGroup
from sandbox.figures.small_models import answers, sequence_embeddings
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import SmallModel
from sandbox.models.visual_model import VisualModel
from sandbox.tasks.sparse_modular_addition import SparseModularAddition
from tests.diagnostics.views import random_view


@pytest.mark.parametrize("width", [2, 8])
def test_the_model_worked_out_from_the_reading_is_the_model_that_was_traced(width: int) -> None:
    task = SparseModularAddition(modulus=3, n_terms=2, length=6, n_train=64, n_test=64)
    setting = SimpleNamespace(
        task=task, model=VisualModel(d_model=width, n_embeddings=3), optimizer=Optimizer.variants["adam"](),
        batch_size=32, steps=100, reference_start=False,
    )  # fmt: skip
    group = TorchGroup(setting, (0, 1))  # type: ignore[arg-type]
    group.advance(3)
    view = SnapshotView.of(group, probe_batch(task, group.task_data[0], 0), {})
    found = VisualWeights().read(view)
    assert isinstance(found, SmallModel) and found.n_prefix == 2 and found.token_labels == ("0", "1", "2")
    for run in (0, 1):
        w = {name: values[run] for name, values in found.weights().items()}
        xi, rows = sequence_embeddings(w, np.array(found.tokens))
        assert rows == pytest.approx(view.trace["attention.weights"][run, :, 0, 0], abs=5e-3)
        assert xi == pytest.approx(view.trace["xi"][run], abs=2e-2)
        logits = view.trace["logits"][run].astype(np.float64)
        shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        assert answers(w, xi) == pytest.approx(shares, abs=2e-2)


def test_a_model_that_is_not_the_visual_one_says_so() -> None:
    answer = VisualWeights().read(random_view())
    assert isinstance(answer, NotApplicable) and "one query" in answer.reason
