"""Spectral corrections: the oracles, the closed form, and where the identity variant helps or hurts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.mathematics.condition import condition_number
from sandbox.mathematics.spectral import (
    identity_correction,
    sufficient_shift,
    svd_correction,
    unsaturated_shift,
)

FIRST = np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
SECOND = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
RANDOM = np.random.default_rng(11)


@pytest.mark.parametrize(
    ("w", "kappa_identity", "kappa_svd"), [(FIRST, 1.1818181818, 1.5), (SECOND, 1.7882088852, 1.8975478348)]
)
def test_corrected_matrices_have_the_known_condition_numbers(
    w: np.ndarray, kappa_identity: float, kappa_svd: float
) -> None:
    assert condition_number(w + identity_correction(w, 10.0)) == pytest.approx(kappa_identity, abs=1e-8)
    assert condition_number(w + svd_correction(w)) == pytest.approx(kappa_svd, abs=1e-8)


def test_the_identity_correction_is_the_shift_on_the_main_diagonal_alone() -> None:
    np.testing.assert_array_equal(identity_correction(FIRST, 0.5), [[0.5, 0.0], [0.0, 0.5], [0.0, 0.0]])
    np.testing.assert_array_equal(identity_correction(FIRST.T, 0.5), [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]])
    assert not identity_correction(FIRST, 0.0).any()


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6))
def test_the_svd_correction_gives_twice_kappa_over_kappa_plus_one(seed: int, rows: int, columns: int) -> None:
    w = np.random.default_rng(seed).normal(size=(rows, columns))
    kappa = condition_number(w)
    corrected = condition_number(w + svd_correction(w))
    assert corrected == pytest.approx(2 * kappa / (kappa + 1), rel=1e-9)
    assert corrected <= 2 + 1e-12


def test_the_svd_correction_rescues_singular_matrices_and_leaves_zero_alone() -> None:
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert condition_number(singular + svd_correction(singular)) == pytest.approx(2.0)
    np.testing.assert_array_equal(svd_correction(np.zeros((3, 2))), np.zeros((3, 2)))


def test_stacks_are_corrected_matrix_by_matrix() -> None:
    stack = RANDOM.normal(size=(2, 3, 5, 4))
    for correct in (lambda w: identity_correction(w, 2.0), svd_correction):
        np.testing.assert_allclose(correct(stack)[1, 2], correct(stack[1, 2]), atol=1e-14)


def test_the_identity_correction_can_raise_the_condition_number() -> None:
    w = np.diag([-9.9, -1.0])
    assert condition_number(w) == pytest.approx(9.9)
    assert condition_number(w + identity_correction(w, 10.0)) == pytest.approx(90.0)


@given(st.integers(0, 10**6), st.floats(1.0001, 50.0))
def test_beyond_the_sufficient_shift_the_condition_number_always_falls(seed: int, factor: float) -> None:
    w = np.random.default_rng(seed).normal(size=(5, 4))
    shifted = w + identity_correction(w, float(sufficient_shift(w)) * factor)
    assert condition_number(shifted) < condition_number(w)


def test_no_shift_is_sufficient_for_a_perfectly_conditioned_matrix() -> None:
    assert sufficient_shift(np.eye(3)) == np.inf
    assert sufficient_shift(np.diag([3.0, 1.0])) == pytest.approx(6.0)


def test_the_saturation_mark_agrees_with_its_known_value() -> None:
    assert unsaturated_shift(32) == pytest.approx(0.59, abs=0.005)
    assert unsaturated_shift(4) == 1.0
