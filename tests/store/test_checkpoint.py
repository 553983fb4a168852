"""A checkpoint is whole or passed over for the one before it; two are kept, and some to rewind to."""

import os
from pathlib import Path

import numpy as np
import pytest

from sandbox.foundations.errors import RunUnavailable
from sandbox.store import checkpoint
from sandbox.store.checkpoint import (
    MOST_EARLIER,
    START,
    checkpoint_files,
    latest_checkpoint,
    read_checkpoint,
    read_start,
    save_checkpoint,
    save_start,
    spread,
)


def state(value: float) -> dict[str, np.ndarray]:
    return {
        "0/theta": np.full((3, 5), value, dtype=np.float32),
        "0/step": np.array([int(value)]),
        "transposed": np.arange(6.0).reshape(2, 3).T,
        "nothing": np.zeros((0, 4)),
    }


def steps(folder: Path) -> list[int]:
    return [step for step, _ in checkpoint_files(folder)]


def test_arrays_come_back_with_type_and_shape(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path) is None
    save_checkpoint(tmp_path, 7, state(7))
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert found[0] == 7
    assert found[1].keys() == state(7).keys()
    for name, array in state(7).items():
        np.testing.assert_array_equal(found[1][name], array)
        assert found[1][name].dtype == array.dtype


def test_the_last_two_are_kept_and_later_ones_belong_to_another_past(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "MOST_EARLIER", 0)
    for step in (10, 20, 30, 1000):
        save_checkpoint(tmp_path, step, state(step))
    assert steps(tmp_path) == [30, 1000]
    save_checkpoint(tmp_path, 40, state(40))
    assert steps(tmp_path) == [30, 40]
    save_checkpoint(tmp_path, 40, state(41))
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert found[1]["0/step"].tolist() == [41]
    assert not list(tmp_path.glob("*.part"))


def test_a_folder_that_was_deleted_is_said_to_be_gone(tmp_path: Path) -> None:
    with pytest.raises(RunUnavailable, match="its folder is not there; it was moved or deleted"):
        save_checkpoint(tmp_path / "deleted", 3, state(3))


@pytest.mark.parametrize("stride", [1, 100, 777])
def test_some_earlier_ones_stay_spread_over_the_run(tmp_path: Path, stride: int) -> None:
    for n in range(1, 61):
        save_checkpoint(tmp_path, n * stride, {"x": np.zeros(1)})
    kept = steps(tmp_path)
    assert len(kept) == MOST_EARLIER + 2 and kept[-2:] == [59 * stride, 60 * stride]
    assert max(np.diff([0, *kept])) <= 2 * 60 * stride / MOST_EARLIER


def test_large_ones_are_kept_within_a_budget_of_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "MOST_EARLIER_BYTES", 5000)
    for step in range(10, 200, 10):
        save_checkpoint(tmp_path, step, {"x": np.zeros(200)})
    *earlier, _, _ = checkpoint_files(tmp_path)
    assert 1 <= len(earlier) <= 2 and sum(path.stat().st_size for _, path in earlier) <= 5000


def test_what_stays_is_what_shortens_the_way_most() -> None:
    assert spread(dict.fromkeys([10, 11, 12], 1), 20) == [10, 11, 12]
    sizes = dict.fromkeys(range(1, 20), 1)
    assert len(spread(sizes, 20)) == MOST_EARLIER


def test_a_start_is_kept_beside_the_checkpoints(tmp_path: Path) -> None:
    assert read_start(tmp_path) is None
    save_start(tmp_path, 5, state(5))
    for step in (6, 7, 8):
        save_checkpoint(tmp_path, step, state(step))
    found = read_start(tmp_path)
    assert found is not None and found[0] == 5
    np.testing.assert_array_equal(found[1]["0/theta"], state(5)["0/theta"])
    (tmp_path / START).write_bytes((tmp_path / START).read_bytes()[:-1])
    with pytest.raises(RunUnavailable, match="damaged"):
        read_start(tmp_path)


@pytest.mark.parametrize("at", [-1, 4, 60, 300])
def test_an_altered_checkpoint_is_passed_over_and_named(tmp_path: Path, at: int) -> None:
    save_checkpoint(tmp_path, 10, state(10))
    newest = save_checkpoint(tmp_path, 20, state(20))
    content = bytearray(newest.read_bytes())
    content[at] ^= 0x40
    newest.write_bytes(content)
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert found[0] == 10
    with pytest.raises(RunUnavailable, match=r"checkpoint-0+20\.safetensors is damaged"):
        read_checkpoint(newest)


@pytest.mark.parametrize("length", [0, 3, 8, 100, -1])
def test_a_cut_checkpoint_is_passed_over(tmp_path: Path, length: int) -> None:
    save_checkpoint(tmp_path, 10, state(10))
    newest = save_checkpoint(tmp_path, 20, state(20))
    os.truncate(newest, length if length >= 0 else newest.stat().st_size - 1)
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert found[0] == 10
    newest.write_bytes(b"")
    checkpoint_files(tmp_path)[0][1].write_bytes(b"")
    assert latest_checkpoint(tmp_path) is None


def test_other_files_are_no_checkpoints(tmp_path: Path) -> None:
    for name in ("checkpoint-1.safetensors", "checkpoint-000000000009.safetensors.part", "other.safetensors"):
        (tmp_path / name).write_bytes(b"x")
    assert steps(tmp_path) == []
