"""theta's bracket: the table of known values, masks, unusable rows, and which rows it calls exact."""

import numpy as np
import pytest

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.attention_rows import visible_rows
from sandbox.mathematics.theta import (
    CHEAPLY_SEARCHED_KEYS,
    dominant_atom,
    theta_bracket,
    theta_certificates,
)

# row, theta, sorted prefix, LPT, Karmarkar-Karp
ORACLES = [
    ([0.5, 0.3, 0.2], 1.0, 1.0, 1.0, 1.0),
    ([0.6, 0.3, 0.1], 0.96, 0.96, 0.96, 0.96),
    ([0.4, 0.3, 0.3], 0.96, 0.96, 0.96, 0.96),
    ([0.9, 0.05, 0.05], 0.36, 0.36, 0.36, 0.36),
    ([1.0, 0.0, 0.0], 0.0, 0.0, 0.0, 0.0),
    ([1 / 3, 1 / 3, 1 / 3], 8 / 9, 8 / 9, 8 / 9, 8 / 9),
    ([0.3, 0.25, 0.2, 0.15, 0.1], 1.0, 0.99, 0.99, 1.0),
]
RANDOM = np.random.default_rng(20260218)

pytestmark = pytest.mark.usefixtures("both_ways")


def softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize(("row", "theta", "prefix", "greedy", "differencing"), ORACLES)
def test_theta_and_its_certificates_agree_with_the_table(
    row: list[float], theta: float, prefix: float, greedy: float, differencing: float
) -> None:
    lower, upper, exact = theta_bracket(np.array(row))
    assert exact
    assert lower == pytest.approx(theta, abs=1e-8) and upper == pytest.approx(theta, abs=1e-8)
    certificates = theta_certificates(np.array(row))
    assert certificates["sorted_prefix"] == pytest.approx(prefix, abs=1e-8)
    assert certificates["longest_first"] == pytest.approx(greedy, abs=1e-8)
    assert certificates["karmarkar_karp"] == pytest.approx(differencing, abs=1e-8)


@pytest.mark.parametrize(
    ("temperature", "theta", "norm"), [(1.0, 0.9171547432, 0.9171547432), (2.0, 0.9919195124, 0.4959597562)]
)
def test_theta_of_a_softmax_row_agrees_with_its_oracle(temperature: float, theta: float, norm: float) -> None:
    lower, upper, _ = theta_bracket(softmax(np.array([2.0, 1.0, 0.0, -1.0]) / temperature))
    assert lower == pytest.approx(theta, abs=1e-8) and upper == pytest.approx(theta, abs=1e-8)
    assert lower / temperature == pytest.approx(norm, abs=1e-8)


def test_theta_is_the_norm_of_softmax_jacobian_from_largest_entry_to_sum() -> None:
    p = softmax(RANDOM.normal(size=6))
    jacobian = np.diag(p) - np.outer(p, p)
    signs = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1)
    norm = np.abs(jacobian @ signs).sum(axis=0).max()
    lower, upper, _ = theta_bracket(p)
    assert lower - 1e-14 <= norm <= upper + 1e-14


def test_low_entropy_does_not_mean_low_theta() -> None:
    assert theta_bracket(np.array([0.5, 0.5, 0.0, 0.0])).lower == 1.0


def test_unnormalized_rows_are_divided_by_their_sum() -> None:
    lower, upper, exact = theta_bracket(np.array([6, 3, 1]))
    assert exact and lower == pytest.approx(0.96, abs=1e-12) and upper == pytest.approx(0.96, abs=1e-12)


def test_masked_keys_never_count_whatever_they_hold() -> None:
    weights = np.array([[0.4, 0.3, 0.3, 9.0], [0.4, 0.3, 0.3, np.nan], [0.4, 0.3, 0.3, -1.0]])
    lower, upper, exact = theta_bracket(weights, np.array([True, True, True, False]))
    np.testing.assert_allclose(lower, 0.96, atol=1e-12)
    np.testing.assert_allclose(upper, 0.96, atol=1e-12)
    assert exact.all()


def test_causal_rows_use_visible_keys_alone_and_the_first_has_theta_zero() -> None:
    weights, visible = RANDOM.random((5, 5)), np.tri(5, dtype=bool)
    lower, upper, exact = theta_bracket(weights, visible)
    assert exact.all() and lower[0] == upper[0] == 0.0
    for row in range(5):
        alone = theta_bracket(weights[row, : row + 1])
        assert (lower[row], upper[row]) == (alone.lower, alone.upper)


def test_rows_without_visible_weight_have_no_theta() -> None:
    weights = np.array([[0.0, 0.0], [0.5, 0.5]])
    lower, upper, exact = theta_bracket(weights, np.array([[True, True], [False, False]]))
    assert np.isnan(lower).all() and np.isnan(upper).all() and not exact.any()
    assert np.isnan(dominant_atom(np.zeros(3))) and np.isnan(theta_certificates(np.zeros(3))["longest_first"])


@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0), (2, 0, 3)])
def test_arrays_without_rows_or_keys_keep_their_shape(shape: tuple[int, ...]) -> None:
    lower, upper, exact = theta_bracket(np.ones(shape))
    assert lower.shape == upper.shape == exact.shape == shape[:-1]


def test_leading_axes_are_kept_and_rows_do_not_depend_on_their_company() -> None:
    weights = softmax(3 * RANDOM.normal(size=(2, 3, 7, 30)))
    together = theta_bracket(weights)
    assert together.lower.shape == (2, 3, 7)
    for index in np.ndindex(2, 3, 7):
        alone = theta_bracket(weights[index])
        assert (together.lower[index], together.upper[index]) == (alone.lower, alone.upper)


@pytest.mark.parametrize("bad", [-1e-9, np.nan, np.inf])
def test_an_unusable_weight_is_refused_with_its_row(bad: float) -> None:
    weights = np.full((3, 4), 0.25)
    weights[2, 1] = bad
    with pytest.raises(InvalidData, match=r"Row 2 holds .* at key 1"):
        theta_bracket(weights)


@pytest.mark.parametrize("gap", [-1e-9, 1.5, float("nan")])
def test_a_gap_out_of_range_is_refused(gap: float) -> None:
    with pytest.raises(InvalidData, match="gap"):
        theta_bracket(np.ones(3), gap=gap)


def test_what_holds_no_rows_of_real_numbers_is_refused() -> None:
    with pytest.raises(InvalidData, match="axis of keys"):
        visible_rows(np.array(1.0))
    for array in (np.array(["a"]), np.array([1j]), np.array([None])):
        with pytest.raises(InvalidData, match="no real numbers"):
            visible_rows(array)


@pytest.mark.parametrize("n_keys", [1, 2, 3, 5, 9, 16, 20, 24])
def test_rows_of_up_to_24_keys_are_always_exact(n_keys: int) -> None:
    lower, upper, exact = theta_bracket(softmax(2 * RANDOM.normal(size=(100, n_keys))))
    assert exact.all() and (upper - lower < 1e-14).all()


def test_exactness_may_be_asked_of_fewer_keys_and_the_rest_is_closed_within_the_gap() -> None:
    weights = softmax(2 * RANDOM.normal(size=(60, 24)))
    lower, upper, exact = theta_bracket(weights, exact_to=CHEAPLY_SEARCHED_KEYS)
    assert (upper - lower <= 1e-6).all() and not exact.all()
    truth = theta_bracket(weights)
    assert (lower <= truth.upper).all() and (truth.lower <= upper).all()
    assert theta_bracket(weights, gap=0.0, exact_to=0).exact.all()
    for keys in (-1, 33):
        with pytest.raises(InvalidData, match="exact up to"):
            theta_bracket(weights, exact_to=keys)


@pytest.mark.parametrize("n_keys", [32, 64, 129])
@pytest.mark.parametrize("spread", [0.1, 1.0, 3.0, 6.0])
def test_longer_rows_of_softmax_close_within_the_gap(n_keys: int, spread: float) -> None:
    scores = spread * np.random.default_rng(n_keys).normal(size=(50, n_keys))
    lower, upper, _ = theta_bracket(softmax(scores))
    assert (upper - lower <= 1e-6).all()


@pytest.mark.parametrize("n_keys", [3, 25, 63, 101])
def test_odd_uniform_rows_have_their_closed_form_at_any_length(n_keys: int) -> None:
    lower, upper, exact = theta_bracket(np.full(n_keys, 1 / n_keys))
    assert exact and lower == pytest.approx(1 - 1 / n_keys**2, abs=1e-13)
    assert upper == pytest.approx(1 - 1 / n_keys**2, abs=1e-13)


def test_long_rows_with_a_dominant_atom_are_exact() -> None:
    weights = np.concatenate([np.full((4, 1), 0.7), RANDOM.dirichlet(np.ones(99), 4) * 0.3], axis=1)
    lower, _, exact = theta_bracket(weights)
    assert exact.all()
    np.testing.assert_allclose(lower, 0.84, atol=1e-12)


def test_dominant_atom_is_the_largest_share_of_the_visible_sum() -> None:
    weights = np.array([[2.0, 1.0, 1.0], [1e308, 1e308, 1e308]])
    np.testing.assert_allclose(dominant_atom(weights), [0.5, 1 / 3], rtol=1e-14)
    np.testing.assert_allclose(dominant_atom(weights, np.array([False, True, True])), 0.5)
