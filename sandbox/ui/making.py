"""Files that take seconds to make: a process of their own makes them, with progress, and may be stopped."""

import subprocess
import sys
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psutil
import streamlit as st

from sandbox.store import Run
from sandbox.store.again import safe_name
from sandbox.ui import session
from sandbox.ui.words import escaped, percent

TICK = 0.5
"""Seconds between two looks at the progress."""
NICENESS = 10
"""As the trainers: pages stay quick."""
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Product:
    """One kind of file: what `export --to` calls it, its words, its ending and type."""

    to: str
    label: str
    ending: str
    mime: str
    what: str
    help: str
    progress: bool = False
    """Whether the export says how far it is."""


PRODUCTS = (
    Product(
        "html",
        "Replay (HTML)",
        "html",
        "text/html",
        "the replay",
        "One file that plays without a server.",
        True,
    ),
    Product(
        "gif", "Film (GIF)", "gif", "image/gif", "the film", "Curves and attention as they change.", True
    ),
    Product(
        "zip",
        "The whole run (ZIP)",
        "zip",
        "application/zip",
        "the archive",
        "To bring it to another server.",
    ),
    Product(
        "parquet",
        "All numbers (Parquet, ZIP)",
        "zip",
        "application/zip",
        "the tables",
        "For pandas, DuckDB and the like.",
    ),
    Product(
        "safetensors",
        "Weights (safetensors)",
        "safetensors",
        "application/octet-stream",
        "the weights",
        "Of the last stored step, by name.",
    ),
)


class Making:
    """A file in the making; the process and its folder go when nobody holds this any more."""

    def __init__(self, run: Run, product: Product, dark: bool, more: Sequence[str] = ()) -> None:
        self.product, self.run_id = product, run.id
        self._folder = tempfile.TemporaryDirectory(prefix="sandbox-export-", ignore_cleanup_errors=True)
        middle = "-parquet" if product.to == "parquet" else ""
        self.path = Path(self._folder.name, f"{safe_name(run.id)}{middle}.{product.ending}")
        self._said = Path(self._folder.name, "said")
        command = [sys.executable, "-m", "sandbox", "export", str(run.path), "--to", product.to]
        command += ["-o", str(self.path), "--progress", *(["--dark"] if dark else []), *more]
        with open(self._said, "wb") as said:
            self._process = _started(command, said)
        weakref.finalize(self, _end, self._process)

    @property
    def running(self) -> bool:
        """Whether the file is still being made."""
        return self._process.poll() is None

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1; 0 where the export does not say."""
        last = self._lines()[-1:]
        return min(int(last[0]), 100) / 100 if last and last[0].isdigit() else 0.0

    @property
    def fault(self) -> str:
        """Why there is no file, in a sentence; empty while it is made and where it is there."""
        if self.running or (self._process.returncode == 0 and self.path.exists()):
            return ""
        words = [line for line in self._lines() if line and not line.isdigit()]
        return words[-1] if words else "The process that made the file was stopped."

    def cancel(self) -> None:
        """Stop making the file."""
        _end(self._process)

    def _lines(self) -> list[str]:
        return self._said.read_text(encoding="utf-8", errors="replace").splitlines()


def menu_key(key: str) -> str:
    """Key of the menu in which the products stand, which closes when one is asked for."""
    return f"{key}.download"


def choices(run: Run, key: str, dark: bool) -> None:
    """A button for each product, to stand in a menu."""
    for product in PRODUCTS:
        st.button(
            product.label,
            key=f"{key}.make.{product.to}",
            on_click=_start,
            args=(run, product, key, dark),
            width="stretch",
            type="tertiary",
            help=product.help,
        )
    if session.reported(menu_key(key)):  # what there is to choose is looked up for an open menu alone
        _whose(run, key)


def _whose(run: Run, key: str) -> None:
    """Whose pictures the film shows, where there is a choice."""
    layers, heads = _heads(run)
    offered = {"seed": list(run.seeds), "layer": range(1, layers + 1), "head": range(1, heads + 1)}
    offered = {name: list(values) for name, values in offered.items() if len(values) > 1}
    if not offered:
        return
    with st.container(horizontal=True, gap="small", key=f"{key}.film"):
        for name, values in offered.items():
            st.selectbox(f"Film of {name}", values, key=f"{key}.film.{name}", filter_mode=None, width=110)


def _heads(run: Run) -> tuple[int, int]:
    """Layers and heads of the run's attention maps; (1, 1) where it has none."""
    arm = run.arms[0]
    for kind in run.reading_kinds(arm):
        steps = run.reading_steps(kind, arm)
        if (run.meta(f"reading/0/{kind}") or {}).get("type") == "AttentionMap" and len(steps):
            answer: Any = run.reading(kind, int(steps[0]), arm)
            return int(answer.weights.shape[1]), int(answer.weights.shape[2])
    return 1, 1


def line(run: Run, key: str) -> None:
    """How far the file is that was asked for, or the file; nothing where none was."""
    making: Making | None = session.held(f"{key}.making")
    if making is None or making.run_id != run.id:
        return
    st.fragment(_line, run_every=TICK if making.running else None)(key, making.running)


def _start(run: Run, product: Product, key: str, dark: bool) -> None:
    _cancel(key)
    chosen = {name: session.reported(f"{key}.film.{name}") for name in ("seed", "layer", "head")}
    words = [
        word for name, value in chosen.items() if value is not None for word in (f"--{name}", str(value))
    ]
    session.hold(f"{key}.making", Making(run, product, dark, words if product.to == "gif" else ()))
    session.show(menu_key(key), False)  # or the menu would hide how far it is


def _cancel(key: str) -> None:
    making: Making | None = session.held(f"{key}.making")
    if making is not None:
        making.cancel()
    session.hold(f"{key}.making", None)


def _line(key: str, was_running: bool) -> None:
    making: Making | None = session.held(f"{key}.making")
    if making is None or making.running != was_running:
        st.rerun()
    what = making.product.what
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}.made"):
        if making.running:
            said = f", {percent(making.share, 0)}" if making.product.progress else ""
            st.progress(making.share, text=f"Making {what}{said}", width=360)
            st.button("Cancel", key=f"{key}.make.cancel", on_click=_cancel, args=(key,))
        elif making.fault:
            st.error(escaped(making.fault))
        else:
            st.download_button(
                f"Save {what} ({making.path.stat().st_size / 1e6:.1f} MB)",
                making.path.read_bytes,
                file_name=making.path.name,
                mime=making.product.mime,
                key=f"{key}.make.save",
                on_click="ignore",
                type="primary",
            )
            st.button("Discard", key=f"{key}.make.discard", on_click=_cancel, args=(key,), type="tertiary")


def _started(command: list[str], said: IO[bytes]) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said
    )
    try:
        psutil.Process(process.pid).nice(NICENESS)
    except psutil.NoSuchProcess:
        return process
    return process


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.kill()
    process.wait()
