"""Reading seed by seed: a costly question in pieces, so that a run can pause or cancel between them."""

from collections.abc import Iterator, Sequence

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import Answer, decode, encode


class PiecewiseReading:
    """One diagnostic's answer for one view, a seed at a time; iterate for (done, of), then take `answer`.

    Leaving the iteration early cancels the rest. Seeds are independent, so the pieces together are the
    whole answer, bit for bit.
    """

    def __init__(self, diagnostic: Diagnostic, view: SnapshotView) -> None:
        self.diagnostic, self.view = diagnostic, view
        self._pieces: list[Answer] = []

    @property
    def done(self) -> bool:
        """Whether every seed has been read."""
        return len(self._pieces) == len(self.view.seeds)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        n_seeds = len(self.view.seeds)
        while not self.done:
            self._pieces.append(self.diagnostic.read(self.view.for_run(len(self._pieces))))
            yield len(self._pieces), n_seeds

    @property
    def answer(self) -> Answer:
        """The answer of all seeds read so far."""
        return joined(self._pieces)


def joined(pieces: Sequence[Answer]) -> Answer:
    """Answers of single seeds as one reading; the first reason where a piece has no answer."""
    for piece in pieces:
        if isinstance(piece, NotApplicable):
            return piece
    taken_apart = [encode(piece) for piece in pieces]
    columns = {
        name: np.concatenate([columns[name] for columns, _ in taken_apart]) for name in taken_apart[0][0]
    }
    return decode(columns, taken_apart[0][1])
