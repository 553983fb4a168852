"""Overtaken readings: those that came after a later one of their kind, and belong between what was sent."""

import sqlite3
from dataclasses import dataclass

from sandbox.live.growing_rows import Rows, array_of
from sandbox.store.late import late_readings

READING = "SELECT dtype, shape, data FROM snapshots WHERE arm=? AND name=? AND step=?"


@dataclass(frozen=True)
class Overtaken:
    """A reading of `kind` for one arm at `step`, which came when the run stood at the step `at`."""

    number: int
    at: int
    arm: int
    kind: str
    step: int


class OvertakenReadings:
    """All of a run so far; `read` takes in what is new and puts its rows in their places."""

    def __init__(self) -> None:
        self.last = 0
        """Number of the newest; numbers only grow."""
        self._found: list[Overtaken] = []

    def read(self, connection: sqlite3.Connection, rows: dict[tuple[int, str], Rows], n_arms: int) -> None:
        """Take in what the writer noted since the last time."""
        for late in late_readings(connection, self.last):
            self.last = late.id
            for kind in late.kinds if late.overtaken else ():
                for arm in range(n_arms):
                    self._found.append(Overtaken(late.id, late.at, arm, kind, late.step))
                    for (of, name), known in rows.items():
                        if of == arm and name.partition("/")[0] == kind:
                            _insert(connection, known, arm, name, late.step)

    def after(self, number: int) -> list[Overtaken]:
        """Those whose number is greater, oldest first."""
        return [one for one in self._found if one.number > number]

    def before(self, step: int) -> int:
        """The last number that whoever has seen the run at `step` has seen, too."""
        return max((one.number for one in self._found if one.at < step), default=0)


def _insert(connection: sqlite3.Connection, rows: Rows, arm: int, name: str, step: int) -> None:
    found = connection.execute(READING, (arm, name, step)).fetchone()
    if found is not None:
        rows.insert(step, array_of(*found))
