"""The wire format: what is encoded comes back, and a live update stays as small as promised."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.live.blocks import (
    GRID_CELLS,
    GridBlock,
    HeadsBlock,
    MapBlock,
    NumbersBlock,
    PointsBlock,
    RowsBlock,
    grid_block,
    map_block,
)
from sandbox.live.panels import standard_columns
from sandbox.live.selection import Selection
from sandbox.live.updates import Cursor, next_update
from sandbox.live.wire import FULL, RESELECTED, Update, decode, encode, with_sequence

HERE = (1, 2, 0, 3)


def update(*blocks: object) -> Update:
    return Update(840, 7, 8.5, 102.5, "running", HERE, 0, list(blocks))  # type: ignore[arg-type]


def test_a_header_comes_back_as_it_was_sent() -> None:
    sent = update()
    assert decode(encode(sent)) == sent
    assert decode(with_sequence(encode(sent), 99)).sequence == 99


@given(rows=st.integers(1, 9), series=st.integers(1, 5), seeds=st.integers(1, 4))
def test_rows_come_back_for_any_size(rows: int, series: int, seeds: int) -> None:
    values = np.arange(rows * series * seeds, dtype=np.float32).reshape(series, seeds, rows)
    values[0, 0, 0] = np.nan
    block = RowsBlock([(i, series - i) for i in range(series)], np.arange(rows) * 20, values, 50)
    after = HeadsBlock(3, [5], np.full((1, 1, 1), 2.5, np.float32))
    found, next_one = decode(encode(update(block, after))).blocks
    assert isinstance(found, RowsBlock) and isinstance(next_one, HeadsBlock)
    assert found.series == block.series and found.thinned_from == 50
    np.testing.assert_array_equal(found.steps, block.steps)
    np.testing.assert_array_equal(found.values, values)
    assert next_one.values.item() == 2.5


def test_heads_come_back() -> None:
    values = np.arange(30, dtype=np.float32).reshape(5, 2, 3)
    (found,) = decode(encode(update(HeadsBlock(840, [5, 6, 7, 8, 9], values)))).blocks
    assert isinstance(found, HeadsBlock) and found.columns == [5, 6, 7, 8, 9]
    np.testing.assert_array_equal(found.values, values)


@given(st.integers(1, 40), st.floats(1e-3, 1e4))
def test_points_come_back_to_a_thirty_thousandth_of_their_range(n: int, size: float) -> None:
    points = np.random.default_rng(n).normal(scale=size, size=(n, 2)) + 3 * size
    (found,) = decode(encode(update(PointsBlock(4, 840, points, (0.5, 0.25))))).blocks
    assert isinstance(found, PointsBlock) and found.explained == (0.5, 0.25)
    half = max(np.ptp(points, axis=0).max() / 2, size / 1000)
    np.testing.assert_allclose(found.points, points, atol=half / 30000 + 2e-6 * size)


def test_a_point_that_is_not_finite_is_not_moved_anywhere() -> None:
    points = np.array([[1.0, 2.0], [np.nan, 0.0], [3.0, np.inf]])
    (found,) = decode(encode(update(PointsBlock(0, 1, points, (np.nan, np.nan))))).blocks
    assert isinstance(found, PointsBlock)
    assert np.isnan(found.points).tolist() == [[False, False], [True, False], [False, True]]


def test_a_map_comes_back_within_half_a_255th_of_its_maximum() -> None:
    weights = np.random.default_rng(1).dirichlet(np.ones(11), size=7)
    (found,) = decode(encode(update(map_block(2, 840, weights)))).blocks
    assert isinstance(found, MapBlock) and found.block == 1
    assert found.maximum == pytest.approx(weights.max())
    np.testing.assert_allclose(found.cells * (found.maximum / 255), weights, atol=found.maximum / 510 + 1e-7)


def test_a_long_map_is_averaged_over_whole_blocks_and_the_rest() -> None:
    weights = np.random.default_rng(2).uniform(size=(130, 130))
    block = map_block(0, 0, weights)
    assert block.block == 3 and block.cells.shape == (44, 44)
    value = block.cells[43, 0] * block.maximum / 255
    assert value == pytest.approx(weights[129:, 0:3].mean(), abs=block.maximum / 255)


def test_a_map_with_a_nan_says_so() -> None:
    weights = np.full((3, 3), 1 / 3)
    weights[1, 1] = np.nan
    assert np.isnan(map_block(0, 0, weights).maximum)


@given(n=st.integers(1, 30))
def test_a_small_models_weights_come_back_in_half_precision(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n).astype(np.float16)
    values[0] = np.nan
    after = HeadsBlock(3, [5], np.full((1, 1, 1), 2.5, np.float32))
    found, next_one = decode(encode(update(NumbersBlock(3, 840, values), after))).blocks
    assert isinstance(found, NumbersBlock) and (found.kind, found.step) == (3, 840)
    np.testing.assert_array_equal(found.values, values)
    assert isinstance(next_one, HeadsBlock)


@pytest.mark.parametrize(("layers", "heads", "tokens"), [(1, 2, 12), (2, 4, 40), (6, 8, 128), (1, 3, 7)])
def test_all_heads_come_back_coarse_enough_to_stay_small(layers: int, heads: int, tokens: int) -> None:
    weights = np.random.default_rng(3).dirichlet(np.ones(tokens), size=(layers, heads, tokens))
    message = encode(update(grid_block(1, 840, weights), HeadsBlock(3, [5], np.ones((1, 1, 1)))))
    found, next_one = decode(message).blocks
    assert isinstance(found, GridBlock) and isinstance(next_one, HeadsBlock)
    assert found.cells.size <= GRID_CELLS and found.maxima.shape == (layers, heads)
    if found.block == 1:
        shades = found.cells * (found.maxima[..., None, None] / 255)
        np.testing.assert_allclose(shades, weights, atol=float(found.maxima.max()) / 500)


@pytest.mark.parametrize("message", [b"", b"AS", b"XX" + bytes(40), b"AS\x09" + bytes(40)])
def test_what_is_no_update_is_refused(message: bytes) -> None:
    with pytest.raises(ValueError, match="no live update"):
        decode(message)


@pytest.mark.parametrize(("tokens", "limit"), [(12, 2048), (32, 3072)])
@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("stride", [5, 25, 400])
def test_a_live_update_of_four_arms_and_three_seeds_stays_small(
    tmp_path: Path,
    made_up: Callable[..., Any],
    feed_of: Callable[..., Any],
    tokens: int,
    limit: int,
    batch: bool,
    stride: int,
) -> None:
    run = made_up(tmp_path / "run", tokens=tokens, evaluate_every=5)
    run.grow(100)
    feed = feed_of(tmp_path / "run")
    feed.refresh()
    selection = Selection(batch=batch)
    first, cursor = next_update(feed, Cursor(), selection, 1)
    assert decode(first).flags == FULL
    sizes = []
    for turn in range(3):
        run.grow(run.step + stride)
        assert feed.refresh()
        message, cursor = next_update(feed, cursor, selection, turn + 2)
        sizes.append(len(message))
        assert decode(message).step == run.step
    assert max(sizes) <= limit, sizes


def test_a_spike_of_one_step_survives_a_small_live_update(
    tmp_path: Path, made_up: Callable[..., Any], feed_of: Callable[..., Any]
) -> None:
    run, feed, selection = (
        made_up(tmp_path / "run", evaluate_every=5),
        feed_of(tmp_path / "run"),
        Selection(batch=True),
    )
    run.grow(100)
    feed.refresh()
    _, cursor = next_update(feed, Cursor(), selection, 1)
    run.grow(400)
    run.writer.scalars(2, "loss", [317], np.array([[0.5, 44.0, 0.5]]))
    run.writer.commit()
    feed.refresh()
    message, _ = next_update(feed, cursor, selection, 2)
    assert len(message) <= 2048
    (block,) = (b for b in decode(message).blocks if isinstance(b, RowsBlock) and (0, 2) in b.series)
    values = block.values[block.series.index((0, 2)), 1]
    assert block.steps[values.argmax()] == 317 and values.max() == 44.0 and block.thinned_from == 300


def test_updates_in_a_row_bring_every_evaluation_exactly_once(
    tmp_path: Path, made_up: Callable[..., Any], feed_of: Callable[..., Any]
) -> None:
    run = made_up(tmp_path / "run", arms=2)
    feed, cursor, seen = feed_of(tmp_path / "run"), Cursor(), []
    for step in (0, 45, 90, 200):
        run.grow(step)
        feed.refresh()
        message, cursor = next_update(feed, cursor, Selection(), 1, budget=10_000)
        for block in decode(message).blocks:
            if isinstance(block, RowsBlock) and (4, 1) in block.series:  # test_accuracy of the second arm
                seen += block.steps.tolist()
    assert seen == list(range(0, 201, 20))


def test_choosing_another_head_sends_that_heads_history_and_no_losses_again(
    tmp_path: Path, made_up: Callable[..., Any], feed_of: Callable[..., Any]
) -> None:
    run = made_up(tmp_path / "run")
    run.grow(200)
    feed = feed_of(tmp_path / "run")
    feed.refresh()
    _, cursor = next_update(feed, Cursor(), Selection(), 1)
    message, _ = next_update(feed, cursor, Selection(head=1), 2)
    found = decode(message)
    assert found.flags == RESELECTED and found.selection == (0, 0, 0, 1)
    columns = {c for b in found.blocks if isinstance(b, RowsBlock) for c, _ in b.series}
    assert {feed.columns()[c] for c in columns} == standard_columns()[0]
    entropy = next(b for b in found.blocks if isinstance(b, RowsBlock) and (5, 2) in b.series)
    stored = feed.rows[2, "attention entropy/entropy"].values[:, :, 0, 1]
    np.testing.assert_array_equal(entropy.values[entropy.series.index((5, 2))].T, stored)


def test_a_picture_that_is_opened_comes_with_its_history_and_then_frame_by_frame(
    tmp_path: Path, made_up: Callable[..., Any], feed_of: Callable[..., Any]
) -> None:
    run, feed = made_up(tmp_path / "run", arms=1, visual=True, groups=True), feed_of(tmp_path / "run")
    run.grow(100)
    feed.refresh()
    message, cursor = next_update(feed, Cursor(), Selection(), 1)
    assert not any(isinstance(b, NumbersBlock | GridBlock) for b in decode(message).blocks)
    opened = Selection(open=("visual weights",), grid=True, groups=True)
    message, cursor = next_update(feed, cursor, opened, 2)
    found = decode(message)
    assert found.flags == 0
    for kind in (NumbersBlock, GridBlock):
        assert [b.step for b in found.blocks if isinstance(b, kind)] == [0, 20, 40, 60, 80, 100]
    rows = [b for b in found.blocks if isinstance(b, RowsBlock)]
    columns = {c for b in rows for c, _ in b.series}
    names = [f"test_accuracy/{group}" for group in ("depth/1", "depth/2", "operator/MIN")]
    assert columns == {feed.columns().index(name) for name in names}
    run.grow(120)
    feed.refresh()
    blocks = decode(next_update(feed, cursor, opened, 3)[0]).blocks
    assert [b.step for b in blocks if isinstance(b, NumbersBlock | GridBlock)] == [120, 120]
    assert not any(isinstance(b, PointsBlock | MapBlock) for b in blocks)


@pytest.mark.parametrize(("tokens", "limit"), [(12, 2048), (32, 3072)])
def test_a_live_update_stays_small_with_every_picture_open(
    tmp_path: Path, made_up: Callable[..., Any], feed_of: Callable[..., Any], tokens: int, limit: int
) -> None:
    kinds = ("attention map", "token trajectories", "visual weights")
    run = made_up(tmp_path / "run", tokens=tokens, evaluate_every=5, visual=True, groups=True)
    run.grow(100)
    feed = feed_of(tmp_path / "run")
    feed.refresh()
    opened = Selection(open=kinds, groups=True)
    _, cursor = next_update(feed, Cursor(), opened, 1)
    for turn in range(3):
        run.grow(run.step + 25)
        feed.refresh()
        message, cursor = next_update(feed, cursor, opened, turn + 2)
        assert len(message) <= limit
