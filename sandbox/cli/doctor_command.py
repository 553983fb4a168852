"""`doctor`: what is installed, which devices there are, what is missing and how to get it."""

import argparse
import importlib.metadata
import os
import platform
import re
import shutil
import sys
from typing import Any

from sandbox.cli.answers import print_json, print_table

HELP = "say what is installed, which devices there are, what is missing and how to get it"
FORM: dict[str, object] = {}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `doctor`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; 1 if something that is needed is missing."""
    findings = examine()
    if arguments.json:
        print_json(findings)
    else:
        rows = [["what", "found"]]
        rows += [[name, str(value)] for name, value in findings["machine"].items()]
        rows += [[f"package {name}", version or "missing"] for name, version in findings["packages"].items()]
        rows += [[f"device {name}", sentence] for name, sentence in findings["devices"].items()]
        rows += [[f"engine {name}", sentence] for name, sentence in findings["engines"].items()]
        print_table(rows)
        for sentence in [*findings["missing"], *findings["notes"]]:
            sys.stdout.write(f"{sentence}\n")
        if not findings["missing"]:
            sys.stdout.write("Everything that is needed is here.\n")
    return 1 if findings["missing"] else 0


def examine() -> dict[str, Any]:
    """Machine, packages, devices, engines, and what is missing (needed) or worth a note (optional)."""
    from sandbox.runner.control import supervisor_runs
    from sandbox.store import runs_root

    packages, missing = _packages()
    notes = []
    runs = runs_root()
    if not os.access(next(p for p in (runs, *runs.parents) if p.exists()), os.W_OK):
        missing.append(f"The runs folder {runs} cannot be written; set SANDBOX_RUNS to one that can.")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        notes.append(
            "No Chromium or Chrome was found; only the browser tests need one (`make browser` installs it)."
        )
    machine = {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB",
        "runs folder": str(runs),
        "supervisor": "running" if supervisor_runs() else "not running (`serve` starts it)",
        "browser for tests": browser or "none",
    }
    devices, engines = (_devices(), _engines()) if packages.get("torch") else ({}, {})
    return {
        "machine": machine,
        "packages": packages,
        "devices": devices,
        "engines": engines,
        "missing": missing,
        "notes": notes,
    }


def _packages() -> tuple[dict[str, str | None], list[str]]:
    """Installed versions of what the package requires, and a sentence for each that is missing."""
    found: dict[str, str | None] = {}
    missing = []
    for name in _requirements():
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
            missing.append(
                f"The package {name} is missing; `make setup` or `pip install {name}` installs it."
            )
    return found, missing


def _requirements() -> list[str]:
    """Names of the required packages: a checkout's project file says them, else the installed metadata."""
    import tomllib
    from pathlib import Path

    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    if project.is_file():
        lines = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"]
    else:
        lines = importlib.metadata.requires("attention-conditioning-sandbox") or []
    return [re.split(r"[\s<>=!~;\[(]", line, maxsplit=1)[0] for line in lines if "extra ==" not in line]


def _engines() -> dict[str, str]:
    from sandbox.foundations.kernels import found_build

    build, why = found_build()
    native = f"built for {build}; taken where it applies (docs/engine.md)" if build else f"none: {why}"
    return {"torch": "trains everything", "native": native}


def _devices() -> dict[str, str]:
    from sandbox.engine.device import device_sentences

    return device_sentences()
