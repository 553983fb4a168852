"""Diagnostics, one file each: pure functions of a snapshot and the probe batch."""

import logging

from sandbox.diagnostics.family import Diagnostic, SnapshotView, Watched
from sandbox.diagnostics.probe import Probe, probe_batch
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import SandboxError
from sandbox.foundations.readings import Answer
from sandbox.foundations.registry import discover

discover(__name__, __path__)

__all__ = ["Diagnostic", "Probe", "SnapshotView", "Watched", "probe_batch", "read_all"]

_log = logging.getLogger(__name__)


def read_all(view: SnapshotView, cost: str = "cheap") -> dict[str, Answer]:
    """Ask every diagnostic of that cost; the answers by kind.

    An error becomes a NotApplicable with its sentence, logged, so that no question stops a training; one
    that was not raised on purpose is called what it is, a fault of the diagnostic.
    """
    answers: dict[str, Answer] = {}
    for kind, diagnostic in Diagnostic.variants.items():
        if diagnostic.cost != cost:
            continue
        try:
            answers[kind] = diagnostic().read(view)
        except SandboxError as problem:
            _log.warning("%s at step %d: %s", kind, view.step, problem)
            answers[kind] = NotApplicable(str(problem))
        except Exception as fault:
            _log.exception("%s failed at step %d", kind, view.step)
            answers[kind] = NotApplicable(
                f"This diagnostic failed at step {view.step} with {type(fault).__name__}, a fault of its "
                "own; training goes on without it."
            )
    return answers
