"""Weights leave a run with their names, shapes and bits."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from sandbox.foundations.errors import InvalidData
from sandbox.store import RunWriter, open_run
from sandbox.store.export import export

LAYOUT = {"names": ["w", "b"], "shapes": [[2, 3], []], "n_carried": 0}


def record(writer: RunWriter, step: int) -> np.ndarray:
    theta = np.arange(3 * 7, dtype=np.float32).reshape(3, 7) + step
    for arm in range(2):
        writer.layout(arm, LAYOUT)
        writer.weights(step, arm, theta * (arm + 1))
    writer.commit()
    return theta


def test_every_parameter_has_its_name_its_shape_and_its_bits(writer: RunWriter, tmp_path: Path) -> None:
    record(writer, 10)
    theta = record(writer, 40)
    path = export(open_run(writer.path), "safetensors", tmp_path / "deep" / "w.safetensors")
    found = load_file(path)
    assert len(found) == 2 * 3 * 2
    for arm, factor in (("standard", 1), ("spectral:shift=0.5", 2)):
        for row, seed in enumerate((5, 0, 3)):
            np.testing.assert_array_equal(
                found[f"{arm}/{seed}/w"], factor * theta[row, :6].reshape(2, 3), strict=True
            )
            np.testing.assert_array_equal(found[f"{arm}/{seed}/b"], factor * theta[row, 6])
            assert found[f"{arm}/{seed}/b"].shape == ()


def test_the_metadata_say_whose_weights_they_are(writer: RunWriter, tmp_path: Path) -> None:
    record(writer, 10)
    record(writer, 40)
    path = export(open_run(writer.path), "safetensors", tmp_path / "w.safetensors", step=10)
    with safe_open(path, "np") as file:
        metadata = file.metadata()
    assert (metadata["run"], metadata["step"]) == ("brisk-otter-7", "10")
    assert json.loads(metadata["seeds"]) == [5, 0, 3]
    assert json.loads(metadata["experiment"])["steps"] == 100


def test_a_step_without_weights_names_its_neighbours(writer: RunWriter, tmp_path: Path) -> None:
    record(writer, 10)
    record(writer, 40)
    with pytest.raises(InvalidData, match="10 and 40"):
        export(open_run(writer.path), "safetensors", tmp_path / "w.safetensors", step=20)
    assert list(tmp_path.glob("w*")) == []


def test_a_run_without_weights_says_so(writer: RunWriter, tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="stores no weights"):
        export(open_run(writer.path), "safetensors", tmp_path / "w.safetensors")
