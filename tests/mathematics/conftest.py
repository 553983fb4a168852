"""theta is worked out twice, compiled and in NumPy: its tests hold for both."""

from collections.abc import Iterator

import pytest

from sandbox.mathematics import theta_compiled


@pytest.fixture(scope="module", params=["as it is built here", "in NumPy alone"])
def both_ways(request: pytest.FixtureRequest) -> Iterator[None]:
    """Once with the kernels, where they are built, and once as if they were not."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "in NumPy alone":
            patch.setattr(theta_compiled, "found_build", lambda: ("", "not built"))
        yield
