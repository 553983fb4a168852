"""No bracket of theta is ever wrong: thousands of rows of every kind against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.mathematics.theta import theta_bracket, theta_certificates
from tests.mathematics.brute_force import exact_theta, exact_theta_of_small_integers

ROWS_PER_FAMILY = 250
RANDOM = np.random.default_rng(1848)

pytestmark = pytest.mark.usefixtures("both_ways")


def _float32_softmax(n_keys: int) -> np.ndarray:
    weights = np.exp(RANDOM.normal(size=(ROWS_PER_FAMILY, n_keys)) * 2).astype(np.float32)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights * np.float32(1 - 1e-7)


FAMILIES = {
    "flat": lambda n: RANDOM.dirichlet(np.ones(n), ROWS_PER_FAMILY),
    "peaked": lambda n: RANDOM.dirichlet(np.full(n, 0.1), ROWS_PER_FAMILY),
    "nearly uniform": lambda n: 1 / n + 1e-9 * RANDOM.random((ROWS_PER_FAMILY, n)),
    "float32 that sum to 1 - 1e-7": _float32_softmax,
    "small integers": lambda n: RANDOM.integers(1, 6, (ROWS_PER_FAMILY, n)).astype(np.float64),
    "thirty orders of magnitude": lambda n: 10.0 ** RANDOM.uniform(-30, 0, (ROWS_PER_FAMILY, n)),
    "with zeros": lambda n: RANDOM.random((ROWS_PER_FAMILY, n)) * (RANDOM.random((ROWS_PER_FAMILY, n)) < 0.6),
    "denormals": lambda n: 5e-324 * RANDOM.integers(0, 50, (ROWS_PER_FAMILY, n)),
    "huge": lambda n: 1.7e308 * RANDOM.random((ROWS_PER_FAMILY, n)),
    "denormals beside ordinary ones": lambda n: np.where(
        RANDOM.random((ROWS_PER_FAMILY, n)) < 0.5, 3e-320, RANDOM.random((ROWS_PER_FAMILY, n))
    ),
}


def violations(weights: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> list[int]:
    """Rows whose true theta lies outside the bracket, compared without any rounding."""
    wrong = []
    for index, row in enumerate(weights):
        if not row.any():
            continue
        truth = exact_theta(row)
        if not Fraction(float(lower[index])) <= truth <= Fraction(float(upper[index])):
            wrong.append(index)
    return wrong


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_keys", [4, 7, 10])
def test_the_true_value_lies_in_every_bracket(family: str, n_keys: int) -> None:
    weights = FAMILIES[family](n_keys)
    lower, upper, exact = theta_bracket(weights)
    assert violations(weights, lower, upper) == []
    assert (exact | ~weights.any(axis=1)).all()
    assert np.nanmax(upper - lower) < 1e-13


@pytest.mark.slow
def test_none_of_ten_thousand_brackets_of_rows_of_every_kind_and_length_is_wrong() -> None:
    """Rows of 1 to 11 keys, every subset tried in exact rational arithmetic."""
    n_brackets, wrong = 0, []
    for name, family in FAMILIES.items():
        for n_keys in (1, 2, 3, 5, 6, 8, 9, 11):
            weights = family(n_keys)
            lower, upper, _ = theta_bracket(weights, exact_to=n_keys % 2 * 24)  # half stop at the gap
            wrong += [(name, n_keys, row) for row in violations(weights, lower, upper)]
            n_brackets += int(weights.any(axis=1).sum())
    assert wrong == [] and n_brackets >= 10_000


@pytest.mark.parametrize("family", FAMILIES)
def test_every_certificate_is_a_lower_bound(family: str) -> None:
    weights = FAMILIES[family](8)
    for name, bound in theta_certificates(weights).items():
        assert violations(weights, bound, np.ones(len(weights))) == [], name


@pytest.mark.parametrize("n_keys", [20, 24, 25, 40, 61])
@pytest.mark.parametrize("largest", [2, 3, 7, 40])
def test_long_rows_of_whole_numbers_stay_inside_their_bracket(n_keys: int, largest: int) -> None:
    weights = RANDOM.integers(1, largest, (40, n_keys), endpoint=True)
    lower, upper, _ = theta_bracket(weights)
    for row, low, high in zip(weights.tolist(), lower, upper, strict=True):
        assert Fraction(float(low)) <= exact_theta_of_small_integers(row) <= Fraction(float(high))
    assert (upper - lower <= 2e-3).all()


@pytest.mark.parametrize("n_heads", [1, 3, 6])
def test_long_rows_with_a_few_heavy_keys_stay_inside_their_bracket(n_heads: int) -> None:
    heavy = RANDOM.integers(300, 1000, (60, n_heads))
    weights = np.concatenate([heavy, RANDOM.integers(0, 5, (60, 40))], axis=1)
    lower, upper, exact = theta_bracket(weights)
    for row, low, high in zip(weights.tolist(), lower, upper, strict=True):
        assert Fraction(float(low)) <= exact_theta_of_small_integers(row) <= Fraction(float(high))
    assert exact.any()


@given(st.lists(st.floats(0, 1e308, allow_subnormal=True), min_size=1, max_size=8).filter(any))
def test_any_row_of_floats_lies_in_its_bracket(row: list[float]) -> None:
    lower, upper, _ = theta_bracket(np.array(row))
    assert Fraction(float(lower)) <= exact_theta(row) <= Fraction(float(upper))


@given(st.lists(st.floats(1e-9, 1.0), min_size=2, max_size=30), st.randoms(use_true_random=False))
def test_brackets_do_not_see_the_order_of_keys(row: list[float], random: object) -> None:
    shuffled = list(row)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert theta_bracket(np.array(shuffled)) == theta_bracket(np.array(row))


@given(st.lists(st.floats(1e-9, 1.0), min_size=2, max_size=30), st.integers(-200, 200), st.integers(0, 5))
def test_brackets_see_neither_powers_of_two_nor_padding(row: list[float], power: int, padding: int) -> None:
    scaled = np.ldexp(np.array(row + [0.0] * padding), power)
    assert theta_bracket(scaled) == theta_bracket(np.array(row))


@given(
    st.lists(st.tuples(st.floats(0, 1.0), st.booleans()), min_size=1, max_size=30),
    st.sampled_from([np.nan, np.inf, -1.0, 1e300]),
)
def test_brackets_never_see_what_stands_at_a_masked_key(
    keys: list[tuple[float, bool]], hidden: float
) -> None:
    weights, visible = (np.array(column) for column in zip(*keys, strict=True))
    masked = theta_bracket(np.where(visible, weights, hidden), visible)
    alone = theta_bracket(weights[visible])
    np.testing.assert_equal(tuple(masked), tuple(alone))


@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=12), st.floats(1e-100, 1e100))
def test_theta_does_not_see_scale(row: list[float], scale: float) -> None:
    before, after = theta_bracket(np.array(row)), theta_bracket(np.array(row) * scale)
    assert after.lower <= before.upper + 1e-13 and before.lower <= after.upper + 1e-13


@given(st.lists(st.floats(0, 1.0), min_size=1, max_size=40).filter(any))
def test_theta_is_at_least_what_the_largest_key_promises(row: list[float]) -> None:
    lower, upper, _ = theta_bracket(np.array(row))
    share = max(row) / sum(row)
    assert 0 <= lower <= upper <= 1
    assert lower >= 1 - share**2 - 1e-12
    assert lower >= 4 * share * (1 - share) - 1e-12
    if share >= 0.5:
        assert upper <= 4 * share * (1 - share) + 1e-12
