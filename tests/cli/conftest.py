"""Commands run inside the test process leave its signals and its process group alone."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def own_signals(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep the process group, and put the signal handlers back afterwards."""
    monkeypatch.setattr("sandbox.cli.train_command.own_process_group", lambda: None)
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)
