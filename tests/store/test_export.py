"""An export is complete, keeps NaN, and opens again elsewhere."""

import ast
import csv
import math
import sys
import tomllib
import types
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow.parquet
import pytest

from sandbox.foundations.errors import InvalidData
from sandbox.foundations.readings import AttentionMap, PerHead
from sandbox.store import Run, RunWriter, StorageFull, open_run
from sandbox.store.again import python_script, safe_name
from sandbox.store.export import export

STANDARD, SPECTRAL = "standard", "spectral:shift=0.5"
SCALARS = {(STANDARD, "loss"): 100, (SPECTRAL, "loss"): 100, (SPECTRAL, "test_accuracy"): 3}


@pytest.fixture
def run(writer: RunWriter) -> Run:
    rng = np.random.default_rng(0)
    for (arm, name), n in SCALARS.items():
        values = rng.normal(size=(n, 3))
        values[-1] = (np.nan, np.inf, -np.inf)
        writer.scalars(arm, name, np.arange(n) * 7, values)
    for step in (0, 50):
        entropy = np.arange(3 * 2 * 5, dtype=np.float64).reshape(3, 2, 5) + step
        writer.reading(step, SPECTRAL, "attention entropy", PerHead(columns={"mean": entropy}, unit="nats"))
    weights = np.full((3, 1, 1, 2, 2), 0.5, dtype=np.float32)
    labels = ("a", "b")
    attention = AttentionMap(
        weights=weights, key_labels=labels, query_labels=labels, mask=np.ones((2, 2), dtype=bool)
    )
    writer.reading(50, STANDARD, "attention map", attention)
    writer.event(50, "mark", 'a "quoted", detail')
    writer.event(60, "nan", arm=SPECTRAL, seed=0)
    writer.checkpoint(50, {"theta": np.ones(3)})
    writer.commit()
    return open_run(writer.path)


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def check_scalars(run: Run, table: list[dict[str, Any]]) -> None:
    assert len(table) == 3 * sum(SCALARS.values())
    found = {(r["arm"], r["name"], int(r["seed"]), int(r["step"])): float(r["value"]) for r in table}
    for arm, name in SCALARS:
        for seed in run.seeds:
            steps, values = run.curve(name, arm, seed)
            back = [found[arm, name, seed, int(step)] for step in steps]
            np.testing.assert_array_equal(back, values)


def test_csv_is_complete_to_the_last_bit_and_keeps_nan(run: Run, tmp_path: Path) -> None:
    out = export(run, "csv", tmp_path / "tables")
    assert sorted(f.name for f in out.iterdir()) == [
        "events.csv",
        "reading-attention-entropy-mean.csv",
        "reading-attention-map-weights.csv",
        "scalars.csv",
    ]
    table = rows(out / "scalars.csv")
    assert list(table[0]) == ["arm", "seed", "step", "name", "value"]
    check_scalars(run, table)
    assert {r["value"] for r in table if not math.isfinite(float(r["value"]))} == {"nan", "inf", "-inf"}
    entropy = rows(out / "reading-attention-entropy-mean.csv")
    assert list(entropy[0]) == ["arm", "seed", "step", "layer", "head", "value", "unit"]
    assert {row["unit"] for row in entropy} == {"nats"}
    assert len(entropy) == 2 * 3 * 2 * 5
    for row in entropy:
        place = (run.seeds.index(int(row["seed"])), int(row["layer"]), int(row["head"]))
        assert float(row["value"]) == np.ravel_multi_index(place, (3, 2, 5)) + int(row["step"])
    assert list(rows(out / "reading-attention-map-weights.csv")[0])[3:] == [
        "layer",
        "head",
        "query",
        "key",
        "value",
    ]
    assert rows(out / "events.csv") == [
        {"step": "50", "arm": "", "seed": "", "kind": "mark", "detail": 'a "quoted", detail'},
        {"step": "60", "arm": SPECTRAL, "seed": "0", "kind": "nan", "detail": ""},
    ]


def test_tables_come_as_one_file_or_one_archive_too(run: Run, tmp_path: Path) -> None:
    check_scalars(run, rows(export(run, "csv", tmp_path / "deep" / "curves.csv")))
    archive = export(run, "csv", tmp_path / "tables.zip")
    assert sorted(zipfile.ZipFile(archive).namelist())[0] == "events.csv"
    assert len(zipfile.ZipFile(archive).namelist()) == 4


def test_parquet_holds_the_same_numbers(run: Run, tmp_path: Path) -> None:
    out = export(run, "parquet", tmp_path / "tables")
    check_scalars(run, pandas.read_parquet(out / "scalars.parquet").to_dict("records"))
    weights = pandas.read_parquet(out / "reading-attention-map-weights.parquet")
    assert weights["value"].dtype == np.float32
    assert list(weights["key"][:4]) == [0, 1, 0, 1]


def test_pandas_holds_the_same_numbers(run: Run) -> None:
    frame = run.to_pandas()
    assert list(frame.columns) == ["arm", "seed", "step", "name", "value"]
    check_scalars(run, frame.to_dict("records"))


def test_a_run_without_rows_exports_empty_tables(writer: RunWriter, tmp_path: Path) -> None:
    run = open_run(writer.path)
    for to in ("csv", "parquet"):
        out = export(run, to, tmp_path / to)
        assert sorted(f.stem for f in out.iterdir()) == ["events", "scalars"]
    assert (tmp_path / "csv" / "scalars.csv").read_text() == "arm,seed,step,name,value\n"


def test_the_zipped_folder_opens_elsewhere_and_resumes_while_the_original_is_written(
    run: Run, writer: RunWriter, plain: dict[str, Any], tmp_path: Path
) -> None:
    writer.scalars(STANDARD, "loss", [10_000], np.ones((1, 3)))
    archive = export(run, "zip", tmp_path / "copy.zip")
    names = zipfile.ZipFile(archive).namelist()
    assert sorted(Path(name).name for name in names) == [
        "checkpoint-000000000050.safetensors",
        "experiment.json",
        "run.sqlite",
    ]
    zipfile.ZipFile(archive).extractall(tmp_path / "elsewhere")
    copy = open_run(tmp_path / "elsewhere" / run.id)
    for arm, name in SCALARS:
        np.testing.assert_array_equal(copy.group_curve(name, arm)[1], run.group_curve(name, arm)[1])
    assert copy.events() == run.events()
    with RunWriter.resume(copy.path, plain) as resumed:
        found = resumed.latest_checkpoint()
        assert found is not None
        assert found[0] == 50
    writer.commit()
    assert len(run.group_curve("loss", STANDARD)[0]) == 101
    assert [f.name for f in tmp_path.iterdir() if f.suffix == ".part" or f.name.startswith("tmp")] == []


def test_the_script_trains_the_stored_experiment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    stand_in = types.ModuleType("sandbox")
    stand_in.load = lambda plain: plain  # type: ignore[attr-defined]

    def train(experiment: Any, out: str, device: str) -> Run:
        asked.append((experiment, out, device))
        return run

    stand_in.train = train  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sandbox", stand_in)
    script = python_script(run)
    ast.parse(script)
    exec(compile(script, "again.py", "exec"), {"__name__": "__main__"})
    assert asked == [(run.experiment, "brisk-otter-7-again", "cpu")]


def test_names_in_a_script_are_data_not_code(writer: RunWriter) -> None:
    run = open_run(writer.path)
    run.id = '"""; import os; """{0}'
    run.experiment = {"arms": [{"name": "'''\"\"\"{x}\\"}], "seeds": [0]}
    tree = ast.parse(python_script(run))
    assigned = next(node for node in tree.body if isinstance(node, ast.Assign))
    assert ast.literal_eval(assigned.value) == run.experiment
    assert [type(node) for node in tree.body] == [ast.Expr, ast.Import, ast.Assign, ast.If]


def test_an_unknown_format_is_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="'pickle'; choose one of csv, parquet, zip, toml, python"):
        export(run, "pickle", tmp_path / "a")
    assert list(tmp_path.glob("a*")) == []


def test_an_export_that_fails_leaves_the_earlier_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = export(run, "csv", tmp_path / "a.csv")
    before = out.read_bytes()

    def full(path: Path, text: str, **_: Any) -> None:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(StorageFull, match=r"a\.csv cannot grow"):
        export(run, "csv", out)
    assert out.read_bytes() == before
    assert not (tmp_path / "a.csv.part").exists()


@pytest.mark.parametrize(
    ("text", "name"), [("brisk-otter-7", "brisk-otter-7"), ("../a b", "a-b"), ("..", "run")]
)
def test_file_names_hold_nothing_that_means_something_to_a_path(text: str, name: str) -> None:
    assert safe_name(text) == name


def test_the_toml_reads_back_as_the_experiment(run: Run, tmp_path: Path) -> None:
    path = export(run, "toml", tmp_path / "deep" / "run.toml")
    assert tomllib.loads(path.read_text()) == run.experiment
    assert path.read_text().startswith("# The settings of run brisk-otter-7")


@pytest.mark.parametrize("to", ["toml", "python"])
def test_a_knob_that_was_turned_during_the_run_is_said(
    run: Run, writer: RunWriter, tmp_path: Path, to: str
) -> None:
    assert "changed" not in export(run, to, tmp_path / "before").read_text()
    writer.event(42, "live change", "projection.shift from 0.5 to 1", SPECTRAL)
    writer.commit()
    text = export(run, to, tmp_path / "after").read_text()
    assert "(at step 42)" in text
    assert tomllib.loads(text) if to == "toml" else ast.parse(text)


def test_parquet_types_are_those_that_every_reader_knows(run: Run, tmp_path: Path) -> None:
    out = export(run, "parquet", tmp_path / "tables")
    found = {path.stem: pyarrow.parquet.read_schema(path) for path in out.iterdir()}
    assert {str(kind) for schema in found.values() for kind in schema.types} <= {
        "string", "int64", "int32", "double", "float",
    }  # fmt: skip
    events = pandas.read_parquet(out / "events.parquet", dtype_backend="pyarrow")
    assert events["seed"].isna().tolist() == [True, False]
    assert events["seed"][1] == 0
