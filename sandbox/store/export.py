"""Export of a run: tables (csv, parquet), its folder (zip), or a script that trains it again (python)."""

import csv
import io
import os
import pprint
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from sandbox.foundations.errors import InvalidData
from sandbox.store.checkpoint import checkpoint_files
from sandbox.store.folder import DATABASE, EXPERIMENT, write_whole
from sandbox.store.run_reader import Run
from sandbox.store.schema import named_faults
from sandbox.store.tables import Table, event_table, reading_tables, scalar_table

FORMATS = ("csv", "parquet", "zip", "python")

SCRIPT = '''"""Trains again what run {run_id} trained: the same data, batches, starting weights and arms."""

import sandbox

EXPERIMENT = {experiment}

if __name__ == "__main__":
    run = sandbox.train(sandbox.load(EXPERIMENT), out="{run_id}-again")
    for arm in run.arms:
        for seed in run.seeds:
            steps, accuracy = run.curve("test_accuracy", arm, seed)
            print(arm, seed, *(f"{{a:.4f}} at step {{s}}" for s, a in list(zip(steps, accuracy))[-1:]))
'''


def export(run: Run, to: str, out: Path | str | None = None) -> Path:
    """Write `run` in the format `to` and return the path written.

    csv and parquet write scalars, events and one table per reading's column into the folder
    `out`, or into one archive where `out` ends in .zip; where it ends in .csv or .parquet, the
    scalars alone into that file. zip writes the run's folder, which opens again anywhere.
    Nothing is thinned, and NaN stays NaN. Raises InvalidData for another format, StorageFull.
    """
    if to not in FORMATS:
        raise InvalidData(f"A run cannot be exported to {to[:40]!r}; choose one of {', '.join(FORMATS)}.")
    name = safe_name(run.id)
    if to == "zip":
        return _whole_file(Path(out or f"{name}.zip"), lambda part: _write_folder(run, name, part))
    if to == "python":
        path = Path(out or f"{name}.py")
        with named_faults(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, python_script(run).encode())
        return path
    return _export_tables(run, to, Path(out or f"{name}-{to}"))


def python_script(run: Run) -> str:
    """A script that trains the run's experiment again; it needs this package and nothing of the run."""
    plain = pprint.pformat(run.experiment, width=100, sort_dicts=False)
    return SCRIPT.format(run_id=safe_name(run.id), experiment=plain)


def csv_text(table: Table) -> str:
    """`table` as CSV with a header; numbers so that they read back exactly, NaN and Inf as nan and inf."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
    return text.getvalue()


def safe_name(text: str) -> str:
    """`text` with everything but letters, digits, dashes and underscores replaced, for a file's name."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")[:80] or "run"


def _tables(run: Run) -> Iterator[tuple[str, Table]]:
    yield "scalars", scalar_table(run)
    yield "events", event_table(run)
    for title, table in reading_tables(run):
        yield f"reading-{safe_name(title)}", table


def _export_tables(run: Run, to: str, out: Path) -> Path:
    write = _write_csv if to == "csv" else _write_parquet
    if out.suffix == f".{to}":
        return _whole_file(out, partial(write, scalar_table(run)))
    if out.suffix == ".zip":
        with tempfile.TemporaryDirectory() as folder:
            files = [
                _whole_file(Path(folder, f"{title}.{to}"), partial(write, table))
                for title, table in _tables(run)
            ]
            return _whole_file(out, lambda part: _archive(part, [(f.name, f) for f in files]))
    for title, table in _tables(run):
        _whole_file(out / f"{title}.{to}", partial(write, table))
    return out


def _write_csv(table: Table, path: Path) -> None:
    path.write_text(csv_text(table), encoding="utf-8", newline="")


def _write_parquet(table: Table, path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    text = ("arm", "name", "kind", "detail")
    columns = {
        name: pyarrow.array(column.tolist(), pyarrow.string()) if name in text else pyarrow.array(column)
        for name, column in table.items()
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def _write_folder(run: Run, name: str, path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        files = [(f"{name}/{EXPERIMENT}", run.path / EXPERIMENT)]
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


def _whole_file(path: Path, write: Callable[[Path], None]) -> Path:
    """Let `write` make a file beside `path`, then put it in its place, so that half a file never is."""
    with named_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        try:
            write(part)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    return path
