"""Condition numbers against known spectra, at the edges of singularity, and over stacks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.condition import (
    condition_number,
    condition_number_nonzero,
    numerical_rank,
    singular_values,
    spectrum_ends,
)

RANDOM = np.random.default_rng(3)
finite_matrices = arrays(
    np.float64, (3, 4), elements=st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True)
)


def with_spectrum(values: list[float], n_rows: int = 7) -> np.ndarray:
    left = np.linalg.qr(RANDOM.normal(size=(n_rows, len(values))))[0]
    right = np.linalg.qr(RANDOM.normal(size=(len(values), len(values))))[0]
    return left @ np.diag(values) @ right


@pytest.mark.parametrize(
    ("matrix", "kappa"),
    [
        ([[3, 0], [0, 1], [0, 0]], 3.0),
        ([[1, 2], [3, 4], [5, 6]], 18.5213053413),
        ([[3, 4], [0, 2]], 4.6167297970),
        ([[1, 0], [0, 1], [1, 1]], 1.7320508076),
        ([[5.0]], 1.0),
    ],
)
def test_condition_numbers_agree_with_known_values(matrix: list[list[float]], kappa: float) -> None:
    assert condition_number(np.array(matrix)) == pytest.approx(kappa, abs=1e-8)
    assert condition_number(np.array(matrix).T) == pytest.approx(kappa, abs=1e-8)


def test_the_largest_singular_value_agrees_with_its_oracle() -> None:
    assert singular_values(np.array([[3, 0], [4, 5]]))[0] == pytest.approx(6.7082039325, abs=1e-8)


@pytest.mark.parametrize(
    "matrix", [np.zeros((3, 2)), np.ones((3, 3)), np.array([[1.0, 2.0], [2.0, 4.0]]) / 3]
)
def test_singular_matrices_have_an_infinite_condition_number(matrix: np.ndarray) -> None:
    assert condition_number(matrix) == np.inf


def test_what_rounding_can_hide_counts_as_singular_and_what_it_cannot_does_not() -> None:
    assert condition_number(np.diag([1.0, 1e-17])) == np.inf
    assert condition_number(np.diag([1.0, 1e-14])) == pytest.approx(1e14, rel=1e-9)


def test_the_nonzero_condition_number_skips_lost_directions() -> None:
    matrix = with_spectrum([8.0, 2.0, 0.0])
    assert condition_number(matrix) == np.inf
    assert condition_number_nonzero(matrix) == pytest.approx(4.0, rel=1e-12)
    assert numerical_rank(matrix) == 2
    assert condition_number_nonzero(np.zeros((2, 2))) == np.inf
    assert numerical_rank(np.zeros((2, 2))) == 0


def test_the_tolerance_is_relative_and_reported() -> None:
    matrix = 1e6 * with_spectrum([1.0, 1e-3, 1e-6])
    assert condition_number_nonzero(matrix) == pytest.approx(1e6, rel=1e-8)
    assert condition_number_nonzero(matrix, tolerance=1e-4) == pytest.approx(1e3, rel=1e-10)
    ends = spectrum_ends(matrix, tolerance=1e-4)
    assert ends.rank == 2 and ends.tolerance == 1e-4
    assert ends.largest == pytest.approx(1e6) and ends.smallest_nonzero == pytest.approx(1e3)
    assert ends.smallest == pytest.approx(1.0, rel=1e-8)
    assert spectrum_ends(matrix).tolerance == 7 * np.finfo(np.float64).eps


@pytest.mark.parametrize("tolerance", [-1e-3, 1.0, float("nan")])
def test_a_tolerance_out_of_range_is_refused(tolerance: float) -> None:
    with pytest.raises(InvalidData, match="tolerance"):
        condition_number_nonzero(np.eye(2), tolerance)


def test_stacks_are_measured_matrix_by_matrix_and_one_bad_matrix_spoils_no_other() -> None:
    stack = RANDOM.normal(size=(2, 3, 5, 4))
    stack[1, 1] = 0.0
    stack[0, 2, 3, 1] = np.nan
    stack[1, 0, 0, 0] = np.inf
    kappas = condition_number(stack)
    assert kappas.shape == (2, 3)
    assert np.isnan(kappas[0, 2]) and np.isnan(kappas[1, 0]) and kappas[1, 1] == np.inf
    for index in [(0, 0), (0, 1), (1, 2)]:
        assert kappas[index] == pytest.approx(np.linalg.cond(stack[index]), rel=1e-12)


@pytest.mark.parametrize("array", [np.ones(3), np.ones((0, 3)), np.ones((2, 3, 0))])
def test_arrays_without_a_matrix_are_refused(array: np.ndarray) -> None:
    with pytest.raises(InvalidData, match="no matrix"):
        singular_values(array)
    with pytest.raises(InvalidData, match="no real numbers"):
        singular_values(np.array([["a"]]))


@given(finite_matrices)
def test_finite_matrices_never_have_a_nan_condition_number(matrix: np.ndarray) -> None:
    kappa, kappa_nonzero = condition_number(matrix), condition_number_nonzero(matrix)
    assert kappa_nonzero >= 1 and kappa >= kappa_nonzero * (1 - 1e-15)


@given(st.integers(-900, 900))
def test_scale_changes_no_condition_number(power: int) -> None:
    matrix = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert condition_number(np.ldexp(matrix, power)) == condition_number(matrix)
    largest = singular_values(np.ldexp(matrix, power))[0]
    assert largest == np.ldexp(singular_values(matrix)[0], power)


def test_rotations_change_no_condition_number() -> None:
    matrix, rotation = RANDOM.normal(size=(6, 4)), np.linalg.qr(RANDOM.normal(size=(6, 6)))[0]
    assert condition_number(rotation @ matrix) == pytest.approx(condition_number(matrix), rel=1e-12)
