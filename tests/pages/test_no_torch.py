"""The app's process never loads torch, scikit-learn or scipy, whatever page was run in it."""

from pathlib import Path

from tests.fresh_process import printed_by
from tests.pages.conftest import record
from tests.ui import described

SCRIPT = """
import sys
from streamlit.testing.v1 import AppTest

app = AppTest.from_file("sandbox/ui/entry.py", default_timeout=60).run()
for page in ("sandbox", "run", "reference", "gallery", "compare", "study", "instant"):
    app.switch_page(f"../../pages/{page}.py")
    named = {"sandbox": "run", "run": "run", "compare": "runs"}
    app.query_params.update({named[page]: "quiet-test-run"} if page in named else {})
    app.session_state["run.study"] = True
    app.run()
    assert not app.exception, app.exception
    assert page not in ("run", "compare") or app.get("plotly_chart")
    app.query_params.clear()
print([name for name in ("torch", "sklearn", "scipy", "pandas") if name in sys.modules])
"""


def test_no_page_loads_what_trains(runs_folder: Path, repository: Path) -> None:
    described.put_into(runs_folder)
    record(runs_folder, "quiet-test-run")
    assert printed_by(SCRIPT, repository) in ("[]", "['pandas']")


def test_pages_are_short_and_hold_no_state(repository: Path) -> None:
    pages = sorted((repository / "pages").glob("*.py"))
    assert [page.stem for page in pages] == [
        "compare",
        "gallery",
        "home",
        "instant",
        "reference",
        "run",
        "sandbox",
        "study",
    ]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 60
        assert "session_state" not in text


def test_the_session_is_touched_in_one_file(repository: Path) -> None:
    touching = [
        path.name
        for path in (repository / "sandbox" / "ui").glob("*.py")
        if "session_state" in path.read_text(encoding="utf-8")
    ]
    assert touching == ["session.py"]
