"""Provenance: how a reading came about, and the checks that all types of reading share."""

from dataclasses import dataclass

import numpy as np

from sandbox.foundations.errors import InvalidData

EXACTNESS = ("exact", "bracket", "sampled", "estimated")


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How a reading came about; the same at every step of a run, so that it is stored once."""

    precision: str = "float64"
    method: str = ""
    tolerance: float = 0.0
    """Absolute width that the method promises; 0 where the value is exact up to rounding."""
    sample_size: int = 0
    """What was averaged or drawn: probe rows, probe sequences, or matrices."""
    exactness: str = "exact"
    note: str = ""

    def __post_init__(self) -> None:
        if self.exactness not in EXACTNESS:
            raise InvalidData(
                f"A reading's exactness is {self.exactness!r}; choose one of {', '.join(EXACTNESS)}."
            )


def shaped(name: str, values: np.ndarray, shape: tuple[str | int, ...]) -> None:
    """Raise InvalidData where `values` has another number of axes, or another length where one is given."""
    fits = values.ndim == len(shape) and all(
        isinstance(want, str) or want == have for want, have in zip(shape, values.shape, strict=False)
    )
    if not fits:
        raise InvalidData(f"{name} has shape {values.shape}; it must be ({', '.join(map(str, shape))}).")


def one_row(values: np.ndarray, index: int) -> np.ndarray:
    """Row `index` of an array with a leading run axis, which stays with length 1."""
    if not 0 <= index < values.shape[0]:
        raise InvalidData(f"Run {index} was asked of a reading of {values.shape[0]}; count from 0.")
    return values[index : index + 1]
