"""What is open travels, what is folded does not, and what is opened again comes whole."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.foundations.certificate import DOES_NOT_APPLY, HOLDS, Certificate
from sandbox.foundations.readings import PerHead, Table
from sandbox.live.blocks import HeadsBlock, MapBlock, RowsBlock, TableBlock
from sandbox.live.feed import Feed
from sandbox.live.hello import hello, residual_constants
from sandbox.live.panels import declare_panels
from sandbox.live.selection import Selection
from sandbox.live.updates import Cursor, next_update
from sandbox.live.wire import FULL, Update, decode, encode
from tests.live.synthetic import SyntheticRun

SHAPE = (5, 1, 2)
RANKS = np.linspace(2.0, 0.5, 16)


def certificate() -> Certificate:
    """Two bounds of two heads: the first holds, the second means nothing here."""
    holds = np.zeros((5, 2, 1, 2), dtype=bool)
    holds[:, 0] = True
    return Certificate(
        names=("norm bound", "row bound"), statements=("a", "b"), reasons=("too long",), unit="kappa",
        bound=np.where(holds, 8.0, np.nan), measured=np.where(holds, 5.0, np.nan),
        state=np.where(holds, HOLDS, DOES_NOT_APPLY), reason=np.where(holds, -1, 0), share=holds * 1.0,
    )  # fmt: skip


def read_all(run: SyntheticRun, step: int, without: tuple[str, ...] = ()) -> None:
    """Readings of every kind that a panel draws, save those `without`, made up, for all arms."""
    columns: dict[str, set[str]] = {}
    for panel in declare_panels(frozenset({"visual model", "listops", "sparse modular addition"})):
        names = [c["column"] for c in panel["curves"]] + [c for c, _ in (*panel["facts"], *panel["table"])]
        for kind, _, column in (name.partition("/") for name in names if "/" in name):
            columns.setdefault(kind, set()).add(column)
    for arm in range(len(run.arms)):
        for kind, names in columns.items():
            if kind in without:
                continue
            values = {name: np.full(SHAPE, step + 1.0) for name in sorted(names)}
            run.writer.reading(step, arm, kind, PerHead(columns=values, unit="unit", log=True))
        cells = np.broadcast_to(RANKS[:, None], (5, 1, 2, 16, 3)) * (1 + step)
        run.writer.reading(step, arm, "spectra", Table(
            cells=cells.astype(np.float32), rows=tuple(f"σ{i + 1}" for i in range(16)),
            columns=("W_Q", "W_K", "W_V"), unit="singular value", log=True,
        ))  # fmt: skip
        run.writer.reading(step, arm, "jacobian certificates", certificate())
    run.writer.commit()


@pytest.fixture
def rich(
    tmp_path: Path, made_up: Callable[..., Any], feed_of: Callable[..., Any]
) -> tuple[SyntheticRun, Feed]:
    """Four arms of five seeds with everything read twice."""
    run = made_up(tmp_path / "run", seeds=5, steps=9000)
    run.grow(100)
    for step in (50, 100):
        read_all(run, step)
    feed = feed_of(tmp_path / "run")
    feed.refresh()
    return run, feed


def numbers(feed: Feed, *names: str) -> list[int]:
    return [feed.columns().index(name) for name in names]


def rows_of(update: Update, feed: Feed) -> dict[str, RowsBlock]:
    return {
        feed.columns()[column]: block
        for block in update.blocks
        if isinstance(block, RowsBlock)
        for column, arm in block.series
        if arm == 0
    }


def test_tables_come_back_and_blocks_after_them_too() -> None:
    table = TableBlock(3, 77, np.arange(24, dtype=np.float32).reshape(1, 2, 2, 3, 2))
    after = HeadsBlock(3, [5], np.full((1, 1, 1), 2.5, np.float32))
    sent = Update(840, 7, 8.5, 102.5, "running", (0, 0, 0, 0), 0, [table, after])
    found, next_one = decode(encode(sent)).blocks
    assert isinstance(found, TableBlock) and (found.kind, found.step) == (3, 77)
    np.testing.assert_array_equal(found.values, table.values)
    assert isinstance(next_one, HeadsBlock) and next_one.values.item() == 2.5


def test_numbers_of_columns_stand_before_anything_is_read(
    tmp_path: Path, made_up: Callable[..., Any], feed_of: Callable[..., Any]
) -> None:
    run, feed = made_up(tmp_path / "run", seeds=5), feed_of(tmp_path / "run")
    run.grow(10)
    feed.refresh()
    columns, kinds = feed.columns(), feed.kinds()
    read_all(run, 10)
    feed.refresh()
    assert feed.columns() == columns and feed.kinds() == kinds and len(columns) < 255


def test_a_folded_panel_is_not_sent_and_one_that_is_opened_again_comes_from_its_start(
    rich: tuple[SyntheticRun, Feed],
) -> None:
    run, feed = rich
    name = "attention jacobian/median"
    folded, opened = Selection.read({}, feed), Selection.read({"curves": numbers(feed, name)}, feed)
    message, cursor = next_update(feed, Cursor(), folded, 1)
    assert name not in rows_of(decode(message), feed)
    message, cursor = next_update(feed, cursor, opened, 2)
    first = rows_of(decode(message), feed)
    assert first[name].fresh and first[name].steps.tolist() == [50, 100] and "loss" not in first
    run.grow(110)
    read_all(run, 110)
    feed.refresh()
    message, cursor = next_update(feed, cursor, opened, 3)
    assert not rows_of(decode(message), feed)[name].fresh
    message, cursor = next_update(feed, cursor, folded, 4)
    message, cursor = next_update(feed, cursor, opened, 5)
    again = rows_of(decode(message), feed)
    assert again[name].fresh and again[name].steps.tolist() == [50, 100, 110]
    assert "test_loss" not in again and decode(message).flags & FULL == 0


def test_a_viewer_that_comes_back_is_not_thought_to_have_what_was_folded(
    rich: tuple[SyntheticRun, Feed],
) -> None:
    _, feed = rich
    folded = Selection.read({"curves": []}, feed)
    cursor = Cursor.since(feed, 100, folded)
    opened = Selection.read({"curves": numbers(feed, "sharpness/sharpness")}, feed)
    message, _ = next_update(feed, cursor, opened, 1)
    assert rows_of(decode(message), feed)["sharpness/sharpness"].steps.tolist() == [50, 100]


def test_values_of_all_heads_come_at_the_step_at_which_each_was_read(rich: tuple[SyntheticRun, Feed]) -> None:
    run, feed = rich
    names = ("layer norms/attention bound", "theta/share exact")
    chosen = Selection.read({"curves": [], "values": numbers(feed, *names)}, feed)
    _, cursor = next_update(feed, Cursor(), chosen, 1)
    run.grow(140)  # theta was read since, the layer norms were not
    feed.refresh()
    message, _ = next_update(feed, cursor, chosen, 2)
    (block,) = (b for b in decode(message).blocks if isinstance(b, HeadsBlock))
    assert [feed.columns()[c] for c in block.columns] == ["theta/share exact"] and block.step == 140


def test_certificates_travel_with_their_states_for_every_head(rich: tuple[SyntheticRun, Feed]) -> None:
    _, feed = rich
    chosen = Selection.read({"open": ["jacobian certificates", "spectra"], "head": 1}, feed)
    message, _ = next_update(feed, Cursor(), chosen, 1)
    tables = [b for b in decode(message).blocks if isinstance(b, TableBlock)]
    of = {kind: [t for t in tables if feed.kinds()[t.kind] == kind] for kind in chosen.open}
    bound, measured, state, reason, _ = of["jacobian certificates"][-1].values[..., 0]
    assert of["jacobian certificates"][-1].values.shape == (5, 1, 2, 2, 1)
    assert (bound[0, :, 0] == 8).all() and (measured[0, :, 0] == 5).all() and np.isnan(bound[0, :, 1]).all()
    assert (state[0] == [HOLDS, DOES_NOT_APPLY]).all() and (reason[0] == [-1, 0]).all()
    assert [t.step for t in of["spectra"]] == [50, 100] and of["spectra"][0].values.shape == (1, 1, 1, 16, 3)


def test_an_update_with_eight_panels_open_stays_within_four_kilobytes(
    rich: tuple[SyntheticRun, Feed],
) -> None:
    run, feed = rich
    shown = numbers(feed, "attention entropy/entropy", "theta/lower", "theta/upper", "theta/median p_max",
                    "condition numbers/query")  # fmt: skip
    values = numbers(feed, "theta/share exact", "attention entropy/entropy")
    chosen = Selection.read(
        {"curves": shown, "values": values, "open": ["trajectories", "attention map", "spectra"]}, feed
    )
    _, cursor = next_update(feed, Cursor(), chosen, 1)
    sizes = []
    for turn in range(12):
        run.grow(run.step + 25)
        read_all(run, run.step)
        feed.refresh()
        message, cursor = next_update(feed, cursor, chosen, turn + 2)
        sizes.append(len(message))
    assert max(sizes) <= 4096, sizes


def test_a_viewer_is_told_until_when_a_panel_waits(rich: tuple[SyntheticRun, Feed]) -> None:
    run, feed = rich
    meta = feed.meta_version
    wait = {"kind": "sharpness", "step": 480, "seconds": 2.5, "cost": 0.3}
    run.writer.describe(waiting=[wait])
    run.grow(160)
    feed.refresh()
    assert hello(feed, steer=False)["waiting"] == [wait] and feed.meta_version == meta


@pytest.mark.parametrize("junk", [None, "soon", {"a": 1}, [1, "x"]])
def test_a_waiting_list_that_is_none_is_read_as_empty(junk: object, rich: tuple[SyntheticRun, Feed]) -> None:
    _, feed = rich
    feed.meta["waiting"] = junk
    assert feed.waiting == []


def test_deepnorms_constants_come_with_each_arms_placement() -> None:
    plain = {
        "model": {"n_layers": 18, "placement": {"kind": "pre-ln"}},
        "arms": [{"name": "a"}, {"name": "b", "placement": {"kind": "post-ln"}}],
    }
    found = residual_constants(plain)
    assert found is not None and found["placements"] == ["pre-ln", "post-ln"]
    assert (found["alpha"], found["gain"]) == pytest.approx((6**0.5, 1 / 12**0.5))
    assert residual_constants({"model": {}}) is None


def test_a_part_of_a_long_map_comes_closely_beside_the_whole_and_nothing_else_of_it(
    tmp_path: Path, made_up: Callable[..., Any], feed_of: Callable[..., Any]
) -> None:
    run, feed = made_up(tmp_path / "run", arms=1, seeds=1, tokens=160), feed_of(tmp_path / "run")
    run.grow(20)
    feed.refresh()
    chosen = Selection.read({"open": ["attention map"], "region": [32, 64, 100, 150]}, feed)
    message, cursor = next_update(feed, Cursor(), chosen, 1)
    maps = [b for b in decode(message).blocks if isinstance(b, MapBlock)]
    whole, part = maps[1], maps[3]  # steps 0 and 20 of either
    assert (whole.origin, whole.block, part.origin, part.block) == (None, 3, (32, 100), 1)
    (_, weights), *_ = feed.frames(0, "attention map", "weights", [20])
    np.testing.assert_allclose(part.cells * (part.maximum / 255), weights[0, 0, 0, 32:64, 100:150], atol=1e-3)
    moved = Selection.read({"open": ["attention map"], "region": [0, 8, 150, 400]}, feed)
    message, _ = next_update(feed, cursor, moved, 2)
    assert [b.cells.shape for b in decode(message).blocks if isinstance(b, MapBlock)] == [(8, 10)] * 2


@pytest.mark.parametrize("junk", [None, 7, [1, 2, 3], [5, 5, 0, 9], ["a", 1, 2, 3], [0, True, 0, 4]])
def test_a_part_that_is_none_is_not_looked_at(junk: object, rich: tuple[SyntheticRun, Feed]) -> None:
    _, feed = rich
    assert Selection.read({"region": junk}, feed).region is None
