"""Importing a run from a ZIP: bounded, checked to its end, and never in the place of another run."""

import io
import os
import re
import secrets
import shutil
import tempfile
import zipfile
import zlib
from pathlib import Path

from sandbox.foundations.errors import InvalidData
from sandbox.store.again import safe_name
from sandbox.store.check import check_folder
from sandbox.store.checkpoint import START
from sandbox.store.folder import DATABASE, EXPERIMENT, RUN_ID, runs_root
from sandbox.store.labels import LABELS
from sandbox.store.schema import named_faults

MOST_BYTES = 4_000_000_000
"""Of all files of one run, unpacked."""
MOST_ENTRIES = 10_000
INCOMING = ".incoming"
"""Folder below the runs folder where a run is unpacked; it is deeper than anything that lists runs looks."""
CHUNK = 1 << 20
_WANTED = re.compile(
    "|".join(map(re.escape, (EXPERIMENT, DATABASE, LABELS, START))) + r"|checkpoint-\d{12}\.safetensors"
)
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED_OR_PATCHED = 0x61
"""Flags of an entry that no export sets."""


def import_run(
    source: Path | str | io.BytesIO, name: str, root: Path | None = None, most_bytes: int = MOST_BYTES
) -> Path:
    """Unpack the run in the ZIP `source`, called `name` in sentences, into the runs folder; its new folder.

    Only the files that a run has are taken, under names of our own making, so that no path in the
    archive means anything. Where a run of that id exists, the new one gets another id. Raises
    InvalidData where the archive holds no run, too much or something damaged; then nothing is left.
    """
    root = root or runs_root()
    with named_faults(root):
        (root / INCOMING).mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=root / INCOMING))
        folder.chmod(0o755)
    try:
        run_id = _unpack_all(source, name, folder, most_bytes)
        _require_sound(folder, name)
        return _put(folder, root, run_id)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _remove_empty(root / INCOMING)


def _unpack_all(source: Path | str | io.BytesIO, name: str, folder: Path, most_bytes: int) -> str:
    """Unpack the run's files into `folder`; the id that the run had."""
    if not isinstance(source, io.BytesIO) and Path(source).exists() and not Path(source).is_file():
        raise InvalidData(f"{name} is no file; give a ZIP that `export` wrote.")  # a pipe would wait
    try:
        with zipfile.ZipFile(source) as archive:
            run_id, entries = _entries(archive, name, most_bytes)
            for entry in entries:
                _unpack(archive, entry, folder)
            return run_id
    except FileNotFoundError as missing:
        raise InvalidData(f"There is no file {name}; give a ZIP that `export` wrote.") from missing
    # A version that nobody knows is not implemented, and a name that is no UTF-8 a ValueError.
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as fault:
        raise InvalidData(
            f"{name} is no ZIP archive or is damaged ({str(fault)[:120]}); export the run again."
        ) from fault


def _entries(archive: zipfile.ZipFile, name: str, most_bytes: int) -> tuple[str, list[zipfile.ZipInfo]]:
    """The id that the run had, and the entries of its files."""
    found = archive.infolist()
    if len(found) > MOST_ENTRIES:
        raise InvalidData(f"{name} has {len(found)} entries, a run at most {MOST_ENTRIES}; export one run.")
    places = [entry.filename.rpartition("/") for entry in found]
    homes = {home for home, _, file in places if file == EXPERIMENT}
    if len(homes) != 1:
        what = "no run" if not homes else f"{len(homes)} runs"
        raise InvalidData(f"{name} holds {what}; give the ZIP of one run, as `export --to zip` writes it.")
    (home,) = homes
    entries = [
        entry
        for entry, (folder, _, file) in zip(found, places, strict=True)
        if folder == home and _WANTED.fullmatch(file)
    ]
    if not all(0 <= entry.header_offset < archive.start_dir for entry in entries):
        raise zipfile.BadZipFile("a file begins outside of it")  # which may be no place that can be sought
    if any(e.compress_type not in _PACKED or e.flag_bits & _ENCRYPTED_OR_PATCHED for e in entries):
        raise InvalidData(
            f"{name} is encrypted, or packed as no export is; give the ZIP that `export` wrote."
        )
    files = [entry.filename for entry in entries]
    if len(set(files)) < len(files):
        raise InvalidData(f"{name} holds a file twice; export the run again.")
    size = sum(entry.file_size for entry in entries)
    if size > most_bytes:
        raise InvalidData(
            f"{name} unpacks to {size / 1e6:.0f} MB and may have {most_bytes / 1e6:.0f}; import it "
            "where there is more room, or export its tables."
        )
    given = home.rpartition("/")[2] or Path(name).stem
    return next(filter(RUN_ID.fullmatch, (given, safe_name(given).lstrip("_")[:64])), "run"), entries


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> None:
    left = entry.file_size
    path = folder / entry.filename.rpartition("/")[2]
    with archive.open(entry) as packed, named_faults(path), open(path, "xb") as file:
        while part := packed.read(min(CHUNK, left + 1)):
            left -= len(part)
            if left < 0:
                raise zipfile.BadZipFile(f"{entry.filename[:80]} is longer than it says")
            file.write(part)


def _require_sound(folder: Path, name: str) -> None:
    damage = check_folder(folder).damage
    if damage:
        file, fault = damage[0]
        more = f" and {len(damage) - 1} faults more" if len(damage) > 1 else ""
        words = fault.replace(f"{folder}/", "").rstrip(".")
        raise InvalidData(f"The run in {name} is damaged: {file}: {words}{more}.")


def _put(folder: Path, root: Path, run_id: str) -> Path:
    """Move the unpacked run to its place; another id where that one is taken."""
    target = root / run_id
    while True:
        try:
            target.mkdir()  # whoever makes it owns it: two imports at once get two places
        except FileExistsError:
            target = root / f"{run_id[:57]}-{secrets.token_hex(3)}"
            continue
        with named_faults(target):
            os.replace(folder, target)
        return target


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # somebody else is importing
