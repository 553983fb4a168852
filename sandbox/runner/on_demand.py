"""Answers questions about stored steps beside whatever else the run's writer does, one at a time."""

import time
from dataclasses import replace
from pathlib import Path

from sandbox.diagnostics import Diagnostic
from sandbox.foundations.errors import SandboxError
from sandbox.runner.questions import (
    CANCELLED,
    DONE,
    FAILED,
    MOST_KEPT,
    QUESTIONS,
    READING,
    WAITS,
    AskedQuestions,
    Question,
    from_plain,
)
from sandbox.runner.side_reading import SideReading
from sandbox.runner.stored_views import StoredStep
from sandbox.store import RunWriter

TELL_EVERY = 0.25
"""Least seconds between two words about how far a question is."""


class OnDemand:
    """The questions of one run, answered through its `writer`; `turn` never waits for one.

    What was open when an earlier writer ended is taken up again.
    """

    def __init__(self, folder: str | Path, writer: RunWriter) -> None:
        self._folder, self._writer = Path(folder), writer
        self._asked = AskedQuestions(folder)
        self._questions = {q.id: q for q in from_plain(writer.described(QUESTIONS))}
        for number, question in self._questions.items():
            if question.open:
                self._questions[number] = replace(question, state=WAITS, done=0, seconds=0.0)
        self._side: tuple[str, SideReading] | None = None
        self._told = 0.0

    @property
    def open(self) -> bool:
        """Whether a question waits for its answer."""
        return any(question.open for question in self._questions.values())

    def turn(self) -> bool:
        """Take up what was asked and take in what was read; True where there is something to commit."""
        asked, cancelled = self._asked.new()
        news = False
        for question in asked:
            if question.id not in self._questions:
                self._questions[question.id] = question
                news = True
        for number in cancelled:
            news |= self._cancel(number)
        if self._side is None and self.open:
            self._begin(next(question for question in self._questions.values() if question.open))
            news = True
        elif self._side is not None:
            news |= self._listen(*self._side)
        if news:
            self._tell()
        return news

    def close(self) -> None:
        """Leave what is being read; it stays open for the next writer."""
        if self._side is not None:
            self._side[1].cancel()
            self._side = None

    def _cancel(self, number: str) -> bool:
        question = self._questions.get(number)
        if question is None or not question.open:
            return False
        if self._side is not None and self._side[0] == number:
            self.close()
        self._questions[number] = replace(question, state=CANCELLED)
        return True

    def _begin(self, question: Question) -> None:
        try:
            diagnostic = Diagnostic.variants[question.kind]()
            # Read here, not there: a forked process must not touch a database that this one has open.
            stored = StoredStep.of(self._folder, question.step)
            n_pieces = len(self._writer.arms) * len(self._writer.seeds)
            side = SideReading({question.kind: diagnostic}, stored.views, n_pieces)
        except SandboxError as fault:
            self._questions[question.id] = replace(question, state=FAILED, reason=str(fault))
            return
        self._side = question.id, side
        self._questions[question.id] = replace(question, state=READING, of=n_pieces)

    def _listen(self, number: str, side: SideReading) -> bool:
        question = self._questions[number]
        outcome = side.outcome()
        if outcome is None:
            moved = side.progress[0] != question.done and time.monotonic() - self._told > TELL_EVERY
            if moved:
                seconds = round(side.spent(), 2)
                self._questions[number] = replace(question, done=side.progress[0], seconds=seconds)
            return moved
        self._side = None
        for arm, answers in enumerate(outcome.answers):
            for kind, answer in answers.items():
                self._writer.reading(question.step, arm, kind, answer)
        if outcome.answers:
            self._questions[number] = replace(
                question, state=DONE, done=question.of, seconds=round(outcome.seconds, 2)
            )
        else:
            reason = outcome.reason or "The process that read it ended before its time; ask again."
            self._questions[number] = replace(question, state=FAILED, reason=reason)
        return True

    def _tell(self) -> None:
        kept = list(self._questions.values())
        finished = [question for question in kept if not question.open]
        for question in finished[: max(len(kept) - MOST_KEPT, 0)]:
            kept.remove(question)
        self._writer.describe(**{QUESTIONS: [question.to_plain() for question in kept]})
        self._told = time.monotonic()
