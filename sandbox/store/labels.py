"""Labels: what people say of a run beside its numbers: a name, tags, a note, and whether it is pinned."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sandbox.foundations.errors import InvalidData, RunUnavailable
from sandbox.store.folder import read_file, write_whole
from sandbox.store.schema import named_faults

LABELS = "labels.json"
SCHEMA = 1
MAX_NAME, MAX_TAG, MAX_TAGS, MAX_NOTE = 80, 30, 12, 2000
HARMLESS = "\u00a0\u200d"
"""The space that does not part, and what joins pictures into one: pasted text has them."""
MAX_BYTES = 20_000
"""Of the file; what people can enter is shorter."""


@dataclass(frozen=True, kw_only=True)
class Labels:
    """What is written on a run; an empty name means the one it was given at its start.

    Raises InvalidData for texts that are too long, or that hold control characters.
    """

    name: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    pinned: bool = False

    def __post_init__(self) -> None:
        _require_text("A run's name", self.name, MAX_NAME, lines=False)
        _require_text("A run's note", self.note, MAX_NOTE, lines=True)
        for tag in self.tags:
            _require_text("A tag", tag, MAX_TAG, lines=False)
            if not tag.strip() or "," in tag:
                raise InvalidData(f"A tag is {tag!r}; use 1 to {MAX_TAG} characters without a comma.")
        if len(set(self.tags)) < len(self.tags) or len(self.tags) > MAX_TAGS:
            raise InvalidData(f"There are {len(self.tags)} tags; give each once, at most {MAX_TAGS}.")


def read_labels(folder: Path) -> Labels:
    """The labels of the run in `folder`, empty ones where none were written.

    RunUnavailable, naming the file, where it is damaged.
    """
    path = folder / LABELS
    with named_faults(path):
        try:
            text = read_file(path, MAX_BYTES + 1)
        except FileNotFoundError:
            return Labels()
    try:
        return _from_plain(json.loads(text) if len(text) <= MAX_BYTES else None)
    except (ValueError, TypeError, KeyError, RecursionError, InvalidData) as fault:
        raise RunUnavailable(
            f"{path} is damaged ({str(fault)[:120]}); write the run's labels again."
        ) from fault


def write_labels(folder: Path, labels: Labels) -> None:
    """Put `labels` in the place of the earlier ones, whole or not at all; RunUnavailable, StorageFull."""
    if not folder.is_dir():
        raise RunUnavailable(f"There is no run folder {folder}; it may have been deleted.")
    plain = {"schema": SCHEMA} | asdict(labels) | {"tags": list(labels.tags)}
    write_whole(folder / LABELS, (json.dumps(plain, ensure_ascii=False, indent=1) + "\n").encode())


def _from_plain(plain: Any) -> Labels:
    if not isinstance(plain, dict) or plain.get("schema") != SCHEMA:
        raise ValueError(f"no labels of schema {SCHEMA}")
    return Labels(
        name=plain["name"], tags=tuple(plain["tags"]), note=plain["note"], pinned=plain["pinned"] is True
    )


def _require_text(what: str, text: Any, most: int, lines: bool) -> None:
    if not isinstance(text, str) or len(text) > most:
        raise InvalidData(f"{what} is {repr(text)[:60]}; use at most {most} printable characters.")
    harmless = HARMLESS + "\n" * lines
    for character in text:
        if not character.isprintable() and character not in harmless:
            raise InvalidData(
                f"{what} holds U+{ord(character):04X}, which cannot be printed; leave that character out."
            )
