"""The bytes of the live view at its fullest: five seeds, eight panels, long inputs, a long history."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.live.blocks import RowsBlock
from sandbox.live.selection import Selection
from sandbox.live.updates import OPENING_BYTES, Cursor, next_update
from sandbox.live.wire import FULL, decode
from tests.live.synthetic import SyntheticRun
from tests.live.test_open_panels import numbers, read_all

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("tokens", "limit"), [(12, 4096), (32, 6144)])
def test_an_update_of_eight_panels_four_arms_and_five_seeds_stays_small(
    tmp_path: Path, made_up: Callable[..., SyntheticRun], feed_of: Callable[..., Any], tokens: int, limit: int
) -> None:
    run, feed = made_up(tmp_path / "run", seeds=5, tokens=tokens, steps=9000), feed_of(tmp_path / "run")
    run.grow(100)
    read_all(run, 100)
    feed.refresh()
    open_ = ["trajectories", "attention map", "spectra", "jacobian certificates"]
    chosen = Selection.read({"open": open_, "values": numbers(feed, "attention entropy/entropy")}, feed)
    _, cursor = next_update(feed, Cursor(), chosen, 1)
    sizes = []
    for turn in range(12):
        run.grow(run.step + 25)
        read_all(run, run.step)
        feed.refresh()
        message, cursor = next_update(feed, cursor, chosen, turn + 2)
        sizes.append(len(message))
    assert max(sizes) <= limit, sizes


def test_five_hundred_snapshots_open_within_their_budget_and_no_extreme_is_lost(
    tmp_path: Path, made_up: Callable[..., SyntheticRun], feed_of: Callable[..., Any]
) -> None:
    run, feed = made_up(tmp_path / "run", seeds=5, steps=10_000), feed_of(tmp_path / "run")
    run.grow(9980)
    feed.refresh()
    message, _ = next_update(feed, Cursor(), Selection(), 1)
    update = decode(message)
    assert update.flags == FULL and len(message) <= OPENING_BYTES
    column = feed.columns().index("test_loss")
    (block,) = [b for b in update.blocks if isinstance(b, RowsBlock) and (column, 0) in b.series]
    rows, sent = feed.rows[0, "test_loss"], block.values[block.series.index((column, 0))]
    assert block.thinned_from == rows.count == 500 > len(block.steps) >= 60
    np.testing.assert_array_equal(sent.max(axis=1), rows.values.max(axis=0))
    np.testing.assert_array_equal(sent.min(axis=1), rows.values.min(axis=0))
    assert (block.steps[0], block.steps[-1]) == (0, 9980)
