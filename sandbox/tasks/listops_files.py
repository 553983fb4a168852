"""ListOps files that people have: read row by row, worked out again, and reported where they are wrong."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np

from sandbox.foundations.errors import InvalidData, InvalidKnob
from sandbox.tasks.listops_grammar import OPERATORS, SPELLINGS, STAND_ALONE_CLOSE, InvalidExpression
from sandbox.tasks.listops_layouts import Entry, Source, name_of, read_entries
from sandbox.tasks.listops_levels import well_formed
from sandbox.tasks.listops_rows import ListOpsSample, described
from sandbox.tasks.listops_vocabulary import DIGIT_CODE, OPERATOR_CODE, PAD_CODE, VOCABULARY, encode

PROBLEMS_LISTED = 10_000  # all are counted; a file with more is not what it claims to be
TOKENS_AT_ONCE = 1 << 18  # bounds memory: rows are worked out together up to so many padded tokens

_BLANKS = bytes.maketrans(b"(),", b"   ")
_OPENING = re.compile(rb"\[\s*")  # joins `[ MAX`, parts `5[MAX`
_CODES = {text.encode(): code for code, text in enumerate(VOCABULARY) if code >= DIGIT_CODE}
_CODES |= {
    f"[{spelling}".encode(): OPERATOR_CODE + OPERATORS.index(name) for spelling, name in SPELLINGS.items()
}
_CODES[STAND_ALONE_CLOSE.encode()] = _CODES[b"]"]


@dataclass(frozen=True)
class Problem:
    """A row that cannot be used; `line` counts from 1."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


@dataclass(frozen=True)
class FileReport:
    """What a file holds: rows read, rows right, problems by line, and lengths in tokens of the right rows.

    `n_too_long` counts right rows above `max_length`; `stopped` says that rows were left unread on request;
    `values` counts the right rows by value 0 to 9.
    """

    file: str
    layout: str
    n_rows: int
    n_right: int
    n_problems: int
    problems: tuple[Problem, ...]
    shortest: int
    longest: int
    mean_length: float
    max_length: int | None
    n_too_long: int
    stopped: bool
    values: tuple[int, ...]

    def to_plain(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        return asdict(self) | {
            "problems": [asdict(problem) for problem in self.problems],
            "values": list(self.values),
        }

    def sentences(self) -> Iterator[str]:
        """The report as lines of text: a summary, lengths, then each problem."""
        end = " (stopped there on request)" if self.stopped else ""
        yield f"{self.file}: {self.n_rows} rows read as '{self.layout}'{end}, {self.n_right} are right."
        if self.n_right:
            yield f"Lengths {self.shortest} to {self.longest} tokens, mean {self.mean_length:.1f}."
        if self.max_length is not None:
            yield f"{self.n_too_long} rows have more than {self.max_length} tokens: skip them, or cut them."
        yield from map(str, self.problems)
        if self.n_problems > len(self.problems):
            yield f"{self.n_problems - len(self.problems)} more problems are counted but not listed."


@dataclass(frozen=True, eq=False)
class LoadedFile:
    """The usable rows of a file, and the report on all of them."""

    rows: ListOpsSample
    report: FileReport


def check(source: Source, rows: int | None = None, max_length: int | None = None) -> FileReport:
    """Work out every row of a file again, or the first `rows`, and report each that is wrong.

    `source` is a path or an open binary file. Raises InvalidData for a file that cannot be read at all.
    """
    file = _Reading(source, rows, max_length)
    for _ in file.batches():
        pass
    return file.report()


def load(
    source: Source, max_length: int, rows: int | None = None, too_long: Literal["skip", "cut"] = "skip"
) -> LoadedFile:
    """The right rows of a file as model tokens; rows longer than `max_length` are skipped or cut.

    A cut row keeps its label, root operator and depth, while its length is what is left. Raises InvalidData
    for a file that cannot be read at all or without a usable row.
    """
    file = _Reading(source, rows, max_length)
    parts: list[ListOpsSample] = []
    for batch in file.batches():
        kept = batch.take(batch.lengths <= max_length) if too_long == "skip" else batch
        tokens = np.full((len(kept), max_length), PAD_CODE, dtype=np.uint8)
        width = min(max_length, kept.tokens.shape[1])
        tokens[:, :width] = kept.tokens[:, :width]
        lengths = np.minimum(kept.lengths, max_length)
        parts.append(ListOpsSample(tokens, kept.targets, lengths, kept.root_operator, kept.depth))
    report = file.report()
    if not sum(map(len, parts)):
        example = f" ({report.problems[0]})" if report.problems else ""
        raise InvalidData(
            f"The file {report.file} has no usable row of at most {max_length} tokens{example}; raise "
            "max_length or choose another file."
        )
    columns = zip(*((p.tokens, p.targets, p.lengths, p.root_operator, p.depth) for p in parts), strict=True)
    return LoadedFile(ListOpsSample(*map(np.concatenate, columns)), report)


def _looked_up(text: bytes) -> bytes | None:
    try:
        return bytes(map(_CODES.__getitem__, text.split()))
    except KeyError:
        return None


class _Reading:
    """One pass over a file: rows are gathered, worked out together, and counted."""

    def __init__(self, source: Source, rows: int | None, max_length: int | None) -> None:
        for name, value in (("rows", rows), ("max_length", max_length)):
            if value is not None and value < 1:
                raise InvalidKnob(f"{name} is {value}; ask for 1 or more.")
        self.name, self.n_wanted, self.max_length = name_of(source), rows, max_length
        self.layout, self.entries = read_entries(source)
        self.n_rows = self.n_problems = self.n_too_long = self.n_tokens = 0
        self.shortest, self.longest, self.stopped = 0, 0, False
        self.problems: list[Problem] = []
        self.values = np.zeros(10, dtype=np.int64)

    def batches(self) -> Iterator[ListOpsSample]:
        """The right rows, some at a time, padded to the longest among them."""
        waiting: list[tuple[Entry, bytes]] = []
        width = 0
        for entry in islice(self.entries, self.n_wanted):
            self.n_rows += 1
            codes = self._codes(entry)
            if codes is None:
                continue
            width = max(width, len(codes))
            waiting.append((entry, codes))
            if width * len(waiting) >= TOKENS_AT_ONCE:
                yield self._worked_out(waiting, width)
                waiting, width = [], 0
        if waiting:
            yield self._worked_out(waiting, width)
        self.stopped = self.n_wanted is not None and next(self.entries, None) is not None

    def _codes(self, entry: Entry) -> bytes | None:
        """Token codes of a row, or None after noting why there are none."""
        if entry.fault is not None:
            self._note(entry.line, entry.fault)
            return None
        text = entry.expression.translate(_BLANKS)
        codes = _looked_up(text) or _looked_up(_OPENING.sub(b" [", text).replace(b"]", b" ] "))
        return codes or self._spelled_out(entry)  # another spelling, or no expression: the grammar decides

    def _spelled_out(self, entry: Entry) -> bytes | None:
        try:
            return encode(entry.expression.decode()).tobytes()
        except InvalidExpression as error:
            self._note(entry.line, f"character {error.position + 1}: {error.reason}")
        except InvalidData as error:
            self._note(entry.line, str(error))
        except UnicodeDecodeError as error:
            self._note(entry.line, f"byte {error.start + 1} of the expression is not UTF-8")
        return None

    def _worked_out(self, waiting: list[tuple[Entry, bytes]], width: int) -> ListOpsSample:
        tokens = np.full((len(waiting), width), PAD_CODE, dtype=np.uint8)
        for row, (_, codes) in enumerate(waiting):
            tokens[row, : len(codes)] = np.frombuffer(codes, dtype=np.uint8)
        good = well_formed(tokens)
        found = described(tokens[good])
        agrees = np.zeros(len(waiting), dtype=bool)
        agrees[good] = True
        values = iter(found.targets.tolist())
        for row, (entry, _) in enumerate(waiting):
            if not good[row]:
                self._spelled_out(entry)
            else:
                agrees[row] = self._label_agrees(entry, next(values))
        return self._count(found.take(agrees[good]))

    def _label_agrees(self, entry: Entry, value: int) -> bool:
        label = entry.label.strip()
        if not label.isdigit():
            shown = label[:24].decode(errors="replace")
            self._note(entry.line, f"the label '{shown}' is no whole number from 0")
        elif label.lstrip(b"0") != (b"%d" % value).lstrip(b"0"):
            shown = label[:24].decode()
            self._note(entry.line, f"the label is {shown} but the expression has the value {value}")
        else:
            return True
        return False

    def _count(self, right: ListOpsSample) -> ListOpsSample:
        if len(right):
            shortest = int(right.lengths.min())
            self.shortest = min(self.shortest, shortest) if self.n_tokens else shortest
            self.longest = max(self.longest, int(right.lengths.max()))
            self.n_tokens += int(right.lengths.sum())
            self.values += np.bincount(right.targets, minlength=10)
            if self.max_length is not None:
                self.n_too_long += int(np.count_nonzero(right.lengths > self.max_length))
        return right

    def _note(self, line: int, reason: str) -> None:
        self.n_problems += 1
        if len(self.problems) < PROBLEMS_LISTED:
            self.problems.append(Problem(line, reason))

    def report(self) -> FileReport:
        n_right = self.n_rows - self.n_problems
        return FileReport(
            file=self.name,
            layout=self.layout,
            n_rows=self.n_rows,
            n_right=n_right,
            n_problems=self.n_problems,
            problems=tuple(sorted(self.problems, key=lambda problem: problem.line)),
            shortest=self.shortest,
            longest=self.longest,
            mean_length=self.n_tokens / n_right if n_right else 0.0,
            max_length=self.max_length,
            n_too_long=self.n_too_long,
            stopped=self.stopped,
            values=tuple(self.values.tolist()),
        )
