"""The binary form of one live update: fixed layouts, little-endian, every block on a four-byte border.

Header (28 bytes): magic `AS`, version, flags, step u32, sequence u32, seconds f32, rate f32, the selection
that the blocks answer (arm, seed, layer, head u8 each), block count u16, state u8, spare u8. Then blocks,
told apart by their first byte:

- ROWS: curves that share their steps. u8 1, u8 seeds, u16 rows, u16 series, u16 1 if they begin the
  series, u32 rows before thinning,
  then (column, arm) u8 pairs, padding, steps u32 [row], values f32 [series][seed][row].
- HEADS: every head of the chosen arm and seed. u8 2, u8 columns, u8 layers, u8 heads, u32 step, column
  numbers u8, padding, values f32 [column][layer][head].
- POINTS: a trajectory's points. u8 3, u8 kind, u16 points, u32 step, explained variance 2 f32, centre 2 f32,
  half range f32, i16 [point][2] in 32000ths of the half range; -32768 marks a value that is not finite.
- MAP: one head's attention. u8 4, u8 kind, u16 queries, u16 keys, u16 block, u32 step, f32 maximum,
  u8 [query][key] in 255ths of the maximum, padding. A maximum of NaN says that some value is not finite.
- NUMBERS: a small model's weights. u8 5, u8 kind, u16 count, u32 step, values f16, padding.
- GRID: every head's attention, coarse. u8 6, u8 kind, u8 layers, u8 heads, u16 queries, u16 keys, u16 block,
  u16 0, u32 step, maxima f32 [layer][head], u8 [layer][head][query][key] as in MAP, padding.
- TABLE: tables of numbers, such as a spectrum. u8 7, u8 kind, u8 parts, u8 layers, u8 heads, u8 0, u16 rows,
  u16 columns, u16 0, u32 step, f32 [part][layer][head][row][column].
- REGION: a part of a long map. u8 8 and on as in MAP, with the first query and key as u16 before the cells.

Column and kind numbers are places in the lists `columns` and `kinds` of the JSON hello.
"""

import struct
from dataclasses import dataclass, field

import numpy as np

from sandbox.live.blocks import (
    Block,
    GridBlock,
    HeadsBlock,
    MapBlock,
    NumbersBlock,
    PointsBlock,
    RowsBlock,
    TableBlock,
)

MAGIC = b"AS"
VERSION = 2
HEADER = struct.Struct("<2sBBIIff4BHBB")
SEQUENCE_AT = 8
ROWS_HEAD = struct.Struct("<BBHHHI")
HEADS_HEAD = struct.Struct("<BBBBI")
POINTS_HEAD = struct.Struct("<BBHI5f")
MAP_HEAD = struct.Struct("<BBHHHIf")
NUMBERS_HEAD = struct.Struct("<BBHI")
GRID_HEAD = struct.Struct("<BBBBHHHHI")
ORIGIN = struct.Struct("<HH")
TABLE_HEAD = struct.Struct("<BBBBBxHHxxI")
ROWS, HEADS, POINTS, MAP, NUMBERS, GRID, TABLE, REGION = 1, 2, 3, 4, 5, 6, 7, 8
FULL, RESELECTED = 1, 2
"""Flags: forget everything known; forget what belongs to the selection (frames and per-head curves)."""
STATES = ("queued", "running", "paused", "stalled", "stopped", "failed", "done", "waiting")
STEPS_PER_HALF = 32000
NOT_FINITE = -32768


@dataclass(frozen=True)
class Update:
    """One message: where the run is, what the selection was, and what is new."""

    step: int
    sequence: int
    seconds: float
    rate: float
    state: str
    selection: tuple[int, int, int, int]
    """arm, seed (its place), layer, head."""
    flags: int = 0
    blocks: list[Block] = field(default_factory=list)


def encode(update: Update) -> bytes:
    """The message's bytes; at most 65535 rows and blocks, 255 columns and arms."""
    parts = [
        HEADER.pack(
            MAGIC,
            VERSION,
            update.flags,
            update.step,
            update.sequence & 0xFFFFFFFF,
            update.seconds,
            update.rate,
            *update.selection,
            len(update.blocks),
            STATES.index(update.state),
            0,
        )
    ]
    for block in update.blocks:
        parts.extend(_encode_block(block))
    return b"".join(parts)


def with_sequence(message: bytes, sequence: int) -> bytes:
    """The same message under another sequence number, so that viewers can share its making."""
    return message[:SEQUENCE_AT] + struct.pack("<I", sequence & 0xFFFFFFFF) + message[SEQUENCE_AT + 4 :]


def _encode_block(block: Block) -> list[bytes]:
    if isinstance(block, RowsBlock):
        pairs = bytes(number for pair in block.series for number in pair)
        seeds, n = block.values.shape[1], len(block.steps)
        return [
            ROWS_HEAD.pack(ROWS, seeds, n, len(block.series), block.fresh, block.thinned_from),
            _padded(pairs),
            np.ascontiguousarray(block.steps, dtype="<u4").tobytes(),
            np.ascontiguousarray(block.values, dtype="<f4").tobytes(),
        ]
    if isinstance(block, HeadsBlock):
        n, layers, heads = block.values.shape
        return [
            HEADS_HEAD.pack(HEADS, n, layers, heads, block.step),
            _padded(bytes(block.columns)),
            np.ascontiguousarray(block.values, dtype="<f4").tobytes(),
        ]
    if isinstance(block, PointsBlock):
        centre, half, places = _quantized(block.points)
        return [
            POINTS_HEAD.pack(
                POINTS, block.kind, len(block.points), block.step, *block.explained, *centre, half
            ),
            places.astype("<i2").tobytes(),
        ]
    if isinstance(block, NumbersBlock):
        head = NUMBERS_HEAD.pack(NUMBERS, block.kind, len(block.values), block.step)
        return [head, _padded(block.values.astype("<f2").tobytes())]
    if isinstance(block, GridBlock):
        layers, heads, queries, keys = block.cells.shape
        head = GRID_HEAD.pack(GRID, block.kind, layers, heads, queries, keys, block.block, 0, block.step)
        return [head, block.maxima.astype("<f4").tobytes(), _padded(block.cells.astype("u1").tobytes())]
    if isinstance(block, TableBlock):
        head = TABLE_HEAD.pack(TABLE, block.kind, *block.values.shape, block.step)
        return [head, np.ascontiguousarray(block.values, dtype="<f4").tobytes()]
    queries, keys = block.cells.shape
    tag = MAP if block.origin is None else REGION
    head = MAP_HEAD.pack(tag, block.kind, queries, keys, block.block, block.step, block.maximum)
    if block.origin is not None:
        head += ORIGIN.pack(*block.origin)
    return [head, _padded(np.ascontiguousarray(block.cells, dtype=np.uint8).tobytes())]


def _quantized(points: np.ndarray) -> tuple[tuple[float, float], float, np.ndarray]:
    finite = np.isfinite(points)
    low = np.where(finite, points, np.inf).min(axis=0, initial=np.inf)
    high = np.where(finite, points, -np.inf).max(axis=0, initial=-np.inf)
    if not np.isfinite([low, high]).all():
        return (0.0, 0.0), 1.0, np.full(points.shape, NOT_FINITE)
    centre = (low + high) / 2
    half = float((high - low).max() / 2) or 1.0
    places = np.rint(np.where(finite, points - centre, 0.0) * (STEPS_PER_HALF / half))
    return (float(centre[0]), float(centre[1])), half, np.where(finite, places, NOT_FINITE)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def decode(message: bytes) -> Update:
    """The update in `message`; ValueError where it is not one of this version."""
    if len(message) < HEADER.size or message[:3] != MAGIC + bytes([VERSION]):
        raise ValueError("This is no live update of this version.")
    _, _, flags, step, sequence, seconds, rate, *rest = HEADER.unpack_from(message)
    blocks: list[Block] = []
    at = HEADER.size
    for _ in range(rest[4]):
        block, at = _decode_block(message, at)
        blocks.append(block)
    return Update(
        step, sequence, seconds, rate, STATES[rest[5]], (rest[0], rest[1], rest[2], rest[3]), flags, blocks
    )


def _decode_block(message: bytes, at: int) -> tuple[Block, int]:
    tag = message[at]
    if tag == ROWS:
        _, seeds, n, series, fresh, thinned_from = ROWS_HEAD.unpack_from(message, at)
        at += ROWS_HEAD.size
        pairs = [(message[at + 2 * i], message[at + 2 * i + 1]) for i in range(series)]
        steps, at = _numbers(message, "<u4", (n,), at + 2 * series + (-2 * series % 4))
        values, at = _numbers(message, "<f4", (series, seeds, n), at)
        return RowsBlock(pairs, steps, values, thinned_from, fresh > 0), at
    if tag == HEADS:
        _, n, layers, heads, step = HEADS_HEAD.unpack_from(message, at)
        at += HEADS_HEAD.size
        columns = list(message[at : at + n])
        values, at = _numbers(message, "<f4", (n, layers, heads), at + n + (-n % 4))
        return HeadsBlock(step, columns, values), at
    if tag == POINTS:
        _, kind, n, step, *explained, x, y, half = POINTS_HEAD.unpack_from(message, at)
        places, at = _numbers(message, "<i2", (n, 2), at + POINTS_HEAD.size)
        points = np.where(places == NOT_FINITE, np.nan, places * (half / STEPS_PER_HALF) + np.array([x, y]))
        return PointsBlock(kind, step, points, (explained[0], explained[1])), at
    if tag in (MAP, REGION):
        _, kind, queries, keys, block, step, maximum = MAP_HEAD.unpack_from(message, at)
        at += MAP_HEAD.size
        origin = None
        if tag == REGION:
            origin, at = ORIGIN.unpack_from(message, at), at + ORIGIN.size
        cells, at = _numbers(message, "u1", (queries, keys), at)
        return MapBlock(kind, step, cells, maximum, block, origin), at + (-queries * keys % 4)
    if tag == NUMBERS:
        _, kind, n, step = NUMBERS_HEAD.unpack_from(message, at)
        values, at = _numbers(message, "<f2", (n,), at + NUMBERS_HEAD.size)
        return NumbersBlock(kind, step, values), at + (-2 * n % 4)
    if tag == GRID:
        _, kind, layers, heads, queries, keys, block, _, step = GRID_HEAD.unpack_from(message, at)
        maxima, at = _numbers(message, "<f4", (layers, heads), at + GRID_HEAD.size)
        cells, at = _numbers(message, "u1", (layers, heads, queries, keys), at)
        return GridBlock(kind, step, cells, maxima, block), at + (-cells.size % 4)
    if tag == TABLE:
        _, kind, parts, layers, heads, rows, columns, step = TABLE_HEAD.unpack_from(message, at)
        values, at = _numbers(message, "<f4", (parts, layers, heads, rows, columns), at + TABLE_HEAD.size)
        return TableBlock(kind, step, values), at
    raise ValueError(f"This live update has a block of unknown kind {tag}.")


def _numbers(message: bytes, dtype: str, shape: tuple[int, ...], at: int) -> tuple[np.ndarray, int]:
    count = int(np.prod(shape))
    values = np.frombuffer(message, dtype, count, at).reshape(shape)
    return values, at + values.nbytes
