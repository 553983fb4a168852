"""From a feed to one viewer's next message: what is new since the last one, for what is selected."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sandbox.live.blocks import Block, HeadsBlock, RowsBlock
from sandbox.live.feed import Feed
from sandbox.live.frames import frames_of, place, spread
from sandbox.live.selection import BATCH, Selection
from sandbox.live.thin_rows import kept_rows
from sandbox.live.wire import FULL, RESELECTED, STATES, Update, encode

ALL_KEPT = (150, 150)
THINNER = ((8, 8), (4, 4), (2, 2), (1, 1), (1, 0), (0, 0))
"""Stretches whose extremes stay, of the batch's losses and of all else; 0 keeps the last row alone.

The batch's losses come first: they alone have spikes of a single step.
"""
COARSER = ((100, 100), (70, 70), (48, 48), (36, 36), (24, 24), (15, 15))
"""The same for a whole history that is more than OPENING_BYTES."""
OPENING_BYTES = 320_000
"""Bytes of a whole history with its pictures; an export has every row."""
LIVE_BUDGET = 1300
"""Bytes of curves in one live update; rows that do not fit are thinned, and a pause sends them whole."""
LEAST_BUDGET = 500
LIVE_BYTES = 2000
"""Bytes of a whole live update: curves make room for pictures, down to LEAST_BUDGET."""
CATCH_UP_BUDGET = 60_000
"""Bytes of curves for a viewer that has just come, or comes back after a gap."""


@dataclass
class Cursor:
    """How far one viewer has been served: rows per series, and the last step of what else is open."""

    sent: dict[tuple[int, str], int] = field(default_factory=dict)
    frames: dict[str, int] = field(default_factory=dict)
    heads: dict[str, int] = field(default_factory=dict)
    selection: Selection | None = None
    late: int = 0
    """Number of the last overtaken reading that has been sent."""

    @classmethod
    def since(cls, feed: Feed, step: int, selection: Selection) -> "Cursor":
        """The cursor of a client that has everything up to `step`, its selection included.

        What came late once the run stood there is sent again: the client may have it or not.
        """
        if step < 0:
            return cls()
        known = {key: rows for key, rows in feed.rows.items() if selection.wants(feed, key[1])}
        sent = {key: int(np.searchsorted(rows.steps, step, "right")) for key, rows in known.items()}
        frames = dict.fromkeys(selection.pictures(feed), step)
        late = feed.overtaken.before(step)
        return cls(sent, frames, dict.fromkeys(selection.values, step), selection, late)

    def key(self, feed: Feed, selection: Selection) -> tuple[Any, ...]:
        """What the next message depends on; viewers with equal keys share its bytes."""
        sent = tuple(sorted(self.sent.items()))
        return (
            feed.version,
            feed.status.get("state"),
            selection,
            selection.looked_at,
            self.selection,
            tuple(sorted(self.frames.items())),
            tuple(sorted(self.heads.items())),
            sent,
            self.late,
        )


def next_update(
    feed: Feed,
    cursor: Cursor,
    selection: Selection,
    sequence: int,
    budget: int = LIVE_BUDGET,
    opening: int = OPENING_BYTES,
) -> tuple[bytes, Cursor]:
    """The message that brings a viewer at `cursor` up to date, and the cursor after it.

    Curves are thinned as far as `budget` bytes ask for; a full history is held to `opening` bytes in all.
    """
    flags = 0
    if cursor.selection is None:
        flags = FULL
    elif cursor.selection != selection:
        flags = RESELECTED
        per_head = feed.head_columns()
        kept = {k: n for k, n in cursor.sent.items() if k[1] not in per_head and k[1] not in BATCH}
        cursor = Cursor(kept, {}, {}, selection)
    # What is looked at no more is forgotten, so that it comes whole when it is opened again.
    kept = {key: n for key, n in cursor.sent.items() if selection.wants(feed, key[1])}
    live = not flags
    late = feed.overtaken.after(cursor.late) if live else []
    # A curve into which a reading came comes whole again.
    torn = {(one.arm, one.kind) for one in late}
    kept = {(arm, n): k for (arm, n), k in kept.items() if (arm, n.partition("/")[0]) not in torn}
    cursor = replace(cursor, sent=kept)
    between = [(one.kind, one.step) for one in late if one.arm == selection.arm]
    frames, served = frames_of(feed, selection, cursor.frames, between)
    head_blocks, heads = _heads(feed, cursor, selection, between)
    fixed: list[Block] = [*frames, *head_blocks]
    state = str(feed.status.get("state", "queued"))
    update = Update(
        feed.step,
        sequence,
        float(feed.status.get("seconds") or 0.0),
        feed.rate,
        state if state in STATES else "waiting",
        (selection.arm, selection.seed, selection.layer, selection.head),
        flags,
        fixed,
    )
    size = len(encode(update))
    if live and budget == LIVE_BUDGET and set(served) <= set(cursor.frames):
        budget = max(LEAST_BUDGET, min(budget, LIVE_BYTES - size))
    if any(key not in cursor.sent and rows.count > 1 for key, rows in feed.rows.items()
           if selection.wants(feed, key[1])):  # fmt: skip
        budget = CATCH_UP_BUDGET  # what has just been opened comes with its history
    limit = opening if flags else size + budget
    for buckets in (ALL_KEPT, *(COARSER if flags else THINNER)):
        rows, sent = _rows(feed, cursor, selection, buckets)
        message = encode(replace(update, blocks=[*rows, *fixed]))
        if len(message) <= limit:
            break
    return message, Cursor({**cursor.sent, **sent}, served, heads, selection, feed.overtaken.last)


def _rows(
    feed: Feed, cursor: Cursor, selection: Selection, buckets: tuple[int, int]
) -> tuple[list[Block], dict[tuple[int, str], int]]:
    heads = feed.head_columns()
    numbers = {name: number for number, name in enumerate(feed.columns())}
    groups: dict[tuple[bytes, int, bool], tuple[np.ndarray, list[tuple[int, int]], list[np.ndarray]]] = {}
    sent: dict[tuple[int, str], int] = {}
    known = ((key, rows) for key, rows in feed.rows.items() if key[1] in numbers)  # the others have no number
    for (arm, name), rows in sorted(known, key=lambda item: (item[0][0], numbers[item[0][1]])):
        start = cursor.sent.get((arm, name), 0)
        if start >= rows.count or not selection.wants(feed, name):
            continue
        values = rows.values[start : rows.count]
        if name in heads:
            values = values[:, :, *place(selection, values.shape[2:])]
        steps = rows.steps[start : rows.count]
        count = buckets[0 if name in BATCH else 1]
        keep = kept_rows(values, count) if count else np.array([len(steps) - 1])
        sent[arm, name] = rows.count
        chosen = steps[keep]
        _, series, parts = groups.setdefault((chosen.tobytes(), len(steps), start == 0), (chosen, [], []))
        series.append((numbers[name], arm))
        parts.append(values[keep].T)
    blocks: list[Block] = [
        RowsBlock(series, steps, np.stack(parts), thinned_from, fresh)
        for (_, thinned_from, fresh), (steps, series, parts) in groups.items()
    ]
    return blocks, sent


def _heads(
    feed: Feed, cursor: Cursor, selection: Selection, between: list[tuple[str, int]]
) -> tuple[list[Block], dict[str, int]]:
    """Present values of every head, one block for each step and shape, and the last step sent by column.

    With them come those `between`, (kind, step), that belong before what has been sent.
    """
    numbers = {name: number for number, name in enumerate(feed.columns())}
    last: dict[str, int] = {}
    found: dict[tuple[int, tuple[int, ...]], list[tuple[int, np.ndarray]]] = {}
    for name in sorted(selection.values & numbers.keys(), key=numbers.__getitem__):
        rows = feed.rows.get((selection.arm, name))
        after = cursor.heads.get(name, -1)
        early = [step for kind, step in between if name.partition("/")[0] == kind and step <= after]
        if rows is None or (rows.last <= after and not early):
            last |= {name: after} if after >= 0 else {}
            continue
        last[name] = max(rows.last, after)
        fresh = rows.steps[np.searchsorted(rows.steps, after, "right") :] if after >= 0 else rows.steps
        early = [step for step in sorted({*early}) if step in rows.steps]
        for step in early + spread([int(step) for step in fresh], latest_only=after >= 0):
            here = rows.values[np.searchsorted(rows.steps, step), selection.seed]
            found.setdefault((step, here.shape), []).append((numbers[name], here))
    blocks: list[Block] = [
        HeadsBlock(step, [number for number, _ in columns], np.stack([here for _, here in columns]))
        for (step, _), columns in sorted(found.items(), key=lambda item: item[0])
    ]
    return blocks, last
