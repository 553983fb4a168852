"""Checkpoints: the state to resume from, whole or not there; the last two are kept, and a few more."""

import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from sandbox.foundations.errors import RunUnavailable
from sandbox.store.folder import read_file, write_whole
from sandbox.store.schema import named_faults

KEPT = 2
"""Youngest checkpoints, of which one may be damaged."""

MOST_EARLIER, MOST_EARLIER_BYTES = 8, 64 * 2**20
"""Earlier checkpoints of one run that are kept to rewind to, spread over its steps, beside the youngest."""

START = "start.safetensors"
"""What a run begins from that goes on from a step of another run."""

_NAME = re.compile(r"checkpoint-(\d{12})\.safetensors")


def save_checkpoint(folder: Path, step: int, arrays: Mapping[str, np.ndarray]) -> Path:
    """Store `arrays` (any shapes) as the state after `step`, then drop what is no longer needed.

    Files of later steps are dropped too: after a return to this step they are of another past.
    Raises StorageFull; the older checkpoints are then untouched.
    """
    path = folder / f"checkpoint-{step:012d}.safetensors"
    _write(path, step, arrays)
    at = checkpoint_files(folder)
    past = [(s, file) for s, file in at if s <= step]
    kept = {s for s, _ in past[-KEPT:]} | set(spread({s: _size(file) for s, file in past[:-KEPT]}, step))
    for old_step, old in at:
        if old_step not in kept:
            old.unlink(missing_ok=True)
    return path


def spread(sizes: Mapping[int, int], end: int) -> list[int]:
    """Which of the steps in `sizes` (bytes by step) to keep to rewind to, ascending.

    While there are more than MOST_EARLIER, or more bytes than MOST_EARLIER_BYTES, the one goes without
    which the longest way to replay grows least; step 0 is always to be had.
    """
    kept = sorted(sizes)
    while len(kept) > MOST_EARLIER or sum(sizes[step] for step in kept) > MOST_EARLIER_BYTES:
        ends = [0, *kept, end]
        kept.pop(min(range(len(kept)), key=lambda i: (ends[i + 2] - ends[i], i)))
    return kept


def save_start(folder: Path, step: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Store what the run in `folder` begins from: the state after `step` of the run that it continues."""
    _write(folder / START, step, arrays)


def read_start(folder: Path) -> tuple[int, dict[str, np.ndarray]] | None:
    """Step and arrays that the run in `folder` begins from; None where it begins at step 0.

    Raises RunUnavailable where the file is damaged.
    """
    path = folder / START
    if not path.exists():
        return None
    arrays = read_checkpoint(path)
    with named_faults(path):
        size = int.from_bytes(read_file(path, 8), "little")
        header = json.loads(read_file(path, 8 + size)[8:])
    return int(header["__metadata__"]["step"]), arrays


def checkpoint_files(folder: Path) -> list[tuple[int, Path]]:
    """(step, file) of every checkpoint in `folder`, oldest first."""
    found = [(match, file) for file in folder.iterdir() if (match := _NAME.fullmatch(file.name))]
    return sorted((int(match[1]), file) for match, file in found)


def latest_checkpoint(folder: Path) -> tuple[int, dict[str, np.ndarray]] | None:
    """Step and arrays of the youngest checkpoint that is sound; None where there is none."""
    for step, path in reversed(checkpoint_files(folder)):
        try:
            return step, read_checkpoint(path)
        except RunUnavailable:
            continue  # cut short or altered: the one before it is why two are kept
    return None


def read_checkpoint(path: Path) -> dict[str, np.ndarray]:
    """The arrays stored in `path`; RunUnavailable, naming it, where they are not what was written."""
    with named_faults(path):
        content = read_file(path)
    try:
        arrays = load(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        intact = int(header["__metadata__"]["crc32"]) == _checksum(arrays)
    except (SafetensorError, ValueError, KeyError, TypeError) as fault:
        raise RunUnavailable(f"{path} is damaged ({fault}); resume from the one before it.") from fault
    if not intact:
        raise RunUnavailable(f"{path} is damaged (its checksum differs); resume from the one before it.")
    return arrays


def _write(path: Path, step: int, arrays: Mapping[str, np.ndarray]) -> None:
    whole = {name: np.asarray(array, order="C") for name, array in arrays.items()}  # 0-d stays 0-d
    write_whole(path, save(whole, metadata={"step": str(step), "crc32": str(_checksum(whole))}))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _checksum(arrays: Mapping[str, np.ndarray]) -> int:
    total = 0
    for name in sorted(arrays):
        total = zlib.crc32(name.encode(), total)
        total = zlib.crc32(np.ascontiguousarray(arrays[name]).tobytes(), total)
    return total
