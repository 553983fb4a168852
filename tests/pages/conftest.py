"""The pages as Streamlit runs them, with the catalogue in place and no trainer behind."""

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sandbox.experiment.describe import check
from sandbox.runner import queue
from sandbox.runner.control import RunControl
from sandbox.ui import training
from tests.live.synthetic import SyntheticRun
from tests.ui import described

Open = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def main_module_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit leaves its script behind as __main__, which workers started later would run first."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture
def open_page(runs_folder: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens a page by name, with what its address says; the trainer's answers come from this process."""
    described.put_into(runs_folder)
    monkeypatch.setattr(training, "ensure_supervisor", lambda: True)
    monkeypatch.setattr(queue, "check", lambda plain, timeout=10.0: json.loads(json.dumps(check(plain))))

    def open_it(name: str = "home", **address: str) -> AppTest:
        app = AppTest.from_file(str(repository / "sandbox" / "ui" / "entry.py"), default_timeout=60)
        if name != "home":
            app.run()
            app.switch_page(f"../../pages/{name}.py")
        for key, value in address.items():
            app.query_params[key] = value
        return app.run()

    return open_it


@pytest.fixture
def finished(runs_folder: Path) -> str:
    """The id of a made-up finished run that also went through the queue."""
    return record(runs_folder, "quiet-test-run", nan_at=80)


def record(runs: Path, run_id: str, state: str = "done", **made: Any) -> str:
    """Make a run of 100 steps and let the queue know it."""
    run = SyntheticRun(runs / run_id, steps=100, evaluate_every=10, read_every=25, **made)
    RunControl(runs / run_id, create=True).close()  # as who makes a run does
    run.grow(100, state)
    if state == "done":
        run.finish()
    else:
        run.writer.close()
    plain = json.loads((runs / run_id / "experiment.json").read_text())
    with queue.catalogue_connection() as connection:
        connection.execute(
            "INSERT INTO runs(id, owner, name, plain, device, state, created, step) "
            "VALUES (?, 'local', 'quiet-test', ?, 'cpu', ?, ?, 100)",
            (run_id, json.dumps(plain), state, time.time()),
        )
    return run_id


def said(app: AppTest) -> str:
    """All that the page says in Markdown, captions and messages, without escapes, all spaces alike."""
    elements = [*app.markdown, *app.caption, *app.error, *app.info, *app.title, *app.subheader]
    text = "\n".join(str(element.value) for element in elements)
    return re.sub(r"\\(.)", r"\1", text).replace("\u00a0", " ")  # what was escaped twice shows its backslash


def settled(app: AppTest) -> AppTest:
    """The app, after checking that no script failed."""
    assert [error.message for error in app.exception] == []
    return app
