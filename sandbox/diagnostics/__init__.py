"""Diagnostics, one file each: pure functions of a snapshot and the probe batch."""

from sandbox.diagnostics.family import Diagnostic, SnapshotView, Watched
from sandbox.diagnostics.piecewise import answered
from sandbox.diagnostics.probe import Probe, probe_batch
from sandbox.foundations.readings import Answer
from sandbox.foundations.registry import discover

discover(__name__, __path__)

__all__ = ["Diagnostic", "Probe", "SnapshotView", "Watched", "probe_batch", "read_all"]


def read_all(view: SnapshotView, cost: str = "cheap") -> dict[str, Answer]:
    """Ask every diagnostic of that cost; the answers by kind. An error is an answer too: see `answered`."""
    return {
        kind: answered(kind, diagnostic(), view)
        for kind, diagnostic in Diagnostic.variants.items()
        if diagnostic.cost == cost
    }
