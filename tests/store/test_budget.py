"""A budget costs snapshots alone: every scalar and event stays, the ends stay, the beginning stays dense."""

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sandbox.store import RunWriter, open_run
from sandbox.store.budget import (
    LEAST_KEPT,
    THINNED,
    kept_steps,
    snapshot_bytes,
    thin_folder,
    thin_snapshots,
    thinned,
)

SIZES = st.dictionaries(st.integers(0, 10_000), st.integers(1, 1000), max_size=60)


@given(SIZES, st.integers(0, 30_000), st.sets(st.integers(0, 10_000), max_size=5))
def test_what_stays_fits_or_is_the_least(sizes: dict[int, int], most: int, marked: set[int]) -> None:
    kept = kept_steps(sizes, most, marked)
    assert kept == sorted(set(kept)) and set(kept) <= sizes.keys()
    assert sum(sizes[step] for step in kept) <= most or len(kept) <= LEAST_KEPT
    if sizes:
        assert {min(sizes), max(sizes)} <= set(kept)
    gone = sizes.keys() - set(kept)
    if gone & marked:  # a marked one goes only when no other is left between the ends
        assert set(kept[1:-1]) <= marked


def test_the_beginning_stays_dense() -> None:
    kept = kept_steps(dict.fromkeys(range(1001), 1), 20)
    assert kept[:4] == [0, 1, 2, 3] and kept[-1] == 1000 and len(kept) == 20
    assert max(np.diff(np.log1p(kept[3:]))) < 3 * min(np.diff(np.log1p(kept[3:])))


def fill(writer: RunWriter, n: int = 60) -> None:
    for step in range(n):
        for arm in range(2):
            writer.scalars(arm, "loss", [step], np.full((1, 3), float(step + arm)))
            writer.weights(step, arm, np.full((3, 500), float(step), np.float32))
    writer.event(37, "threshold", "reached", arm=0, seed=5)
    writer.status("done", n - 1, 1.0)
    writer.commit()


def test_thinning_a_run_leaves_its_curves_and_events_and_says_what_went(writer: RunWriter) -> None:
    fill(writer)
    before = snapshot_bytes(writer)
    gone = thin_snapshots(writer, before / 2)
    writer.commit()
    assert snapshot_bytes(writer) <= before / 2 and len(gone) > 25
    with open_run(writer.path) as run:
        for arm in run.arms:
            assert run.group_curve("loss", arm)[0].tolist() == list(range(60))
            steps = set(run.weight_steps(arm).tolist())
            assert steps == set(range(60)) - set(gone) and {0, 37, 59} <= steps
        assert [(event.step, event.kind) for event in run.events()] == [(37, "threshold")]
        assert run.meta(THINNED)["steps"] == len(gone)
    assert thin_snapshots(writer, before) == []


def test_a_run_that_is_over_becomes_smaller_on_the_disk(tmp_path: Path, plain: dict[str, Any]) -> None:
    folder = tmp_path / "over"
    with RunWriter.create(folder, plain) as writer:
        fill(writer)
    size = (folder / "run.sqlite").stat().st_size
    freed = thin_folder(folder, 15)
    assert freed > 0.4 * size and (folder / "run.sqlite").stat().st_size == size - freed
    assert 12 <= len(open_run(folder).weight_steps("standard")) <= 16 and thinned(folder) > 40
    assert thin_folder(folder, 15) == 0
