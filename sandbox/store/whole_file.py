"""Exports of one file: where it goes, and that it appears there whole or not at all."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from sandbox.foundations.errors import InvalidData
from sandbox.store.schema import named_faults

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def destination(path: Path) -> Path:
    """The file that a file written to `path` replaces: where links lead.

    Raises InvalidData for what is there and no regular file: it would be lost to one.
    """
    with named_faults(path):
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            mode = stat.S_IFREG
        if not stat.S_ISREG(mode):
            kind = KINDS.get(stat.S_IFMT(mode), "no file")
            raise InvalidData(f"{path} is {kind}, which no export replaces; give the path of a file.")
        return path.resolve()


def put_whole(path: Path, write: Callable[[Path], object]) -> Path:
    """Let `write` fill a file beside `path`'s destination, then put it in its place; returns `path`.

    Its permissions are those of any new file, whatever `write` makes of them. Raises InvalidData,
    RunUnavailable, StorageFull.
    """
    target = destination(path)
    with named_faults(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        try:
            part.unlink(missing_ok=True)  # one left by a crash, or a link that would be followed
            part.touch(exist_ok=False)
            mode = stat.S_IMODE(part.stat().st_mode)
            write(part)
            part.chmod(mode)  # safetensors lets nobody else read
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    return path
