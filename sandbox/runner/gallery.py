"""The gallery's lines: what the queue says of every run, put together with what its folder holds."""

import time
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from sandbox.foundations.errors import RunUnavailable
from sandbox.runner.places import being_written
from sandbox.runner.queue import QueuedRun, catalogue_connection, states
from sandbox.store.card import Card, make_card
from sandbox.store.folder import run_path, runs_root
from sandbox.store.index import Index
from sandbox.store.labels import Labels, read_labels, write_labels
from sandbox.store.summary import TARGET

MOST = 100_000
WRITING = ("running", "paused", "stalled")


@dataclass(frozen=True)
class Entry:
    """One run as the gallery lists it; `card` is empty but for its id where the folder holds no run yet."""

    id: str
    name: str
    owner: str
    state: str
    """The queue's word where there is one; `damaged` where the folder cannot be read."""
    reason: str
    created: float
    step: int
    card: Card
    labels: Labels


def entries(seconds: float = 0.4, root: Path | None = None) -> tuple[list[Entry], int]:
    """Every run, pinned ones first, then the youngest; and how many folders are still to be read.

    `seconds` is how long unread folders may be read.
    """
    root = root or runs_root()
    cards, unread = _index(root).cards(seconds)
    queued = {run.id: run for run in _states(root)}
    found = [_entry(card, queued.pop(card.id, None), root) for card in cards]
    found += [_waiting(run) for run in queued.values()]
    return sorted(found, key=lambda e: (not e.labels.pinned, -e.created, e.id)), unread


def label(run_id: str, labels: Labels) -> None:
    """Write `labels` on a run; a new name also becomes its name in the queue. RunUnavailable, StorageFull."""
    write_labels(run_path(run_id), labels)
    if labels.name:
        with catalogue_connection() as connection:
            connection.execute("UPDATE runs SET name = ? WHERE id = ?", (labels.name, run_id))


def pin(run_id: str, pinned: bool) -> None:
    """Keep a run at the top of the gallery, or no longer; its other labels stay."""
    write_labels(run_path(run_id), replace(read_labels(run_path(run_id)), pinned=pinned))


def entry_of(run_id: str) -> Entry:
    """The line of one run; RunUnavailable where it is neither a folder nor in the queue."""
    root = runs_root()
    queued = next((run for run in _states(root) if run.id == run_id), None)
    folder = run_path(run_id, root)
    if folder.is_dir():
        card = make_card(folder, TARGET)
        if not card.fault or queued is None:
            return _entry(card, queued, root)
    if queued is None:
        raise RunUnavailable(f"There is no run {run_id} here; it may have been deleted.")
    return _waiting(queued)


@lru_cache(maxsize=4)
def _index(root: Path) -> Index:
    return Index(root)


def _states(root: Path) -> list[QueuedRun]:
    # A page must not make the folder of a place that has none.
    return states(limit=MOST) if (root / "catalogue.sqlite").exists() else []


def _entry(card: Card, queued: QueuedRun | None, root: Path) -> Entry:
    name = card.labels.name or (queued.name if queued else "") or card.id
    owner = queued.owner if queued else ""
    state = queued.state if queued else card.state
    if queued is None and state in WRITING and not being_written(root / card.id):
        state = "interrupted"
    if card.fault:
        state = "damaged"
    reason = card.fault or (queued.reason if queued else "") or card.reason
    step = max(card.step, queued.step if queued else 0)
    created = queued.created if queued else card.created
    return Entry(card.id, name, owner, state, reason, created or time.time(), step, card, card.labels)


def _waiting(run: QueuedRun) -> Entry:
    return Entry(
        run.id, run.name, run.owner, run.state, run.reason, run.created, run.step, Card(id=run.id), Labels()
    )
