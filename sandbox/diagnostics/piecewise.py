"""Reading seed by seed: costly questions in pieces, so that they show progress and can be left."""

import logging
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import SandboxError
from sandbox.foundations.readings import Answer, decode, encode

_log = logging.getLogger(__name__)


class PiecewiseReading:
    """One diagnostic's answer for one view, a seed at a time; iterate for (done, of), then take `answer`.

    Leaving the iteration early cancels the rest. Seeds are independent, so the pieces together are the
    whole answer, bit for bit.
    """

    def __init__(self, diagnostic: Diagnostic, view: SnapshotView) -> None:
        self._all = ReadTogether({"": diagnostic}, [view])

    @property
    def done(self) -> bool:
        """Whether every seed has been read."""
        return self._all.done

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._all)

    @property
    def answer(self) -> Answer:
        """The answer of all seeds read so far."""
        return self._all.answers[0][""]


class ReadTogether:
    """Several diagnostics of several views, such as the arms of a run: one seed of one view is a piece.

    What the diagnostics share within a seed is worked out once. Iterate for (done, of).
    """

    def __init__(self, diagnostics: Mapping[str, Diagnostic], views: Sequence[SnapshotView]) -> None:
        self._diagnostics, self._views = dict(diagnostics), list(views)
        self._pieces: list[list[dict[str, Answer]]] = [[] for _ in self._views]

    @property
    def done(self) -> bool:
        """Whether every seed of every view has been read."""
        return all(len(p) == len(v.seeds) for p, v in zip(self._pieces, self._views, strict=True))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        n_all = sum(len(view.seeds) for view in self._views)
        for view, pieces in zip(self._views, self._pieces, strict=True):
            while len(pieces) < len(view.seeds):
                one = view.for_run(len(pieces))
                pieces.append({kind: answered(kind, d, one) for kind, d in self._diagnostics.items()})
                yield sum(map(len, self._pieces)), n_all

    @property
    def answers(self) -> list[dict[str, Answer]]:
        """By view, the answers by kind of all seeds read so far."""
        return [
            {kind: joined([piece[kind] for piece in p]) for kind in self._diagnostics} for p in self._pieces
        ]


def answered(kind: str, diagnostic: Diagnostic, view: SnapshotView) -> Answer:
    """The answer, whatever happens: no question stops a training.

    An error becomes a NotApplicable with its sentence, logged; one that was not raised on purpose is called
    what it is, a fault of the diagnostic.
    """
    try:
        return diagnostic.read(view)
    except SandboxError as problem:
        _log.warning("%s at step %d: %s", kind, view.step, problem)
        return NotApplicable(str(problem))
    except Exception as fault:
        _log.exception("%s failed at step %d", kind, view.step)
        return NotApplicable(
            f"This diagnostic failed at step {view.step} with {type(fault).__name__}, a fault of its "
            "own; training goes on without it."
        )


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
