"""`theta` and `condition` on files of every float type, any leading axes, and sizes that need progress."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from sandbox.cli import main
from sandbox.mathematics.condition import condition_number
from tests.cli.test_commands import CapSys, refused, saved

FLOATS = pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
RANDOM = np.random.default_rng(11)


def attention(*shape: int) -> np.ndarray:
    weights = np.exp(2 * RANDOM.normal(size=shape))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def answer(capsys: CapSys, *argv: str) -> dict:
    assert main([*argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@FLOATS
@pytest.mark.parametrize("shape", [(6,), (4, 6), (2, 3, 6), (2, 1, 3, 2, 6)])
def test_theta_takes_every_float_type_and_any_leading_axes(
    tmp_path: Path, capsys: CapSys, dtype: type, shape: tuple[int, ...]
) -> None:
    found = answer(capsys, "theta", saved(tmp_path, attention(*shape).astype(dtype)))
    assert len(found["rows"]) == found["sample_size"] == np.prod(shape[:-1], dtype=int)
    assert found["share_exact"] == 1.0 and np.dtype(dtype).name in found["precision"]
    assert all(0 <= row["lower"] <= row["upper"] <= 1 for row in found["rows"])
    last = {1: "0", 2: "3", 3: "(1, 2)", 5: "(1, 0, 2, 1)"}[len(shape)]
    assert found["rows"][-1]["row"] == last


@FLOATS
def test_rows_rounded_to_half_precision_pass_and_rows_that_do_not_sum_to_one_are_named(
    tmp_path: Path, capsys: CapSys, dtype: type
) -> None:
    weights = attention(3, 4, 2048).astype(dtype)
    assert main(["theta", saved(tmp_path, weights)]) == 0
    capsys.readouterr()
    weights[2, 1] *= 1.01
    assert "Row (2, 1) sums to 1.0" in refused(capsys, "theta", saved(tmp_path, weights))


@pytest.mark.parametrize(("value", "words"), [(-0.25, "holds -0.25"), (np.nan, "holds nan"), (np.inf, "inf")])
def test_negative_and_missing_weights_are_named_by_row_and_key_in_npy_and_csv(
    tmp_path: Path, capsys: CapSys, value: float, words: str
) -> None:
    weights = attention(3, 5)
    weights[2, 4] = value
    np.savetxt(tmp_path / "rows.csv", weights, delimiter=",")
    for path in (saved(tmp_path, weights), str(tmp_path / "rows.csv")):
        said = refused(capsys, "theta", path)
        assert said.startswith("Row 2 ") and words in said and "at key 4" in said


@pytest.mark.slow
def test_ten_thousand_rows_of_2048_keys_are_read_within_memory_and_with_progress(
    tmp_path: Path, capsys: CapSys
) -> None:
    rows = np.lib.format.open_memmap(tmp_path / "big.npy", "w+", np.float32, (10_000, 2048))
    rows[:, :3] = (0.625, 0.25, 0.125)
    rows.flush()
    tracemalloc.start()
    assert main(["theta", str(tmp_path / "big.npy")]) == 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    out, err = capsys.readouterr()
    assert peak < 100e6  # the file is 82 MB, twice that in float64
    assert "\rrow 256 of 10000" in err and err.endswith("row 10000 of 10000\n")
    assert "exact" in out and "100.0% of 10000 rows" in out


def test_a_wrong_row_far_down_ends_the_line_of_progress_before_its_sentence(
    tmp_path: Path, capsys: CapSys
) -> None:
    weights = attention(6000, 256).astype(np.float32)
    weights[5999, 7] = -1.0
    assert main(["theta", saved(tmp_path, weights)]) == 2
    err = capsys.readouterr().err
    assert err.splitlines()[-1].startswith("Row 5999 holds -1.0 at key 7")


def test_brackets_that_stay_open_are_printed_outward(tmp_path: Path, capsys: CapSys) -> None:
    path = saved(tmp_path, attention(1, 64))
    (row,) = answer(capsys, "theta", path)["rows"]
    assert not row["exact"] and row["lower"] < 1
    assert main(["theta", path]) == 0
    line = capsys.readouterr().out.splitlines()[1].split()
    assert float(line[1]) <= row["lower"] and float(line[2]) >= row["upper"]


def test_every_kind_of_certificate_is_a_column_beside_the_bracket(tmp_path: Path, capsys: CapSys) -> None:
    path = saved(tmp_path, np.array([[0.3, 0.25, 0.2, 0.15, 0.1]]))
    (row,) = answer(capsys, "theta", path, "--certificates")["rows"]
    assert row["sorted_prefix"] == pytest.approx(0.99) and row["karmarkar_karp"] == pytest.approx(1.0)
    assert {"dominant_atom", "one_minus_square", "longest_first", "fill_below_half"} <= set(row)
    assert main(["theta", path, "--certificates"]) == 0
    assert "longest_first" in capsys.readouterr().out.splitlines()[0]


@FLOATS
@pytest.mark.parametrize("shape", [(4, 3), (5, 4, 3), (2, 3, 4, 3)])
def test_condition_takes_every_float_type_and_any_leading_axes(
    tmp_path: Path, capsys: CapSys, dtype: type, shape: tuple[int, ...]
) -> None:
    stack = RANDOM.normal(size=shape).astype(dtype)
    found = answer(capsys, "condition", saved(tmp_path, stack))
    matrices = [found] if len(shape) == 2 else found["matrices"]
    np.testing.assert_allclose([m["kappa"] for m in matrices], condition_number(stack).ravel(), rtol=1e-12)
    assert found["tolerance"] == 4 * np.finfo(np.float64).eps and np.dtype(dtype).name in found["precision"]
    assert found["sample_size"] == len(matrices)
    if len(shape) == 4:
        assert [m["matrix"] for m in matrices][-2:] == ["(1, 1)", "(1, 2)"]


def test_condition_reads_csv_and_a_chosen_tolerance_decides_what_counts_as_zero(
    tmp_path: Path, capsys: CapSys
) -> None:
    (tmp_path / "matrix.csv").write_text("3,0\n0,1\n0,0\n")
    found = answer(capsys, "condition", str(tmp_path / "matrix.csv"))
    assert (found["kappa"], found["rank"]) == (3.0, 2)
    found = answer(capsys, "condition", str(tmp_path / "matrix.csv"), "--tolerance", "0.5")
    assert (found["kappa"], found["kappa_nonzero"], found["rank"]) == ("inf", 1.0, 1)
    assert "must lie in" in refused(capsys, "condition", str(tmp_path / "matrix.csv"), "--tolerance", "1.5")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"q,k\n1,2\n", "line 1, column 1 holds 'q', and every cell is to be a number"),
        (b"1,2\n\n# a remark\n3,x y\n", "line 4, column 2 holds 'x y'"),
        (b"1,2\n3,\n", "line 2, column 2 holds ''"),
        (b"1,2\n3,4,5\n", "line 2 has 3 cells where the lines before it have 2"),
        (b"\xff\xfe1\x002\x00", "it is not a text in UTF-8"),
    ],
)
def test_what_is_no_number_in_a_csv_is_named_with_its_line_and_column(
    tmp_path: Path, capsys: CapSys, text: bytes, words: str
) -> None:
    (tmp_path / "matrix.csv").write_bytes(text)
    assert f"matrix.csv cannot be read as numbers: {words}" in refused(
        capsys, "condition", str(tmp_path / "matrix.csv")
    )


def test_condition_names_the_matrix_and_the_entry_that_is_no_number(tmp_path: Path, capsys: CapSys) -> None:
    stack = RANDOM.normal(size=(2, 3, 4, 3))
    stack[1, 2, 3, 0] = np.nan
    said = refused(capsys, "condition", saved(tmp_path, stack))
    assert said.startswith("The entry (3, 0) of matrix (1, 2) is nan")


def test_a_long_stack_is_measured_in_parts_with_progress(
    tmp_path: Path, capsys: CapSys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.cli.condition_command.CHUNK_NUMBERS", 4000)
    stack = RANDOM.normal(size=(2500, 2, 2))
    assert main(["condition", saved(tmp_path, stack), "--json"]) == 0
    out, err = capsys.readouterr()
    assert "\rmatrix 1000 of 2500" in err and err.endswith("matrix 2500 of 2500\n")
    found = [m["kappa"] for m in json.loads(out)["matrices"]]
    np.testing.assert_array_equal(found, condition_number(stack))
