"""Sharpness: against the dense Hessian, and several seeds at once against each alone."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.func import functional_call

from sandbox.diagnostics import SnapshotView
from sandbox.diagnostics.hessian import LossHessian, run_stacks, whole_vectors
from sandbox.diagnostics.replay import module_of, trained_names, weights_of
from sandbox.diagnostics.sharpness import Sharpness
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.experiment import from_plain_experiment
from sandbox.foundations.readings import PerHead
from tests.diagnostics.test_diagnostics_contract import group, look


def dense_hessian(view, run: int, n_rows: int) -> np.ndarray:
    """The Hessian of one run's loss on its first training rows, by autodiff twice."""
    module, weights = module_of(view), weights_of(view, run)
    data = view.setting.task.data(view.seeds[run], False)
    tokens = torch.from_numpy(data.train_tokens[:n_rows].astype(np.int64))
    targets = torch.from_numpy(data.train_targets[:n_rows].astype(np.int64))
    names = [name for name in weights if name in trained_names(view)]
    sizes = [weights[name].numel() for name in names]

    def loss(flat: torch.Tensor) -> torch.Tensor:
        parts = {n: p.view_as(weights[n]) for n, p in zip(names, flat.split(sizes), strict=True)}
        return torch.nn.functional.cross_entropy(functional_call(module, weights | parts, (tokens,)), targets)

    flat = torch.cat([weights[name].flatten() for name in names])
    return torch.autograd.functional.hessian(loss, flat).numpy()


def with_a_weight_that_is_one_number() -> SnapshotView:
    """A small encoder whose queries and keys are normalized and scaled by a number that is learned."""
    experiment = from_plain_experiment(
        {
            "task": {
                "kind": "sparse modular addition",
                "length": 8,
                "n_terms": 2,
                "n_train": 64,
                "n_test": 64,
            },
            "model": {"kind": "encoder", "d_model": 4, "n_heads": 1, "d_ff": 4},
            "arms": ["qk-l2"],
            "seeds": [0, 1],
        }
    )
    trained = TorchGroup(experiment.setting("qk-l2"), experiment.seeds)
    trained.advance(3)
    return look(trained)


@pytest.mark.parametrize(
    "made", [lambda: look(group("visual model")), with_a_weight_that_is_one_number], ids=["visual", "qk-l2"]
)
def test_the_value_is_the_largest_eigenvalue_of_the_dense_hessian_within_its_residual(
    made: Callable[[], SnapshotView],
) -> None:
    view = made()
    answer = Sharpness(products=24).read(view)
    assert isinstance(answer, PerHead)
    for run in range(len(view.seeds)):
        exact = np.linalg.eigvalsh(dense_hessian(view, run, answer.provenance.sample_size))
        found = {name: values[run, 0, 0] for name, values in answer.columns.items()}
        assert found["sharpness"] == pytest.approx(exact[-1], rel=1e-6)
        assert np.abs(exact - found["sharpness"]).min() <= found["residual"] + 1e-10
        assert exact[0] - 1e-9 <= found["smallest eigenvalue"] <= found["sharpness"]
        assert np.abs(exact - found["smallest eigenvalue"]).min() <= found["residual of the smallest"] + 1e-9


def test_one_product_serves_all_seeds_and_is_each_ones_own() -> None:
    view = look(group("visual model"))
    module = module_of(view)
    data = [view.setting.task.data(seed, False) for seed in view.seeds]
    tokens = torch.from_numpy(np.stack([part.train_tokens[:32] for part in data]).astype(np.int64))
    targets = torch.from_numpy(np.stack([part.train_targets[:32] for part in data]).astype(np.int64))
    weights = {n: torch.from_numpy(v.astype(np.float64)) for n, v in view.weights.items()}
    hessian = LossHessian(module, weights, {}, tokens, targets)
    vectors = np.random.default_rng(0).standard_normal(hessian.shape)
    products = hessian(vectors)
    for run in range(3):
        np.testing.assert_allclose(products[run], dense_hessian(view, run, 32) @ vectors[run], atol=1e-10)


@pytest.mark.parametrize("n_runs", [1, 2, 3, 7, 8, 40])
def test_small_models_are_stacked_and_large_ones_are_not_whoever_stands_beside(n_runs: int) -> None:
    small, large = list(run_stacks(n_runs, 64, 50)), list(run_stacks(n_runs, 64, 5000))
    assert large == [[run] for run in range(n_runs)] == list(run_stacks(n_runs, 33, 1))
    assert sorted({run for part in small for run in part}) == list(range(n_runs))
    assert all(len(part) >= 2 for part in small)


def test_rows_are_whole_vectors_where_there_are_enough() -> None:
    assert [whole_vectors(85, n) for n in (2048, 100, 64, 33, 20)] == [96, 96, 64, 32, 20]
