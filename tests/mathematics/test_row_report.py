"""Row report: the same numbers as row by row, in chunks, and errors that name the row."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics import row_report
from sandbox.mathematics.row_report import row_reports, sum_tolerance
from sandbox.mathematics.theta import theta_bracket


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_chunks_together_are_the_whole(dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_report, "CHUNK_WEIGHTS", 21)
    weights = np.random.default_rng(0).dirichlet(np.ones(6), size=(2, 5)).astype(dtype)
    found = list(row_reports(weights))
    assert [part.first for part in found] == [0, 3, 6, 9]
    whole = theta_bracket(weights.reshape(10, 6))
    assert np.array_equal(np.concatenate([part.lower for part in found]), whole.lower)
    assert np.concatenate([part.p_max for part in found]) == pytest.approx(
        weights.reshape(10, 6).max(axis=1), rel=2e-3
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [(-0.1, r"Row \(1, 2\) holds -0.1 at key 0"), (np.nan, "holds nan"), (0.4, "sums to 1.3, not to 1")],
)
def test_a_wrong_row_is_named(value: float, words: str) -> None:
    weights = np.full((2, 3, 10), 0.1)
    weights[1, 2, 0] = value
    with pytest.raises(InvalidData, match=words):
        list(row_reports(weights))


def test_rounding_to_the_files_type_is_no_error_and_a_tolerance_can_be_given() -> None:
    weights = np.random.default_rng(1).dirichlet(np.ones(512), size=50)
    for dtype in (np.float16, np.float32):
        assert len(list(row_reports(weights.astype(dtype)))) == 1
    assert sum_tolerance(np.dtype(np.float64), 64) == 1e-6
    assert next(row_reports(np.array([0.5, 0.6]), tolerance=0.2)).p_max == pytest.approx([0.6 / 1.1])


def test_words_and_single_numbers_are_no_rows() -> None:
    for array in (np.array("a"), np.array(1.0), np.zeros((3, 0))):
        with pytest.raises(InvalidData, match="holds no attention rows"):
            list(row_reports(array))


def test_a_mapped_file_is_never_held_whole(tmp_path: Path) -> None:
    rows = np.zeros((40_000, 256), dtype=np.float32)  # 41 MB; 82 MB in float64
    rows[:, :2] = (0.75, 0.25)
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    del rows
    tracemalloc.start()
    n_rows = sum(len(part.lower) for part in row_reports(mapped))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_rows == 40_000 and peak < 60e6
