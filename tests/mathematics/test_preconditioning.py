"""Row equilibration: the oracles, unit rows, and that it can raise the condition number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sandbox.mathematics.condition import condition_number
from sandbox.mathematics.preconditioning import equilibrate_rows, row_scale

rows_of_floats = arrays(
    np.float64, (5, 3), elements=st.floats(-1e3, 1e3).filter(lambda v: v == 0 or abs(v) > 1e-6)
)


def test_equilibration_of_a_known_matrix_lowers_kappa_as_computed_by_hand() -> None:
    a = np.array([[3.0, 4.0], [0.0, 2.0]])
    assert condition_number(a) == pytest.approx(4.6167297970, abs=1e-8)
    np.testing.assert_allclose(equilibrate_rows(a), [[0.6, 0.8], [0.0, 1.0]], rtol=1e-15)
    assert condition_number(equilibrate_rows(a)) == pytest.approx(3.0, abs=1e-8)


def test_preconditioned_attention_agrees_with_its_oracle_and_raises_kappa() -> None:
    q, k = np.array([[1, 0], [0, 1], [1, 1]]), np.array([[1, 1], [0, 1], [1, 0]])
    v = np.array([[1, 2], [3, 0], [0, 1]])
    weights = np.exp(q @ k.T / np.sqrt(2))
    a = weights / weights.sum(axis=1, keepdims=True) @ v
    np.testing.assert_allclose(row_scale(a), [0.6405877570, 0.5289410332, 0.5648946689], atol=1e-8)
    assert condition_number(a) == pytest.approx(7.2620940110, abs=1e-8)
    assert condition_number(equilibrate_rows(a)) == pytest.approx(7.3305887655, abs=1e-8)


@given(rows_of_floats)
def test_rows_get_length_one_or_stay_zero_and_keep_their_direction(a: np.ndarray) -> None:
    lengths = np.linalg.norm(equilibrate_rows(a), axis=1)
    np.testing.assert_allclose(lengths, a.any(axis=1).astype(float), atol=1e-12)
    np.testing.assert_allclose(row_scale(a)[:, None] * a, equilibrate_rows(a))


@given(rows_of_floats)
def test_equilibrating_twice_changes_nothing(a: np.ndarray) -> None:
    once = equilibrate_rows(a)
    np.testing.assert_allclose(equilibrate_rows(once), once, atol=1e-14)


def test_short_rows_are_divided_by_the_smallest_length() -> None:
    np.testing.assert_allclose(row_scale(np.array([[0.0, 0.0], [3e-9, 4e-9]])), [1e8, 1e8])
    assert row_scale(np.array([[0.0]]), smallest_length=0.5) == [2.0]


def test_heads_are_equilibrated_row_by_row() -> None:
    stack = np.random.default_rng(1).normal(size=(2, 3, 5, 4))
    np.testing.assert_array_equal(equilibrate_rows(stack)[1, 2], equilibrate_rows(stack[1, 2]))
