"""The compiled complete search of theta against NumPy's, which stays its oracle and its fallback."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.mathematics import theta_exact
from sandbox.mathematics.theta import theta_bracket

RANDOM = np.random.default_rng(3)


@given(st.integers(1, 14), st.integers(0, 2**32 - 1), st.sampled_from([3, 1000, 2**56]))
def test_both_searches_find_the_same_integer(n_keys: int, seed: int, largest: int) -> None:
    units = np.random.default_rng(seed).integers(0, largest, (5, n_keys))
    units = np.sort(units, axis=1)[:, ::-1]
    assert (theta_exact._search_compiled(units) == theta_exact._search_all(units)).all()


@pytest.mark.parametrize("n_keys", [24, 25, 32])
def test_both_searches_agree_on_long_rows(n_keys: int) -> None:
    units = np.sort(RANDOM.integers(0, 2**54, (2, n_keys)), axis=1)[:, ::-1]
    assert (theta_exact._search_compiled(units) == theta_exact._search_all(units)).all()


def test_without_kernels_theta_has_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = RANDOM.dirichlet(np.ones(22), 30)
    compiled = theta_bracket(weights)
    monkeypatch.setattr(theta_exact, "found_build", lambda: ("", "not built"))
    plain = theta_bracket(weights)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(compiled, plain, strict=True))
    assert plain.exact.all()


def test_rows_of_32_keys_are_exact_where_that_is_asked_for() -> None:
    weights = RANDOM.dirichlet(np.ones(32), 5)
    asked, usual = theta_bracket(weights, exact_to=32), theta_bracket(weights)
    assert asked.exact.all() and not usual.exact.all()
    assert (usual.lower <= asked.upper).all() and (asked.lower <= usual.upper).all()
    assert (asked.upper - asked.lower).max() < 1e-13
