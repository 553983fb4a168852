"""A checkpoint is whole or passed over for the one before it; two are kept."""

import os
from pathlib import Path

import numpy as np
import pytest

from sandbox.foundations.errors import RunUnavailable
from sandbox.store.checkpoint import checkpoint_files, latest_checkpoint, read_checkpoint, save_checkpoint


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


def test_the_last_two_are_kept_and_later_ones_belong_to_another_past(tmp_path: Path) -> None:
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
