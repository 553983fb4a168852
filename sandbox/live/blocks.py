"""Blocks of a live update: what one picture or some curves need, before it is packed into bytes."""

from dataclasses import dataclass

import numpy as np

MAX_CELLS = 64
"""Maps with more tokens than this are averaged over square blocks of tokens."""
GRID_CELLS = 1024
"""Cells of all heads' maps together; more tokens are averaged over larger blocks."""


@dataclass(frozen=True)
class RowsBlock:
    """Curves with common steps: `values[series, seed, row]`, series as (column, arm)."""

    series: list[tuple[int, int]]
    steps: np.ndarray
    values: np.ndarray
    thinned_from: int
    fresh: bool = False
    """Whether the rows begin where the series do: a viewer that has some of them takes these instead."""


@dataclass(frozen=True)
class HeadsBlock:
    """Every head's value at `step` for the chosen arm and seed: `values[column, layer, head]`."""

    step: int
    columns: list[int]
    values: np.ndarray


@dataclass(frozen=True)
class PointsBlock:
    """A trajectory's points (point, 2) at `step`; `explained` is NaN where nothing was projected."""

    kind: int
    step: int
    points: np.ndarray
    explained: tuple[float, float]


@dataclass(frozen=True)
class MapBlock:
    """One head's attention, bytes (query, key) in 255ths of `maximum`; a cell averages `block`² pairs.

    With an `origin` (query, key) it is a part of a long map, looked at closely.
    """

    kind: int
    step: int
    cells: np.ndarray
    maximum: float
    block: int = 1
    origin: tuple[int, int] | None = None


@dataclass(frozen=True)
class NumbersBlock:
    """A small model's weights at `step`, in the order that its reading names them."""

    kind: int
    step: int
    values: np.ndarray


@dataclass(frozen=True)
class GridBlock:
    """All heads' attention, bytes (layer, head, query, key) in 255ths of each head's maximum."""

    kind: int
    step: int
    cells: np.ndarray
    maxima: np.ndarray
    block: int = 1


@dataclass(frozen=True)
class TableBlock:
    """Tables of numbers at `step`: `values[part, layer, head, row, column]`, as their reading names them."""

    kind: int
    step: int
    values: np.ndarray


Block = RowsBlock | HeadsBlock | PointsBlock | MapBlock | NumbersBlock | GridBlock | TableBlock


def map_block(kind: int, step: int, weights: np.ndarray, block: int = 0) -> MapBlock:
    """Quantize one head's weights (query, key), averaging blocks of tokens where there are more than 64."""
    block = block or -(-max(weights.shape) // MAX_CELLS)
    if block > 1:
        weights = _block_mean(weights, block)
    if not np.isfinite(weights).all():
        return MapBlock(kind, step, np.zeros(weights.shape, dtype=np.uint8), float("nan"), block)
    maximum = float(weights.max(initial=0.0))
    cells = np.rint(weights * (255.0 / maximum)) if maximum > 0 else np.zeros(weights.shape)
    return MapBlock(kind, step, np.clip(cells, 0, 255).astype(np.uint8), maximum, block)


def grid_block(kind: int, step: int, weights: np.ndarray) -> GridBlock:
    """Quantize every head's weights (layer, head, query, key), so coarse that all fit in GRID_CELLS."""
    layers, heads, queries, keys = weights.shape
    block = 1
    while layers * heads * -(-queries // block) * -(-keys // block) > GRID_CELLS and block < max(
        queries, keys
    ):
        block += 1
    maps = [map_block(kind, step, head, block) for layer in weights for head in layer]
    cells = np.stack([found.cells for found in maps])
    maxima = np.array([found.maximum for found in maps], dtype=np.float32)
    return GridBlock(
        kind, step, cells.reshape(layers, heads, *cells.shape[1:]), maxima.reshape(layers, heads), block
    )


def _block_mean(weights: np.ndarray, block: int) -> np.ndarray:
    rows = np.add.reduceat(weights, range(0, weights.shape[0], block), axis=0)
    sums = np.add.reduceat(rows, range(0, weights.shape[1], block), axis=1)
    tall, wide = (np.minimum(block, n - np.arange(0, n, block)) for n in weights.shape)
    return sums / (tall[:, None] * wide[None, :])
