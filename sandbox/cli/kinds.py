"""The kinds an arm may name, read from the sources: `--help` must not wait for torch."""

import ast
from pathlib import Path

FOLDERS = ("attention", "conditioning", "initialization", "models/placement")


def registered_kinds(folders: tuple[str, ...] = FOLDERS) -> list[str]:
    """Every kind that a decorator `@Family.variants.register("kind")` enters in or below these folders."""
    package = Path(__file__).resolve().parents[1]
    kinds = []
    for folder in folders:
        for path in sorted((package / folder).rglob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    kinds += [kind for d in node.decorator_list if (kind := _registers(d)) is not None]
    return kinds


def _registers(decorator: ast.expr) -> str | None:
    if not (isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)):
        return None
    if decorator.func.attr != "register" or len(decorator.args) != 1:
        return None
    (kind,) = decorator.args
    return kind.value if isinstance(kind, ast.Constant) and isinstance(kind.value, str) else None
