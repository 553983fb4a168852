"""Progress of a long command: one line on standard error that is written over and over."""

import sys
from types import TracebackType

SHOWN_FROM = 2000  # fewer are done before anyone wonders


class Progress:
    """`row 512 of 10000`, from a size on that takes time; the line is ended however the work ends."""

    def __init__(self, what: str, n_all: int, shown_from: int = SHOWN_FROM) -> None:
        self.what, self.n_all, self.shown = what, n_all, n_all > shown_from
        self._written = False

    def __enter__(self) -> "Progress":
        return self

    def at(self, n_done: int) -> None:
        """Say how many are done."""
        if self.shown:
            sys.stderr.write(f"\r{self.what} {n_done} of {self.n_all}")
            sys.stderr.flush()
            self._written = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._written:
            sys.stderr.write("\n")
