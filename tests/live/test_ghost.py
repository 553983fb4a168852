"""What a viewer is sent of a parent: its curves as columns of their own, and where the run goes on."""

from pathlib import Path

import pytest

import sandbox
from sandbox.experiment.experiment import load
from sandbox.live.blocks import RowsBlock
from sandbox.live.feed import Feed
from sandbox.live.hello import hello
from sandbox.live.selection import Selection
from sandbox.live.updates import Cursor, next_update
from sandbox.live.wire import decode
from sandbox.runner.fork_plan import Plan, forked
from sandbox.runner.forking import make_folder
from sandbox.store import open_run
from sandbox.store.check import check_folder
from tests.runner.small import tiny_experiment

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Feed, Feed]:
    """A parent of 9 steps, and its fork at step 5 that waits in the queue."""
    home: Path = tmp_path_factory.mktemp("ghost")
    parent = sandbox.train(tiny_experiment(steps=9), home / "old-parent")
    plain = forked(parent, Plan(step=5, settings=[(None, "batch_size", 8)]))
    make_folder(home / "child", parent, load(plain).to_plain())
    found = tuple(Feed(name, home / name) for name in ("old-parent", "child"))
    for feed in found:
        feed.refresh()
    return found[0], found[1]


def names_sent(feed: Feed, **wish: object) -> set[str]:
    message, _ = next_update(feed, Cursor(), Selection.read(wish, feed), 0)
    rows = [block for block in decode(message).blocks if isinstance(block, RowsBlock)]
    return {feed.columns()[column] for block in rows for column, _ in block.series}


def test_a_waiting_fork_shows_its_parents_curves(feeds: tuple[Feed, Feed]) -> None:
    _, child = feeds
    told = hello(child, steer=True)["parent"]
    assert told == {
        "run": "old-parent", "step": 5, "changed": ["batch_size 16 to 8"], "last": 9, "mean": 0,
    }  # fmt: skip
    name = "parent/condition numbers/query"
    asked = [child.columns().index(name)]
    assert name in names_sent(child, curves=asked)
    assert name not in names_sent(child)  # a reading's ghost travels while its curve is drawn
    assert names_sent(child) == {f"parent/{n}_{k}" for n in ("train", "test") for k in ("loss", "accuracy")}
    assert "parent/loss" in names_sent(child, batch=True)
    units = {column["name"]: column["unit"] for column in hello(child, steer=True)["columns"]}
    assert units["parent/test_loss"] == "nats" and units["parent/test_accuracy"] == "share"
    assert child.step == 0  # the ghost is ahead, the run is not


def test_a_run_without_a_parent_has_no_such_column(feeds: tuple[Feed, Feed]) -> None:
    parent, _ = feeds
    assert hello(parent, steer=True)["parent"] is None
    assert not [name for name in parent.columns() if name.startswith("parent/")]


def test_a_parents_past_is_sound_and_counts_as_nothing_that_the_run_recorded(
    feeds: tuple[Feed, Feed],
) -> None:
    _, child = feeds
    assert check_folder(child.folder).sound
    with open_run(child.folder) as run:
        told = run.since(-1)
        assert (told.scalars, told.readings, told.step) == ({}, {}, -1)
        assert run.group_curve("parent/loss", run.arms[0])[0][-1] == 9
        steps, values = run.reading_column("parent/theta", "lower", run.arms[0])
        assert steps[-1] == 9 and values.shape[1] == len(run.seeds)
