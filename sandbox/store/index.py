"""Index: the cards of all runs, kept in one file so that hundreds open at once; it may be deleted."""

import json
import logging
import sqlite3
import threading
import time
from pathlib import Path

from sandbox.store.card import Card, card_from_plain, card_plain, make_card
from sandbox.store.folder import DATABASE, EXPERIMENT
from sandbox.store.labels import LABELS
from sandbox.store.summary import TARGET

INDEX = "index.sqlite"
VERSION = 4
"""Of what a card holds; a card of another version is made again."""
WATCHED = (EXPERIMENT, DATABASE, f"{DATABASE}-wal", LABELS)
"""What a card is made of: it is made again when one of these files has changed."""

log = logging.getLogger(__name__)


class Index:
    """The cards of one runs folder; safe to share between threads, and between processes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._guard = threading.Lock()
        self._kept: dict[str, tuple[str, Card]] | None = None

    def cards(self, seconds: float = 0.4) -> tuple[list[Card], int]:
        """The cards of all runs, and how many folders were not looked into for want of time.

        Runs that were never read come before those that have changed since; of the latter the earlier
        card is shown meanwhile. At least one folder is read.
        """
        deadline = time.monotonic() + seconds
        with self._guard:
            kept = self._load() if self._kept is None else self._kept
            stamps = {folder.name: _stamp(folder) for folder in self._folders()}
            old = [name for name, stamp in stamps.items() if name not in kept or kept[name][0] != stamp]
            old.sort(key=lambda name: name in kept)
            made: dict[str, tuple[str, Card]] = {}
            for name in old:
                if made and time.monotonic() > deadline:
                    break
                made[name] = (stamps[name], make_card(self.root / name, TARGET))
            gone = [name for name in kept if name not in stamps]
            self._kept = {name: card for name, card in (kept | made).items() if name in stamps}
            if made or gone:
                self._save(made, gone)
            unread = sum(name not in self._kept for name in stamps)
            return [card for _, card in self._kept.values()], unread

    def _folders(self) -> list[Path]:
        found = {f.parent for name in (EXPERIMENT, DATABASE) for f in self.root.glob(f"*/{name}")}
        return [folder for folder in found if not folder.is_symlink() and not folder.name.startswith(".")]

    def _load(self) -> dict[str, tuple[str, Card]]:
        try:
            with self._open() as db:
                rows = db.execute(
                    "SELECT id, stamp, card FROM cards WHERE version = ?", (VERSION,)
                ).fetchall()
            return {name: (stamp, card_from_plain(json.loads(card))) for name, stamp, card in rows}
        except (sqlite3.Error, OSError, ValueError, TypeError, KeyError) as fault:
            log.warning("the index of runs is made anew: %s", fault)
            (self.root / INDEX).unlink(missing_ok=True)
            return {}

    def _save(self, made: dict[str, tuple[str, Card]], gone: list[str]) -> None:
        rows = [(name, VERSION, stamp, json.dumps(card_plain(card))) for name, (stamp, card) in made.items()]
        try:
            with self._open() as db:
                db.executemany("INSERT OR REPLACE INTO cards VALUES (?, ?, ?, ?)", rows)
                db.executemany("DELETE FROM cards WHERE id = ?", [(name,) for name in gone])
        except (sqlite3.Error, OSError) as fault:  # a folder that cannot be written is read each time
            log.warning("the index of runs could not be kept: %s", fault)

    def _open(self) -> "_Closing":
        return _Closing(self.root / INDEX)


class _Closing:
    """A connection for one transaction."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, timeout=2)
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS cards"
            "(id TEXT PRIMARY KEY, version INTEGER NOT NULL, stamp TEXT NOT NULL, card TEXT NOT NULL)"
        )

    def __enter__(self) -> sqlite3.Connection:
        return self._db

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._db.commit() if kind is None else self._db.rollback()
        self._db.close()


def _stamp(folder: Path) -> str:
    return " ".join(_file_stamp(folder / name) for name in WATCHED)


def _file_stamp(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return "-"
    return f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}"
