"""Table: numbers in named rows and columns for each head, such as a spectrum or the answers to probes."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sandbox.foundations.errors import InvalidData
from sandbox.foundations.provenance import Provenance, one_row, shaped


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A small table of each layer and head; axes that the numbers do not depend on have length 1."""

    cells: np.ndarray
    """(run, layer, head, row, column)."""
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    """Words for the rows and the columns."""
    unit: str
    log: bool = False
    truth: tuple[int, ...] = ()
    """Place of each row's true column, where there is one; empty otherwise."""
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        shaped("cells", self.cells, ("run", "layer", "head", len(self.rows), len(self.columns)))
        if self.truth and len(self.truth) != len(self.rows):
            raise InvalidData(f"{len(self.truth)} true columns for {len(self.rows)} rows; give each row one.")
        if any(not 0 <= place < len(self.columns) for place in self.truth):
            raise InvalidData(f"A true column lies outside 0 to {len(self.columns) - 1}.")

    def for_run(self, index: int) -> "Table":
        """The reading of one seed alone; the run axis stays, with length 1."""
        return replace(self, cells=one_row(self.cells, index))

    def meta(self) -> dict[str, Any]:
        """What does not change with the step, as JSON data."""
        return {
            "columns": ["cells"],
            "row_labels": list(self.rows),
            "column_labels": list(self.columns),
            "unit": self.unit,
            "log": self.log,
            "truth": list(self.truth),
        }
