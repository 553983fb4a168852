"""Lanczos: its values agree with dense eigenvalues, and its residual tells how far they can be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.mathematics.lanczos import lanczos_ends


def symmetric(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((n, n))
    return matrix + matrix.T, rng.standard_normal(n)


@given(st.integers(1, 12), st.integers(0, 50))
def test_as_many_products_as_entries_give_the_exact_ends(n: int, seed: int) -> None:
    matrix, start = symmetric(n, seed)
    found = lanczos_ends(lambda v: matrix @ v, start, n)
    exact = np.linalg.eigvalsh(matrix)
    assert found.largest == pytest.approx(exact[-1], abs=1e-8)
    assert found.smallest == pytest.approx(exact[0], abs=1e-8)


@given(st.integers(20, 60), st.integers(0, 30), st.integers(2, 10))
def test_few_products_stay_inside_and_within_the_residual_of_an_eigenvalue(n: int, seed: int, k: int) -> None:
    matrix, start = symmetric(n, seed)
    found = lanczos_ends(lambda v: matrix @ v, start, k)
    exact = np.linalg.eigvalsh(matrix)
    assert exact[0] - 1e-9 <= found.smallest <= found.largest <= exact[-1] + 1e-9
    assert np.abs(exact - found.largest).min() <= found.residual_largest + 1e-9
    assert np.abs(exact - found.smallest).min() <= found.residual_smallest + 1e-9
    assert found.n_products == k


def test_a_start_inside_an_invariant_space_ends_early_with_residual_zero() -> None:
    found = lanczos_ends(lambda v: np.array([3.0, 2.0, 1.0]) * v, np.array([1.0, 1.0, 0.0]), 3)
    assert (found.n_products, found.residual_largest) == (2, 0.0)
    assert found.largest == pytest.approx(3) and found.smallest == pytest.approx(2)


def test_a_product_that_is_not_finite_gives_nan() -> None:
    assert np.isnan(lanczos_ends(lambda v: v * np.nan, np.ones(4), 3).largest)


@given(st.integers(1, 5), st.integers(3, 30), st.integers(0, 30), st.integers(1, 8))
def test_many_operators_at_once_are_each_alone_to_the_bit(runs: int, n: int, seed: int, k: int) -> None:
    pairs = [symmetric(n, seed + run) for run in range(runs)]
    matrices, starts = (np.stack(parts) for parts in zip(*pairs, strict=True))
    together = lanczos_ends(lambda v: np.matmul(matrices, v[..., None])[..., 0], starts, k)
    for run in range(runs):
        alone = lanczos_ends(
            lambda v, m=matrices[[run]]: np.matmul(m, v[..., None])[..., 0], starts[[run]], k
        )
        for name, values in vars(alone).items():
            assert np.array_equal(values, getattr(together, name)[[run]]), name


def test_a_run_that_is_exhausted_or_broken_leaves_the_others_as_they_are() -> None:
    scales = np.stack([np.arange(1.0, 7.0), np.ones(6), np.full(6, np.nan), np.arange(6.0, 0.0, -1.0)])
    found = lanczos_ends(lambda v: scales * v, np.ones((4, 6)), 6)
    assert found.largest[[0, 3]] == pytest.approx(6.0) and found.smallest[[0, 3]] == pytest.approx(1.0)
    assert found.largest[1] == pytest.approx(1.0) and found.residual_largest[1] == 0.0
    assert np.isnan(found.largest[2]) and np.isnan(found.residual_smallest[2])
    assert found.n_products.tolist()[:3] == [6, 1, 1]
