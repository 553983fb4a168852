"""One new file is enough: menu entry, command-line kind, contract tests and reference line follow."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def example(repository: Path) -> tuple[Path, str]:
    """The file that docs/adding.md shows, and where it says it belongs."""
    page = (repository / "docs" / "adding.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n# (\S+\.py)\n(.*?)```", page, re.DOTALL)
    assert block is not None
    return Path(block[1]), block[2]


@pytest.fixture
def extended(repository: Path, tmp_path: Path) -> Path:
    """A copy of the sources with the one file added."""
    home = tmp_path / "copy"
    without = shutil.ignore_patterns("__pycache__")
    for name in ("sandbox", "tests"):
        shutil.copytree(repository / name, home / name, ignore=without)
    shutil.copy(repository / "pyproject.toml", home)
    place, source = example(repository)
    (home / place).write_text(source, encoding="utf-8")
    return home


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(home), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=home, env=environment, capture_output=True, text=True, timeout=300
    )


def test_a_file_from_the_docs_is_offered_everywhere(extended: Path):
    described = run(
        extended,
        "-c",
        "import json; from sandbox.experiment.describe import describe; print(json.dumps(describe()))",
    )
    entry = json.loads(described.stdout)["families"]["projection"]["halved"]
    assert entry["title"] == "Halved queries" and entry["knobs"]["factor"]["high"] == 2.0
    assert "halved" in run(extended, "-m", "sandbox", "train", "--help").stdout
    arm, task = "halved:factor=0.25", "sparse modular addition"
    command = ("train", "--task", task, "--arm", arm, "--steps", "2", "--out", "run", "--json")
    trained = run(extended, "-m", "sandbox", *command)
    assert trained.returncode == 0, trained.stderr
    assert arm in json.loads(trained.stdout)["arms"]


def test_the_contract_tests_ask_it_too(extended: Path):
    contracts = ("tests/test_contracts.py", "-q", "-k", "halved", "-p", "no:cacheprovider")
    asked = run(extended, "-m", "pytest", *contracts)
    assert asked.returncode == 0, asked.stdout + asked.stderr
    passed = re.search(r"(\d+) passed", asked.stdout)
    assert passed is not None and int(passed[1]) >= 8
