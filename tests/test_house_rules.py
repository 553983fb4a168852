"""The design rules themselves: floors, file length, sources, what may not be written."""

import ast
import importlib
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from sandbox.foundations.registry import Registry
from tests.fresh_process import printed_by
from tests.import_graph import ROOT, chain, imports, sources, within

MAX_LINES = 300
SKIPPED = {".git", ".venv", "build", "runs", "node_modules"}
TORCH = ("torch", "sklearn", "scipy")
# What the app's process imports. Only these two files of the foundations need torch.
TORCH_FOUNDATIONS = {"sandbox.foundations.seeding", "sandbox.foundations.probes"}
APP_PACKAGES = ("sandbox.ui", "sandbox.live", "sandbox.figures", "sandbox.lessons", "sandbox.store")
FAMILIES = ("tasks", "attention", "conditioning", "initialization", "models", "engine", "diagnostics", "live")
# A paper by year or arXiv number, or the library whose behaviour it is.
A_SOURCE = re.compile(r"\b(19|20)\d\d\b|arXiv:? ?\d{4}\.\d{4,5}|\btorch\.\w+")


def app_modules() -> list[str]:
    """Every module that the app's process may import."""
    foundations = set(within("sandbox.foundations")) - TORCH_FOUNDATIONS
    packages = [name for package in APP_PACKAGES for name in within(package)]
    return sorted({"sandbox", *foundations, *packages, *within("sandbox.runner.control")})


def python_files(*folders: str) -> list[Path]:
    """The Python files under `folders` of the repository, and app.py."""
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [*found, *ROOT.glob("app.py")]


def text_files() -> list[Path]:
    """Every text file that is or would be committed."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    names = listed.stdout.split("\n") if listed.returncode == 0 else []
    paths = [ROOT / name for name in names if name] or [
        p for p in ROOT.rglob("*") if not SKIPPED & {*p.parts}
    ]
    suffixes = {".py", ".md", ".toml", ".txt", ".sh", ".js", ".css", ".html", ".json", ".yaml", ".yml", ""}
    return [path for path in paths if path.is_file() and path.suffix in suffixes]


def shown(path: Path) -> str:
    """The path as a message names it."""
    return str(path.relative_to(ROOT))


def test_every_import_points_down_or_sideways() -> None:
    command = "from importlinter.cli import lint_imports_command as c; c(['--no-cache'])"
    assert "0 broken" in printed_by(command, ROOT)


def test_no_library_module_imports_a_script_above_it() -> None:
    above = {"app", "pages", "tests", "benchmarks", "scripts"}
    found = {name: imports(name, path, lazy=True) & above for name, path in sources().items()}
    assert {name: bad for name, bad in found.items() if bad} == {}


def test_no_file_is_longer_than_the_house_allows() -> None:
    lengths = {
        shown(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files("sandbox", "pages", "tests", "benchmarks", "scripts")
    }
    assert {name: length for name, length in lengths.items() if length > MAX_LINES} == {}


def test_every_module_says_what_it_is_about() -> None:
    silent = [
        shown(path)
        for path in python_files("sandbox", "tests", "benchmarks", "scripts")
        if (text := path.read_text(encoding="utf-8")).strip() and not ast.get_docstring(ast.parse(text))
    ]
    assert silent == []


def test_streamlit_stays_on_the_top_floors() -> None:
    top = {"sandbox.ui", "sandbox.live"}
    below = [name for name in sources() if not any(name == t or name.startswith(t + ".") for t in top)]
    assert [name for name in below if "streamlit" in imports(name, sources()[name], lazy=True)] == []


def test_plotly_starts_at_the_figures() -> None:
    allowed = ("sandbox.figures", "sandbox.lessons", "sandbox.ui", "sandbox.live", "sandbox.cli")
    below = [name for name in sources() if not name.startswith(allowed)]
    assert [name for name in below if "plotly" in imports(name, sources()[name], lazy=True)] == []


@pytest.mark.parametrize("package", ["sandbox.foundations", *APP_PACKAGES, "sandbox.runner.control"])
def test_no_import_of_the_app_reaches_torch(package: str) -> None:
    chains = [chain(module, TORCH) for module in within(package) if module not in TORCH_FOUNDATIONS]
    assert [" -> ".join(links) for links in chains if links] == []


def test_nothing_of_the_app_loads_torch_later_either() -> None:
    found = {name: imports(name, sources()[name], lazy=True) & set(TORCH) for name in app_modules()}
    assert {name: bad for name, bad in found.items() if bad} == {}


def test_importing_all_of_the_app_leaves_torch_unloaded() -> None:
    command = (
        f"import importlib, sys\nfor name in {app_modules()!r}: importlib.import_module(name)\n"
        f"print([name for name in {TORCH!r} if name in sys.modules])"
    )
    assert printed_by(command, ROOT) == "[]"


def test_commanding_a_run_never_loads_what_trains_it() -> None:
    for module in within("sandbox.runner.control"):
        assert chain(module, ["sandbox.runner.worker"]) is None


def test_the_import_graph_sees_a_chain_through_a_package() -> None:
    assert chain("sandbox.foundations.seeding", ["torch"]) == ["sandbox.foundations.seeding", "torch"]
    assert chain("sandbox.foundations.errors", ["torch"]) is None


def test_every_registered_idea_says_what_it_is_and_cites_its_source() -> None:
    for family in FAMILIES:
        for module in within(f"sandbox.{family}"):
            importlib.import_module(module)
    loaded = [module for name, module in list(sys.modules.items()) if name.startswith("sandbox.")]
    registries = [
        thing.variants
        for module in loaded
        for thing in vars(module).values()
        if isinstance(getattr(thing, "variants", None), Registry)
    ]
    variants = {v for registry in registries for v in registry.values()}
    assert variants
    faults = [
        f"{variant.__module__}.{variant.__name__}: {word}"
        for variant in variants
        for word, good in (
            ("title", bool(getattr(variant, "title", ""))),
            ("sentence", getattr(variant, "sentence", "").endswith(".")),
            ("source with a year", bool(A_SOURCE.search(getattr(variant, "source", "")))),
        )
        if not good
    ]
    assert sorted(faults) == []


def test_one_idea_file_registers_one_idea() -> None:
    counts = {
        name: len(re.findall(r"^@\S+\.register\(", path.read_text(encoding="utf-8"), re.MULTILINE))
        for family in set(FAMILIES) - {"engine"}  # Adam and AdamW differ in one line
        for name, path in sources().items()
        if name in within(f"sandbox.{family}")
    }
    assert {name: count for name, count in counts.items() if count > 1} == {}


def called(tree: ast.AST) -> list[tuple[str, ast.Call]]:
    """Every call of the tree with the dotted name of what it calls."""
    return [(ast.unparse(node.func), node) for node in ast.walk(tree) if isinstance(node, ast.Call)]


def test_nothing_that_runs_code_is_read_from_a_file() -> None:
    loaders = {"torch.load", "eval", "exec", "yaml.load"}
    pickles = {"pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
    faults = []
    for path in python_files("sandbox", "pages"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        faults += [f"{shown(path)}: {name}" for name, _ in called(tree) if name in loaders]
        faults += [
            f"{shown(path)}: allow_pickle"
            for _, node in called(tree)
            for word in node.keywords
            if word.arg in {"allow_pickle", "weights_only"}
            and ast.unparse(word.value) != str(word.arg == "weights_only")
        ]
        names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        names |= {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
        faults += [f"{shown(path)}: imports {name}" for name in names & pickles]
    assert faults == []


def test_no_page_is_handed_html() -> None:
    faults = [
        f"{shown(path)}:{node.lineno}"
        for path in python_files("sandbox", "pages")
        for name, node in called(ast.parse(path.read_text(encoding="utf-8")))
        if name.endswith(".html") or any(word.arg == "unsafe_allow_html" for word in node.keywords)
    ]
    assert faults == []


def test_sql_is_never_built_from_values() -> None:
    faults = []
    for path in python_files("sandbox", "pages"):
        for name, node in called(ast.parse(path.read_text(encoding="utf-8"))):
            if name.endswith((".execute", ".executemany")) and node.args:
                built = [
                    n for n in ast.walk(node.args[0]) if isinstance(n, ast.JoinedStr | ast.BinOp | ast.Call)
                ]
                faults += [f"{shown(path)}:{node.lineno}"] if built else []
    assert faults == []


def test_no_file_names_a_package_registry() -> None:
    hosts = re.compile(
        "|".join(
            re.escape(h) for h in ("py" + "pi.org", "python" + "hosted", "npm" + "js.org", "deb." + "debian")
        )
    )
    assert [shown(path) for path in text_files() if hosts.search(path.read_text(encoding="utf-8"))] == []


def test_no_test_is_skipped_or_expected_to_fail() -> None:
    marks = re.compile(r"mark\.(skip|skipif|xfail)\b|pytest\.(skip|xfail|importorskip)\(")
    files = [path for path in python_files("tests") if path != Path(__file__)]
    assert [shown(path) for path in files if marks.search(path.read_text(encoding="utf-8"))] == []


def test_every_dependency_has_its_reason_in_the_docs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    reasons = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    assert [name for name in (Requirement(r).name for r in needed) if f"| `{name}` |" not in reasons] == []


def test_the_lock_fits_every_range_and_names_no_build_of_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8") + (
        ROOT / "requirements-dev.txt"
    ).read_text(encoding="utf-8")
    locked = dict(re.findall(r"^([a-z0-9-]+)==(\S+)$", text, re.MULTILINE))
    for line in [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]:
        need = Requirement(line)
        assert need.specifier.contains(locked[need.name]), f"{line}: run make lock"
    assert locked["torch"] == "2.13.0"
    assert [name for name in locked if name.startswith(("nvidia", "cuda", "triton"))] == []


def test_the_stated_needs_of_torch_are_those_of_the_installed_build() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    stated = {
        str(Requirement(line)) for line in project["tool"]["uv"]["dependency-metadata"][0]["requires-dist"]
    }
    installed = [Requirement(line) for line in importlib.metadata.requires("torch") or []]
    accelerator = ("nvidia", "cuda", "triton")
    plain = {str(need) for need in installed if need.marker is None and not need.name.startswith(accelerator)}
    assert plain == stated
