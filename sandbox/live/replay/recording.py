"""Recording: every message that a viewer of a run could ask for, kept once each and thinned to a budget."""

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from sandbox.foundations.errors import InvalidData, RunUnavailable
from sandbox.live.feed import Feed
from sandbox.live.hello import hello
from sandbox.live.scales import Scales
from sandbox.live.selection import Selection, shape_of_heads
from sandbox.live.updates import Cursor, next_update
from sandbox.live.wire import HEADER, Update, decode, encode
from sandbox.store.folder import DATABASE

MOST_PICTURES = 240
"""Pictures of one kind for one choice of arm, seed and head: as many as the server sends."""
FEWEST_PICTURES = 2
MOST_REMEMBERED = 200_000_000
"""Bytes of arrays that are kept while one arm is recorded."""
MOST_MESSAGE = 2**31
"""Bytes of one choice's message before it is fitted: no curve is thinned for it."""
LOG_FILE = f"{DATABASE}-wal"

Tell = Callable[[float], None]
"""Called with the share that is done, from 0 to 1; may raise to stop."""
Chunk = tuple[int, bytes]
"""Blocks that travel together: how many, and their bytes."""


@dataclass(frozen=True)
class Recording:
    """What the replay holds: the opening words, chunks of blocks, and which of them answer a choice."""

    hello: dict[str, Any]
    events: list[Any]
    n_events: int
    """Of the run, those that are not told included."""
    header: bytes
    chunks: list[Chunk]
    parts: dict[str, list[int]]
    """By "arm/seed/layer/head": the chunks that show that choice."""
    pictures: int
    """Most pictures of one kind that are kept."""
    recorded: int
    """Most pictures of one kind that a viewer of the server would have got."""
    scales: dict[str, Any]
    """How far the axes of pictures reach, by kind."""

    def to_plain(self) -> dict[str, Any]:
        """JSON values for the page."""
        return {
            "hello": self.hello,
            "events": self.events,
            "n_events": self.n_events,
            "scales": self.scales,
            "header": base64.b64encode(self.header).decode(),
            "chunks": [[count, base64.b64encode(data).decode()] for count, data in self.chunks],
            "parts": self.parts,
        }


def record(folder: Path, budget: int, tell: Tell | None = None) -> Recording:
    """The recording of the run in `folder` in at most `budget` bytes of base64.

    Curves keep their extremes as on the server; of the pictures, evenly spread ones are left out
    until the rest fits. Raises RunUnavailable where the run cannot be read, InvalidData where even
    two pictures of each kind are too much.
    """
    feed = RememberingFeed(folder)
    try:
        feed.refresh()
        if feed.damage or not feed.ready:
            raise RunUnavailable(
                f"{folder / DATABASE} {feed.damage or 'holds no run yet'}; nothing to replay."
            )
        return _fitted(feed, list(_choices(feed, tell)), budget)
    finally:
        feed.close()


def _has_log(folder: Path) -> bool:
    log = folder / LOG_FILE
    return log.exists() and log.stat().st_size > 0


Found = tuple[str, Update, dict[tuple[Any, ...], list[bytes]]]
Groups = dict[tuple[Any, ...], list[bytes]]


class RememberingFeed(Feed):
    """A feed that keeps what it has read of one arm: every head asks for the same arrays."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder.name, folder, recorded=not _has_log(folder))
        self._arm, self._size = -1, 0
        self._known: dict[tuple[str, str, int], np.ndarray] = {}

    def frames(self, arm: int, kind: str, column: str, steps: list[int]) -> list[tuple[int, np.ndarray]]:
        """As Feed's, read once."""
        if arm != self._arm or self._size > MOST_REMEMBERED:
            self._arm, self._size, self._known = arm, 0, {}
        for step, values in super().frames(
            arm, kind, column, [step for step in steps if (kind, column, step) not in self._known]
        ):
            self._known[kind, column, step] = values
            self._size += values.nbytes
        return [
            (step, self._known[kind, column, step]) for step in steps if (kind, column, step) in self._known
        ]


def _choices(feed: Feed, tell: Tell | None) -> Iterator[Found]:
    """Each choice of arm, seed, layer and head with its message, as blocks in groups of one kind."""
    layers, heads = shape_of_heads(feed)
    told = hello(feed, steer=False)
    is_per_head = [column["per"] == "head" for column in told["columns"]]
    numbers = [n for n, per_head in enumerate(is_per_head) if per_head]
    everything = {
        "batch": True, "grid": True, "groups": True, "open": told["kinds"], "curves": numbers,
        "values": numbers,
    }  # fmt: skip
    maps = [
        kind
        for kind, metas in feed.readings().items()
        if any(meta.get("type") == "AttentionMap" for meta in metas.values())
    ]
    # What another head changes: its curves and its map. All else is known from the first.
    of_a_head = {"open": maps, "curves": numbers, "values": []}
    interned: dict[bytes, bytes] = {}
    shared: Groups = {}
    sizes = (len(feed.arms), len(feed.seeds), layers, heads)
    for done, places in enumerate(product(*map(range, sizes))):
        if tell is not None:
            tell(done / np.prod(sizes))
        wish: dict[str, Any] = dict(zip(("arm", "seed", "layer", "head"), places, strict=True))
        first = places[2:] == (0, 0)
        wish |= everything if first else of_a_head
        message, _ = next_update(feed, Cursor(), Selection.read(wish, feed), 0, opening=MOST_MESSAGE)
        update, groups = decode(message), Groups()
        for block in update.blocks:
            for part in _apart(block, is_per_head):
                data = encode(replace(update, blocks=[part]))[HEADER.size :]
                groups.setdefault(_group(part, is_per_head), []).append(interned.setdefault(data, data))
        shared = groups if first else shared
        own = {group: blocks for group, blocks in groups.items() if first or group != ("rows", False)}
        yield "/".join(map(str, places)), replace(update, blocks=[]), shared | own


def _apart(block: Any, is_per_head: list[bool]) -> Iterator[Any]:
    """Curves of single heads apart from the others, which are the same whatever head is chosen."""
    if not _is_curves(block):
        yield block
        return
    for wanted in (False, True):
        kept = [i for i, (column, _) in enumerate(block.series) if is_per_head[column] == wanted]
        if kept:
            yield replace(block, series=[block.series[i] for i in kept], values=block.values[kept])


def _is_curves(block: Any) -> bool:
    """Whether a block of a message holds rows of several series; every other one is a picture of one step."""
    return hasattr(block, "series")


def _group(block: Any, is_per_head: list[bool]) -> tuple[Any, ...]:
    if _is_curves(block):
        return "rows", is_per_head[block.series[0][0]]
    return type(block).__name__, getattr(block, "kind", 0)


def _fitted(feed: Feed, found: list[Found], budget: int) -> Recording:
    recorded = max((len(b) for _, _, g in found for n, b in g.items() if n[0] != "rows"), default=0)
    most = min(MOST_PICTURES, max(recorded, FEWEST_PICTURES))
    while True:
        chunks, parts = _chunks(found, most)
        size = sum(4 * len(data) // 3 for _, data in chunks)
        if size <= budget:
            break
        if most == FEWEST_PICTURES:
            raise InvalidData(
                f"The replay of {feed.run_id} needs {size / 1e6 + 0.1:.1f} MB and may have "
                f"{budget / 1e6:.1f}; allow more megabytes, or export it as zip."
            )
        most = max(FEWEST_PICTURES, min(most - 1, int(most * budget / size * 1.05)))
    header = encode(found[0][1])[: HEADER.size]
    scales = Scales(feed).look(feed.kinds())
    return Recording(
        hello(feed, steer=False), feed.events, feed.n_events, header, chunks, parts, most, recorded, scales
    )


def _chunks(found: list[Found], most: int) -> tuple[list[Chunk], dict[str, list[int]]]:
    places: dict[bytes, int] = {}
    chunks: list[Chunk] = []
    parts: dict[str, list[int]] = {}
    for name, _, groups in found:
        for group, blocks in groups.items():
            kept = blocks if group[0] == "rows" else _spread(blocks, most)
            data = b"".join(kept)
            if data not in places:
                places[data] = len(chunks)
                chunks.append((len(kept), data))
            parts.setdefault(name, []).append(places[data])
    return chunks, parts


def _spread(blocks: list[bytes], most: int) -> list[bytes]:
    """At most `most` of them, evenly, the first and the last among them."""
    picks = np.unique(np.linspace(0, len(blocks) - 1, min(len(blocks), most)).round().astype(int))
    return [blocks[i] for i in picks]
