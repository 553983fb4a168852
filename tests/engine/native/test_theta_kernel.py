"""theta's compiled pipeline against NumPy's, which stays its oracle and its fallback: the same bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.mathematics import theta_compiled, theta_exact
from sandbox.mathematics.theta import theta_bracket, theta_certificates
from tests.mathematics.test_theta_soundness import FAMILIES

RANDOM = np.random.default_rng(3)


def numpy_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on as if nothing were built."""
    monkeypatch.setattr(theta_compiled, "found_build", lambda: ("", "not built"))


@given(st.integers(1, 14), st.integers(0, 2**32 - 1), st.sampled_from([3, 1000, 2**56]))
def test_both_searches_find_the_same_integer(n_keys: int, seed: int, largest: int) -> None:
    units = np.random.default_rng(seed).integers(0, largest, (5, n_keys))
    units = np.sort(units, axis=1)[:, ::-1]
    assert (theta_compiled.compiled_difference(units) == theta_exact._search_all(units)).all()


@pytest.mark.parametrize("n_keys", [24, 25, 32])
def test_both_searches_agree_on_long_rows(n_keys: int) -> None:
    units = np.sort(RANDOM.integers(0, 2**54, (2, n_keys)), axis=1)[:, ::-1]
    assert (theta_compiled.compiled_difference(units) == theta_exact._search_all(units)).all()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_keys", [1, 3, 11, 22, 25, 40, 129, 300])
def test_without_kernels_brackets_have_the_same_bits(
    family: str, n_keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = FAMILIES[family](n_keys)[:40]
    mask = RANDOM.random(weights.shape) < 0.9
    asked = [{"exact_to": 0}, {"exact_to": 16, "gap": 0.0}, {"gap": 1e-3, "mask": mask}, {}]
    compiled = [theta_bracket(weights, **options) for options in asked]
    numpy_alone(monkeypatch)
    for options, found in zip(asked, compiled, strict=True):
        for a, b in zip(found, theta_bracket(weights, **options), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_keys", [1, 2, 9, 64, 200])
def test_without_kernels_certificates_have_the_same_bits(
    family: str, n_keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = FAMILIES[family](n_keys)[:40]
    compiled = theta_certificates(weights)
    numpy_alone(monkeypatch)
    for name, bound in theta_certificates(weights).items():
        np.testing.assert_array_equal(compiled[name], bound, err_msg=name)


def test_pieces_of_a_call_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = RANDOM.dirichlet(np.ones(30), 50)
    at_once, bounds = theta_bracket(weights), theta_certificates(weights)
    monkeypatch.setattr(theta_compiled, "CHUNK_WEIGHTS", 100)
    for a, b in zip(at_once, theta_bracket(weights), strict=True):
        np.testing.assert_array_equal(a, b)
    for name, bound in theta_certificates(weights).items():
        np.testing.assert_array_equal(bounds[name], bound)


def test_rows_of_32_keys_are_exact_where_that_is_asked_for() -> None:
    weights = RANDOM.dirichlet(np.ones(32), 5)
    asked, usual = theta_bracket(weights, exact_to=32), theta_bracket(weights)
    assert asked.exact.all() and not usual.exact.all()
    assert (usual.lower <= asked.upper).all() and (asked.lower <= usual.upper).all()
    assert (asked.upper - asked.lower).max() < 1e-13
