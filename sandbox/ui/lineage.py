"""Lineage: what a run comes from, in words: the run that it goes on from, or its point of a sweep."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sandbox.runner.gallery import Entry
from sandbox.store.forks import origin
from sandbox.store.study import studies
from sandbox.ui.named import said_settings
from sandbox.ui.words import whole


@dataclass(frozen=True)
class Lineage:
    """What is known of all runs of a list, so that each is told in one line."""

    names: dict[str, str]
    """Id -> the name that people know."""
    points: dict[str, tuple[str, dict[str, Any]]]
    """Id -> the study's name and the values of its point."""

    def of(self, entry: Entry) -> str:
        """`fork of brisk-otter at step 300`, `how wide: width 16`; empty where the run stands by itself."""
        said = []
        if (begin := origin(entry.card.plain)) is not None:
            run, step = begin
            how = "other seeds of" if step == 0 else "fork of"
            said.append(f"{how} {self.names.get(run, run)}" + (f" at step {whole(step)}" if step else ""))
        if entry.id in self.points:
            study, values = self.points[entry.id]
            said.append(f"{study}: {said_settings(values)}" if values else study)
        return " · ".join(said)


def lineage(entries: Iterable[Entry]) -> Lineage:
    """The lineage of the runs that are here, from their own settings and the studies' files."""
    points = {point.run: (study.name, point.values) for study in studies() for point in study.points}
    return Lineage({entry.id: entry.name for entry in entries}, points)
