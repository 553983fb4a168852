"""Every benchmark finds what it measures: a name that has moved is seen here, not on the day of measuring."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("file", sorted((ROOT / "benchmarks").glob("[a-z]*.py")), ids=lambda file: file.stem)
def test_every_name_that_a_benchmark_imports_is_there(file: Path) -> None:
    imports = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in imports if (node.module or "").split(".")[0] in ("sandbox", "tests")]
    assert ours or file.stem == "screens"
    for node in ours:
        module = import_module(node.module or "")
        for name in node.names:
            if not hasattr(module, name.name):  # a module of a package, then
                import_module(f"{node.module}.{name.name}")
