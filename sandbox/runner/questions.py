"""Asking for a diagnostic at a stored step of any run: lines in its folder, answered by whoever writes it."""

import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeGuard

from sandbox.foundations.errors import InvalidData
from sandbox.foundations.typed_text import shown
from sandbox.runner.request_lines import RequestLines, append_line
from sandbox.store import Run, open_run

QUESTIONS_FILE = "questions.jsonl"
QUESTIONS = "questions"
"""Key of the run's description under which the latest questions and how far they are stand."""

WAITS, READING, DONE, CANCELLED, FAILED = "waiting", "reading", "done", "cancelled", "failed"
OPEN = (WAITS, READING)
MOST_KEPT = 20
MOST_OPEN = 12
"""Questions that one run may have open; each waits for the one before."""
LONGEST_ID = 40
LAST_STEP = 2**53


@dataclass(frozen=True, kw_only=True)
class Question:
    """A diagnostic asked for at a stored step, and what has come of it."""

    id: str
    kind: str
    step: int
    state: str = WAITS
    """waiting, reading, done, cancelled or failed."""
    done: int = 0
    """Pieces read: one per arm and seed."""
    of: int = 0
    seconds: float = 0.0
    """CPU seconds spent on it so far."""
    reason: str = ""
    """Why it failed."""

    @property
    def open(self) -> bool:
        """Whether something may still come of it."""
        return self.state in OPEN

    def to_plain(self) -> dict[str, Any]:
        """As it is recorded."""
        return asdict(self)


def ask(folder: str | Path, kind: str, step: int) -> str:
    """Ask the writer of the run in `folder` for `kind` at the stored step; the id to follow or cancel it by.

    A run that nobody writes answers once somebody does: `sandbox.runner.queue.diagnose` sees to that.
    Raises InvalidData for a step that is none, a kind that is no text, and where MOST_OPEN wait already,
    whoever asked them and whether the writer has seen them.
    """
    if not _is_step(step):
        raise InvalidData(
            f"{shown(step, 40)} is no step of a run; give one from 0 to {LAST_STEP} at which weights are "
            "stored."
        )
    if not _is_text(kind):
        raise InvalidData(f"{shown(kind, 40)} is no text in Unicode; name a diagnostic, such as sharpness.")
    if (n := waiting(folder)) >= MOST_OPEN:
        raise InvalidData(f"{n} questions to this run wait already; cancel one, or wait for an answer.")
    number = uuid.uuid4().hex[:12]
    append_line(folder, QUESTIONS_FILE, {"id": number, "kind": kind, "step": step})
    return number


def waiting(folder: str | Path) -> int:
    """How many questions to the run in `folder` are open, those that its writer has not seen yet included."""
    with open_run(folder) as run:
        known = {found.id: found for found in questions_of(run)}
    asked, cancelled = AskedQuestions(folder).new()
    numbers = [found.id for found in asked]
    seen = max((place for place, number in enumerate(numbers) if number in known), default=-1)
    fresh = [number for number in numbers[seen + 1 :] if number not in cancelled]
    return len(fresh) + sum(found.open for number, found in known.items() if number not in cancelled)


def cancel(folder: str | Path, number: str) -> None:
    """Give up the question `number`; what has been read of it is dropped."""
    append_line(folder, QUESTIONS_FILE, {"cancel": number})


def questions_of(run: Run) -> list[Question]:
    """The latest questions to a run, oldest first; one that its writer has not seen yet is not among them."""
    return from_plain(run.meta(QUESTIONS))


def question(run: Run, number: str) -> Question | None:
    """The question of that id, or None."""
    return next((found for found in questions_of(run) if found.id == number), None)


def from_plain(recorded: Any) -> list[Question]:
    """The questions as recorded under QUESTIONS; InvalidData where something else is."""
    try:
        return [Question(**plain) for plain in recorded or []]
    except TypeError as fault:
        raise InvalidData(f"The run's questions are damaged ({fault}); restore it from a copy.") from fault


def _is_step(step: Any) -> TypeGuard[int]:
    return type(step) is int and abs(step) <= LAST_STEP


def _is_text(found: Any) -> TypeGuard[str]:
    """Whether it is a text that the run's database can hold, without half a character."""
    return isinstance(found, str) and not any("\ud800" <= letter <= "\udfff" for letter in found)


class AskedQuestions:
    """What has been asked of one run, as its writer reads it: questions to answer, and ids to give up."""

    def __init__(self, folder: str | Path) -> None:
        self._lines = RequestLines(folder, QUESTIONS_FILE)

    def new(self) -> tuple[list[Question], list[str]]:
        """Questions and cancelled ids since the last call; at first all there ever were."""
        asked: list[Question] = []
        cancelled: list[str] = []
        for line in self._lines.new():
            number, kind, step = line.get("id"), line.get("kind"), line.get("step")
            if isinstance(line.get("cancel"), str):
                cancelled.append(line["cancel"])
                continue
            if _is_text(number) and _is_text(kind) and _is_step(step):
                asked.append(Question(id=number[:LONGEST_ID], kind=kind[:80], step=step))
        return asked, cancelled
