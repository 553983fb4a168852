"""Runs on disk: one folder per run, one writer, many readers."""

from sandbox.store.delta import Delta, Event
from sandbox.store.folder import run_folders, run_path, runs_root
from sandbox.store.run_reader import Run, open_run
from sandbox.store.run_writer import RunWriter
from sandbox.store.schema import StorageFull

__all__ = [
    "Delta",
    "Event",
    "Run",
    "RunWriter",
    "StorageFull",
    "open_run",
    "run_folders",
    "run_path",
    "runs_root",
]
