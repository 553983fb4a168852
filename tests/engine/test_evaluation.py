"""Full-set metrics are what a plain pass over all rows gives."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from sandbox.engine.evaluation import evaluated_train_rows, group_accuracies
from sandbox.engine.torch_engine import TorchGroup
from sandbox.models.visual_model import VisualModel
from sandbox.tasks import Dataset, Group
from sandbox.tasks.sparse_modular_addition import SparseModularAddition
from tests.engine.arms import ARMS, Setting


@pytest.mark.parametrize("setting", ARMS.values(), ids=ARMS)
def test_loss_and_accuracy_equal_a_plain_pass(setting: Setting) -> None:
    group = TorchGroup(setting, (3, 1))
    metrics = group.evaluate()
    for run, seed in enumerate(group.seeds):
        data, model = setting.task.data(seed), setting.model.build(setting.task, seed)
        for part in ("train", "test"):
            tokens = torch.from_numpy(getattr(data, f"{part}_tokens")).long()
            targets = torch.from_numpy(getattr(data, f"{part}_targets")).long()
            with torch.no_grad():
                logits = model(tokens)
            loss = cross_entropy(logits.double(), targets).item()
            assert metrics[f"{part}_loss"][run] == pytest.approx(loss, rel=1e-5)
            found = (logits.argmax(-1) == targets).double().mean().item()
            assert metrics[f"{part}_accuracy"][run] == pytest.approx(found, abs=1e-12)
            assert metrics[f"{part}_loss"].dtype == metrics[f"{part}_accuracy"].dtype == np.float64


def test_the_reference_start_has_the_published_codes_first_metrics() -> None:
    """Measured with the published code: modulus 2, 2 embeddings, L 12, k 5, d 2, width 32, seed 0."""
    task = SparseModularAddition(split="overlapping")
    metrics = TorchGroup(Setting(VisualModel(), 32, task, reference_start=True), (0,)).evaluate()
    first = {name: round(float(value[0]), 6) for name, value in metrics.items()}
    assert first == {
        "train_loss": 0.698555,
        "train_accuracy": 0.483398,
        "test_loss": 0.700190,
        "test_accuracy": 0.485352,
    }


def test_a_small_training_set_is_evaluated_whole_and_a_large_one_like_the_test_set() -> None:
    assert evaluated_train_rows(2048, 100) == 2048 and evaluated_train_rows(50_000, 4000) == 2048
    long = replace(ARMS["visual model, stacked"], task=SparseModularAddition(n_train=2500, n_test=100))
    data, model = long.task.data(4), long.model.build(long.task, 4)
    with torch.no_grad():
        logits = model(torch.from_numpy(data.train_tokens[:100]).long())
    found = (logits.argmax(-1).numpy() == data.train_targets[:100]).mean()
    assert TorchGroup(long, (4,)).evaluate()["train_accuracy"][0] == pytest.approx(found, abs=1e-12)


def dataset(index: list[int]) -> Dataset:
    """A test set of three rows of which only the groups matter."""
    empty = np.zeros((3, 1), np.uint8)
    groups = {"operator": Group(("MIN", "MAX", "MED"), np.array(index))}
    return Dataset(empty, np.zeros(3, np.int64), empty, np.zeros(3, np.int64), groups)


def test_accuracy_is_given_for_each_labelled_part() -> None:
    correct = np.array([[True, False, True], [False, True, True]])
    shares = group_accuracies(correct, [dataset([0, 0, 1]), dataset([2, 0, 2])])
    assert shares.keys() == {f"test_accuracy/operator/{label}" for label in ("MIN", "MAX", "MED")}
    np.testing.assert_array_equal(shares["test_accuracy/operator/MIN"], [0.5, 1.0])
    np.testing.assert_array_equal(shares["test_accuracy/operator/MAX"], [1.0, np.nan])
    np.testing.assert_array_equal(shares["test_accuracy/operator/MED"], [np.nan, 0.5])
