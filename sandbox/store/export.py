"""Export of a run: its tables, its folder, its settings, its weights, or files for TensorBoard."""

import csv
import io
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sandbox.foundations.errors import InvalidData
from sandbox.store.again import python_script, safe_name, toml_text
from sandbox.store.checkpoint import START, checkpoint_files
from sandbox.store.folder import DATABASE, EXPERIMENT
from sandbox.store.labels import LABELS
from sandbox.store.run_reader import Run
from sandbox.store.schema import named_faults
from sandbox.store.tables import Table, event_table, reading_tables, scalar_table
from sandbox.store.tensorboard import write_events
from sandbox.store.weights_file import write_weights
from sandbox.store.whole_file import put_whole

TEXT = ("arm", "name", "kind", "detail", "unit")
"""Columns of text; all others are numbers."""

FORMATS = ("csv", "parquet", "zip", "toml", "python", "safetensors", "tensorboard")


def export(run: Run, to: str, out: Path | str | None = None, step: int | None = None) -> Path:
    """Write `run` in the format `to` and return the path written.

    csv and parquet write scalars, events and one table per reading's column into the folder
    `out`, or into one archive where `out` ends in .zip; where it ends in .csv or .parquet, the
    scalars alone into that file. zip writes the run's folder, which opens again anywhere; toml and
    python what trains it again; safetensors the weights at `step` (default: the last stored);
    tensorboard one folder of event files per arm and seed. Nothing is thinned, and NaN stays NaN.
    Links are followed. Raises InvalidData for another format and where `out` is a device or another thing
    that no file replaces, StorageFull.
    """
    if to not in FORMATS:
        raise InvalidData(f"A run cannot be exported to {to[:40]!r}; choose one of {', '.join(FORMATS)}.")
    name = safe_name(run.id)
    if to == "zip":
        return put_whole(Path(out or f"{name}.zip"), lambda part: _write_folder(run, name, part))
    if to in ("toml", "python"):
        path = Path(out or (f"{name}.toml" if to == "toml" else f"{name}.py"))
        return write_file(path, (toml_text(run) if to == "toml" else python_script(run)).encode())
    if to == "safetensors":
        path = Path(out or f"{name}.safetensors")
        return put_whole(path, lambda part: write_weights(run, part, step))
    if to == "tensorboard":
        folder = Path(out or f"{name}-tensorboard")
        with named_faults(folder):
            write_events(run, folder)
        return folder
    return _export_tables(run, to, Path(out or f"{name}-{to}"))


def write_file(path: Path, content: bytes) -> Path:
    """Write `content` whole to `path`, whose folder is made; returns `path`.

    Raises InvalidData for what is no file, StorageFull.
    """
    return put_whole(path, lambda part: part.write_bytes(content))


def csv_text(table: Table) -> str:
    """`table` as CSV with a header; numbers so that they read back exactly, NaN and Inf as nan and inf."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
    return text.getvalue()


def _tables(run: Run) -> Iterator[tuple[str, Table]]:
    yield "scalars", scalar_table(run)
    yield "events", event_table(run)
    for title, table in reading_tables(run):
        yield f"reading-{safe_name(title)}", table


def _export_tables(run: Run, to: str, out: Path) -> Path:
    write = _write_csv if to == "csv" else _write_parquet
    if out.suffix == f".{to}":
        return put_whole(out, partial(write, scalar_table(run)))
    if out.suffix == ".zip":
        with tempfile.TemporaryDirectory() as folder:
            files = [
                put_whole(Path(folder, f"{title}.{to}"), partial(write, table))
                for title, table in _tables(run)
            ]
            return put_whole(out, lambda part: _archive(part, [(f.name, f) for f in files]))
    for title, table in _tables(run):
        put_whole(out / f"{title}.{to}", partial(write, table))
    return out


def _write_csv(table: Table, path: Path) -> None:
    path.write_text(csv_text(table), encoding="utf-8", newline="")


def _write_parquet(table: Table, path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    columns = {name: _parquet_column(name, column) for name, column in table.items()}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def _parquet_column(name: str, column: np.ndarray) -> Any:
    """Text, whole numbers or reals as every reader of Parquet has them; an event of every seed has a null."""
    import pyarrow

    if name in TEXT:
        return pyarrow.array(column.tolist(), pyarrow.string())
    if column.dtype == object and name != "seed":
        return pyarrow.array(column.tolist(), pyarrow.string())
    if column.dtype == object:
        return pyarrow.array([int(seed) if seed != "" else None for seed in column], pyarrow.int64())
    return pyarrow.array(column)


def _write_folder(run: Run, name: str, path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        written = (file for file in (EXPERIMENT, LABELS, START) if (run.path / file).is_file())
        files = [(f"{name}/{file}", run.path / file) for file in written]
        # Checkpoints before rows: a copy whose rows lag behind its checkpoint would resume with a gap.
        for _, checkpoint in checkpoint_files(run.path):
            copy = Path(folder, checkpoint.name)
            try:
                shutil.copyfile(checkpoint, copy)
            except FileNotFoundError:
                continue  # the writer has replaced it since
            files.append((f"{name}/{checkpoint.name}", copy))
        run.copy_database(Path(folder, DATABASE))
        _archive(path, [*files, (f"{name}/{DATABASE}", Path(folder, DATABASE))])


def _archive(path: Path, files: list[tuple[str, Path]]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, file in files:
            archive.write(file, name)
