"""The table of cases names tests that exist, and every case."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "cases.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(\w+)/(\w+)::(\w+)`")


def test_every_case_from_1_to_31_is_there_with_at_least_one_test() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| C") and line[3].isdigit()]
    assert [row.split("|")[1].strip() for row in rows] == [f"C{n}" for n in range(1, 32)]
    assert all(NAMED.search(row) for row in rows)


def test_every_test_that_is_named_exists() -> None:
    missing = []
    for folder, file, name in NAMED.findall(TEXT):
        path = ROOT / "tests" / folder / f"test_{file}.py"
        if not path.is_file() or f"def test_{name}(" not in path.read_text(encoding="utf-8"):
            missing.append(f"{folder}/{file}::{name}")
    assert missing == []
