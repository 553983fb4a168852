"""What every test shares: one thread, its own runs folder, deterministic hypothesis, the browser's place."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

# torch is not loaded yet and sizes its pools when it is; NumPy is, through the shape checker.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"
threadpool_limits(1)

# Shared machines make wall time meaningless; CI must not fail on a lucky draw of the day.
settings.register_profile(
    "sandbox",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("sandbox")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep long tests for when they are named, and give browser tests that fail one more try."""
    for item in items:
        if item.get_closest_marker("e2e"):  # a machine that stands still for a moment fails presses
            item.add_marker(pytest.mark.flaky(reruns=1))
    if "long" not in (config.option.markexpr or ""):
        left_out = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True)
def runs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty runs folder of the test's own, which SANDBOX_RUNS names (made by whoever writes first)."""
    folder = tmp_path / "runs"
    monkeypatch.setenv("SANDBOX_RUNS", str(folder))
    return folder


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds app.py, docs and tests."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path; `make test` installs one where it can (scripts/browser.sh)."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.fail("No Chromium or Chrome: run `make browser`, or set CHROMIUM to its path.", pytrace=False)
    return found
