"""From a feed to one viewer's next message: what is new since the last one, for what is selected."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sandbox.live.feed import SCALARS, Feed
from sandbox.live.panels import fact_columns
from sandbox.live.thin_rows import kept_rows
from sandbox.live.wire import (
    FULL,
    RESELECTED,
    STATES,
    Block,
    HeadsBlock,
    PointsBlock,
    RowsBlock,
    Update,
    encode,
    map_block,
)

ALL_KEPT = (150, 150)
THINNER = ((8, 8), (4, 4), (2, 2), (1, 1), (1, 0), (0, 0))
"""Stretches whose extremes stay, of the batch's losses and of all else; 0 keeps the last row alone.

The batch's losses come first: they alone have spikes of a single step.
"""
HISTORY_FRAMES = 240
HISTORY_FRAME_BYTES = 400_000
LIVE_BUDGET = 1300
"""Bytes of curves in one live update; rows that do not fit are thinned, and a pause sends them whole."""
CATCH_UP_BUDGET = 60_000
"""Bytes of curves for a viewer that has just come, or comes back after a gap."""
BATCH = "loss"
"""The batch's loss of every step; it travels only while somebody looks at it."""


@dataclass(frozen=True)
class Selection:
    """What a viewer looks at, as places in the hello's lists."""

    arm: int = 0
    seed: int = 0
    layer: int = 0
    head: int = 0
    batch: bool = False

    @classmethod
    def read(cls, raw: object, feed: Feed) -> "Selection":
        """A selection from a client's JSON, brought inside what the run has; junk becomes 0."""
        given = raw if isinstance(raw, dict) else {}
        layers, heads = shape_of_heads(feed)

        def place(name: str, count: int) -> int:
            value = given.get(name, 0)
            return min(max(int(value), 0), max(count - 1, 0)) if isinstance(value, int) else 0

        return cls(
            place("arm", len(feed.arms)),
            place("seed", len(feed.seeds)),
            place("layer", layers),
            place("head", heads),
            given.get("batch") is True,
        )


@dataclass
class Cursor:
    """How far one viewer has been served: rows per series, and the last frame's step."""

    sent: dict[tuple[int, str], int] = field(default_factory=dict)
    frame: int = -1
    heads: int = -1
    selection: Selection | None = None

    @classmethod
    def since(cls, feed: Feed, step: int, selection: Selection) -> "Cursor":
        """The cursor of a client that has everything up to `step`, its selection included."""
        if step < 0:
            return cls()
        sent = {key: int(np.searchsorted(rows.steps, step, "right")) for key, rows in feed.rows.items()}
        return cls(sent, step, step, selection)

    def key(self, feed: Feed, selection: Selection) -> tuple[Any, ...]:
        """What the next message depends on; viewers with equal keys share its bytes."""
        sent = tuple(sorted(self.sent.items()))
        return (
            feed.version,
            feed.status.get("state"),
            selection,
            self.selection,
            self.frame,
            self.heads,
            sent,
        )


def shape_of_heads(feed: Feed) -> tuple[int, int]:
    """Layers and heads of the run's model, (1, 1) until a reading says more."""
    names = feed.head_columns()
    shapes = [rows.values.shape[2:] for (_, name), rows in feed.rows.items() if name in names and rows.count]
    return (max(s[0] for s in shapes), max(s[1] for s in shapes)) if shapes else (1, 1)


def next_update(
    feed: Feed, cursor: Cursor, selection: Selection, sequence: int, budget: int = LIVE_BUDGET
) -> tuple[bytes, Cursor]:
    """The message that brings a viewer at `cursor` up to date, and the cursor after it.

    Curves are thinned as far as `budget` bytes ask for; a full history is not held to it.
    """
    flags = 0
    if cursor.selection is None:
        flags = FULL
    elif cursor.selection != selection:
        flags = RESELECTED
        heads = feed.head_columns()
        kept = {k: n for k, n in cursor.sent.items() if k[1] not in heads and k[1] != BATCH}
        cursor = Cursor(kept, -1, -1, selection)
    live = not flags
    frames, frame = _frames(feed, cursor, selection, latest_only=live)
    head_blocks, heads_step = _heads(feed, cursor, selection, latest_only=live)
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
    limit = len(encode(update)) + budget
    for buckets in (ALL_KEPT,) if flags else (ALL_KEPT, *THINNER):
        rows, sent = _rows(feed, cursor, selection, buckets)
        message = encode(replace(update, blocks=[*rows, *fixed]))
        if flags or len(message) <= limit:
            break
    return message, Cursor({**cursor.sent, **sent}, frame, heads_step, selection)


def _rows(
    feed: Feed, cursor: Cursor, selection: Selection, buckets: tuple[int, int]
) -> tuple[list[Block], dict[tuple[int, str], int]]:
    heads = feed.head_columns()
    columns = [*SCALARS, *heads]
    printed = fact_columns()
    groups: dict[tuple[bytes, int], tuple[np.ndarray, list[tuple[int, int]], list[np.ndarray]]] = {}
    sent: dict[tuple[int, str], int] = {}
    for (arm, name), rows in sorted(
        feed.rows.items(), key=lambda item: (item[0][0], columns.index(item[0][1]))
    ):
        start = cursor.sent.get((arm, name), 0)
        if start >= rows.count or name in printed or (name == BATCH and not selection.batch):
            continue
        values = rows.values[start : rows.count]
        if name in heads:
            values = values[:, :, *_place(selection, values.shape[2:])]
        steps = rows.steps[start : rows.count]
        count = buckets[0 if name == BATCH else 1]
        keep = kept_rows(values, count) if count else np.array([len(steps) - 1])
        sent[arm, name] = rows.count
        chosen = steps[keep]
        _, series, parts = groups.setdefault((chosen.tobytes(), len(steps)), (chosen, [], []))
        series.append((columns.index(name), arm))
        parts.append(values[keep].T)
    blocks: list[Block] = [
        RowsBlock(series, steps, np.stack(parts), thinned_from)
        for (_, thinned_from), (steps, series, parts) in groups.items()
    ]
    return blocks, sent


def _heads(feed: Feed, cursor: Cursor, selection: Selection, *, latest_only: bool) -> tuple[list[Block], int]:
    columns = enumerate(feed.head_columns(), len(SCALARS))
    known = [(i, feed.rows[selection.arm, name]) for i, name in columns if (selection.arm, name) in feed.rows]
    fresh = [rows.steps[rows.steps > cursor.heads] if cursor.heads >= 0 else rows.steps for _, rows in known]
    steps = [int(step) for step in np.unique(np.concatenate(fresh))] if fresh else []
    last = steps[-1] if steps else cursor.heads
    blocks: list[Block] = []
    for step in _spread(steps, latest_only):
        here = [
            (column, rows.values[at])
            for column, rows in known
            if (at := int(np.searchsorted(rows.steps, step))) < rows.count and rows.steps[at] == step
        ]
        if here:
            values = np.stack([v[selection.seed] for _, v in here])
            blocks.append(HeadsBlock(step, [column for column, _ in here], values))
    return blocks, last


def _place(selection: Selection, shape: tuple[int, ...]) -> tuple[int, int]:
    """The chosen layer and head, brought inside `shape`: arms may differ in both."""
    return min(selection.layer, shape[0] - 1), min(selection.head, shape[1] - 1)


def _frames(
    feed: Feed, cursor: Cursor, selection: Selection, *, latest_only: bool
) -> tuple[list[Block], int]:
    blocks: list[Block] = []
    last = cursor.frame
    for number, (kind, by_arm) in enumerate(sorted(feed.readings().items())):
        meta = by_arm.get(selection.arm, {})
        column = {"Trajectory": "points", "AttentionMap": "weights"}.get(meta.get("type", ""))
        if column is None:
            continue
        steps = feed.frame_steps(selection.arm, kind, column, cursor.frame)
        last = max(last, *steps) if steps else last
        chosen = _spread(steps, latest_only)
        if column == "points":
            shares = dict(feed.frames(selection.arm, kind, "explained_variance", chosen))
            for step, points in feed.frames(selection.arm, kind, column, chosen):
                share = shares[step][selection.seed] if step in shares else (np.nan, np.nan)
                blocks.append(
                    PointsBlock(number, step, points[selection.seed], (float(share[0]), float(share[1])))
                )
        else:
            for step, weights in feed.frames(selection.arm, kind, column, chosen):
                layer, head = _place(selection, weights.shape[1:3])
                blocks.append(map_block(number, step, weights[selection.seed, layer, head]))
    return blocks, last


def _spread(steps: list[int], latest_only: bool) -> list[int]:
    """The last step alone, or at most 240 of them, evenly, the first and last among them."""
    if latest_only or not steps:
        return steps[-1:]
    picks = np.unique(np.linspace(0, len(steps) - 1, min(len(steps), HISTORY_FRAMES)).round().astype(int))
    return [steps[i] for i in picks]
