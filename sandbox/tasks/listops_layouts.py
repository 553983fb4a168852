"""The layouts in which ListOps files come: which part of a line is the expression and which the label."""

import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from itertools import chain, islice
from typing import NamedTuple

from sandbox.foundations.errors import InvalidData

LONG_RANGE_ARENA = "source, target"  # Tay et al. 2021: header, CRLF, sources in binary bracketing
ORIGINAL = "label, sequence"  # Nangia & Bowman 2018: no header, LF

LONGEST_LINE = 1 << 22  # bytes; the arena's longest rows have about 15,000
LINES_TO_DECIDE = 100  # how far the layout is looked for; lone digits on both sides decide nothing
_GZIP_MAGIC = b"\x1f\x8b"
_TAR_HEADER = 512  # bytes; holds the word ustar
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_HEADERS = {b"source\ttarget": LONG_RANGE_ARENA, b"target\tsource": ORIGINAL}

Source = str | os.PathLike[str] | BufferedIOBase


class Entry(NamedTuple):
    """One row of a file; `fault` says why its two fields could not be told apart."""

    line: int
    expression: bytes
    label: bytes
    fault: str | None = None


def name_of(source: Source) -> str:
    """The file's name for messages, without its folder."""
    known = source if isinstance(source, str | os.PathLike) else getattr(source, "name", None)
    return os.path.basename(os.fspath(known)) if isinstance(known, str | os.PathLike) else "the upload"


def read_entries(source: Source) -> tuple[str, Iterator[Entry]]:
    """The layout, found by content, and the rows one at a time, so that size does not matter.

    Accepts CRLF and LF, gzip, a byte order mark, a header or none, and blank lines. Raises InvalidData for
    what cannot be read at all: no such file, an archive, damaged compression, other encodings, no tabs.
    """
    lines = _numbered_lines(source)
    first = list(islice(lines, LINES_TO_DECIDE))
    if not first:
        raise InvalidData(f"The file {name_of(source)} is empty; ListOps files hold one row per line.")
    header = _HEADERS.get(b"\t".join(field.strip().lower() for field in first[0][1].split(b"\t")))
    if header:
        return header, _entries(chain(first[1:], lines), header)
    layout = next(filter(None, (_layout_of(line) for _, line in first)), None)
    if layout is None and not any(b"\t" in line for _, line in first):
        raise InvalidData(
            f"The file {name_of(source)} has no tab on line {first[0][0]}; ListOps rows are "
            "'source TAB target' or 'label TAB sequence'."
        )
    return layout or ORIGINAL, _entries(chain(first, lines), layout or ORIGINAL)


def _layout_of(line: bytes) -> str | None:
    left, tab, right = line.partition(b"\t")
    if not tab:
        return None
    if left.strip().isdigit() and not right.strip().isdigit():
        return ORIGINAL
    if right.strip().isdigit() and not left.strip().isdigit():
        return LONG_RANGE_ARENA
    return None


def _entries(lines: Iterator[tuple[int, bytes]], layout: str) -> Iterator[Entry]:
    for number, line in lines:
        fields = line.split(b"\t")
        if len(fields) != 2:
            yield Entry(
                number, b"", b"", f"a row has 2 fields with a tab between, this one has {len(fields)}"
            )
        elif layout == ORIGINAL:
            yield Entry(number, fields[1], fields[0])
        else:
            yield Entry(number, fields[0], fields[1])


def _numbered_lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Lines from 1 without their ends; blank ones are counted but not given."""
    number, name = 0, name_of(source)
    try:
        with _opened(source) as stream:
            for number, line in enumerate(_raw_lines(stream, name), start=1):
                if number == 1:
                    line = _without_mark(line, name)
                if len(line) >= LONGEST_LINE:
                    raise InvalidData(
                        f"Line {number} of {name} has more than {LONGEST_LINE} bytes; give a ListOps file."
                    )
                if line.strip():
                    yield number, line.rstrip(b"\r\n")
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InvalidData(
            f"The compressed file {name} is damaged after line {number}; download or copy it again."
        ) from None
    except OSError as error:
        raise InvalidData(
            f"The file {name} cannot be read: {error.strerror or error}; check its path and permissions."
        ) from None


@contextmanager
def _opened(source: Source) -> Iterator[BufferedIOBase]:
    if isinstance(source, str | os.PathLike):
        if os.path.exists(source) and stat.S_ISFIFO(os.stat(source).st_mode):  # which would wait
            raise InvalidData(f"{os.fspath(source)} is a pipe and no file; give a .tsv file.")
        with open(source, "rb") as stream:
            yield stream
    else:
        source.seek(0)  # an upload may have been read before
        yield source


def _raw_lines(stream: BufferedIOBase, name: str) -> Iterator[bytes]:
    compressed = stream.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    stream.seek(0)
    content = gzip.GzipFile(fileobj=stream) if compressed else stream
    first = content.readline(LONGEST_LINE)
    if b"ustar" in first[:_TAR_HEADER]:
        raise InvalidData(f"The file {name} is an archive; unpack it and give one of its .tsv files.")
    while first:
        yield first
        first = content.readline(LONGEST_LINE)


def _without_mark(line: bytes, name: str) -> bytes:
    if line.startswith(_UTF16_MARKS):
        raise InvalidData(f"The file {name} is UTF-16; save it as UTF-8 or plain ASCII.")
    return line.removeprefix(_UTF8_MARK)
