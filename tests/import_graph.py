"""Who imports whom in sandbox/, read from the sources without running them."""

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "sandbox"


def module_name(path: Path) -> str:
    """The dotted name under which Python imports `path`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def sources() -> dict[str, Path]:
    """Every module of the package by dotted name."""
    return {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(module: str, path: Path, *, lazy: bool) -> set[str]:
    """The modules that importing `module` loads; with `lazy`, those its functions load later too."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found: set[str] = set()
    for node in _statements(ast.parse(path.read_text(encoding="utf-8")), lazy):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                base = ".".join([*parents[: len(parents) - node.level + 1], *filter(None, [node.module])])
            found.add(base)
            found |= {f"{base}.{alias.name}" for alias in node.names if f"{base}.{alias.name}" in sources()}
    return found | {parent for name in found for parent in _parents(name)}


def chain(start: str, targets: Iterable[str]) -> list[str] | None:
    """The shortest chain of imports that loads one of `targets` when `start` is imported, if there is one."""
    goals = set(targets)
    before: dict[str, str | None] = dict.fromkeys([start, *_parents(start)])
    queue = deque(before)
    while queue:
        module = queue.popleft()
        if module in goals:
            path = [module]
            while (previous := before[path[-1]]) is not None:
                path.append(previous)
            return path[::-1]
        if module in sources():
            for name in sorted(imports(module, sources()[module], lazy=False) - before.keys()):
                before[name] = module
                queue.append(name)
    return None


def within(package: str) -> list[str]:
    """The modules of `package`, itself included; none while it does not exist."""
    return [name for name in sources() if name == package or name.startswith(package + ".")]


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


def _statements(tree: ast.AST, lazy: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not lazy:
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _statements(node, lazy)
