"""Frames: the pictures of the chosen arm and seed, one block for each open kind of reading and step."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sandbox.foundations.certificate import CERTIFICATE_COLUMNS
from sandbox.live.blocks import Block, NumbersBlock, PointsBlock, TableBlock, grid_block, map_block
from sandbox.live.feed import Feed
from sandbox.live.selection import ALL_HEADS, Selection

HISTORY_FRAMES = 240
HISTORY_GRIDS = 60
COLUMNS = {
    "Trajectory": ("points",),
    "AttentionMap": ("weights",),
    "SmallModel": ("values",),
    "Table": ("cells",),
    "Certificate": CERTIFICATE_COLUMNS,
}
"""The stored columns of each type of reading that is drawn as a picture."""


def frames_of(
    feed: Feed, selection: Selection, served: dict[str, int], between: Sequence[tuple[str, int]] = ()
) -> tuple[list[Block], dict[str, int]]:
    """Blocks of what is open and new, and the last step sent of each open picture.

    A picture that was open before gets its last frame alone, and those `between`, (kind, step), that came
    too late for their place; one that has just been opened gets its history.
    """
    blocks: list[Block] = []
    last: dict[str, int] = {}
    numbers = {kind: number for number, kind in enumerate(feed.kinds())}
    for picture in selection.pictures(feed):
        kind = picture.partition("/")[0]
        columns = COLUMNS.get(feed.readings()[kind].get(selection.arm, {}).get("type", ""))
        if columns is None:
            continue
        after = served.get(picture, -1)
        steps = feed.frame_steps(selection.arm, kind, columns[0], after)
        last[picture] = max(after, *steps) if steps else after
        most = HISTORY_FRAMES if picture == kind else HISTORY_GRIDS
        early = {step for of, step in between if of == kind and step <= after}
        chosen = sorted(early) + spread(steps, latest_only=after >= 0, most=most)
        blocks += _blocks(feed, selection, numbers[kind], kind, columns, chosen, picture=picture)
    return blocks, last


def _blocks(
    feed: Feed,
    selection: Selection,
    number: int,
    kind: str,
    columns: tuple[str, ...],
    steps: list[int],
    *,
    picture: str,
) -> list[Block]:
    column = columns[0]
    found = feed.frames(selection.arm, kind, column, steps)
    if columns == CERTIFICATE_COLUMNS:
        parts = [dict(feed.frames(selection.arm, kind, name, steps)) for name in columns]
        return [TableBlock(number, step, certificate_table(parts, step, selection.seed)) for step, _ in found]
    if column == "cells":
        tables = [(step, cells[selection.seed], *place(selection, cells.shape[1:3])) for step, cells in found]
        return [TableBlock(number, step, c[None, layer, None, head, None]) for step, c, layer, head in tables]
    if column == "values":
        return [NumbersBlock(number, step, values[selection.seed]) for step, values in found]
    if column == "weights":
        if picture == f"{kind}/{ALL_HEADS}":
            return [grid_block(number, step, weights[selection.seed]) for step, weights in found]
        places = [(step, weights, *place(selection, weights.shape[1:3])) for step, weights in found]
        maps: list[tuple[int, np.ndarray]] = [
            (step, w[selection.seed, layer, head]) for step, w, layer, head in places
        ]
        if picture == kind or selection.region is None:
            return [map_block(number, step, weights) for step, weights in maps]
        q0, q1, k0, k1 = selection.region
        close = [(step, weights[q0:q1, k0:k1]) for step, weights in maps]
        return [replace(map_block(number, step, some), origin=(q0, k0)) for step, some in close if some.size]
    shares = dict(feed.frames(selection.arm, kind, "explained_variance", steps))
    blocks: list[Block] = []
    for step, points in found:
        share = shares[step][selection.seed] if step in shares else (np.nan, np.nan)
        blocks.append(PointsBlock(number, step, points[selection.seed], (float(share[0]), float(share[1]))))
    return blocks


def certificate_table(parts: list[dict[int, np.ndarray]], step: int, seed: int) -> np.ndarray:
    """The columns of a certificate at `step` as (part, layer, head, certificate, 1)."""
    stacked = np.stack([part[step][seed].astype(np.float32) for part in parts])  # part certificate layer head
    return np.moveaxis(stacked, 1, 3)[..., None]


def place(selection: Selection, shape: tuple[int, ...]) -> tuple[int, int]:
    """The chosen layer and head, brought inside `shape`: arms may differ in both."""
    return min(selection.layer, shape[0] - 1), min(selection.head, shape[1] - 1)


def spread(steps: list[int], latest_only: bool, most: int = HISTORY_FRAMES) -> list[int]:
    """The last step alone, or at most `most` of them, evenly, the first and last among them."""
    if latest_only or not steps:
        return steps[-1:]
    picks = np.unique(np.linspace(0, len(steps) - 1, min(len(steps), most)).round().astype(int))
    return [steps[i] for i in picks]
