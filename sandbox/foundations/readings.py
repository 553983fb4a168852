"""Readings: typed answers of diagnostics as NumPy arrays, and their form for the store."""

# Shapes stand in words: they are checked at every construction, since stored files are read with them.

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.certificate import CERTIFICATE_COLUMNS, CERTIFICATE_WORDS, Certificate
from sandbox.foundations.errors import InvalidData
from sandbox.foundations.provenance import Provenance, one_row, shaped
from sandbox.foundations.small_model import SmallModel
from sandbox.foundations.table import Table

__all__ = [
    "Answer",
    "AttentionMap",
    "Certificate",
    "PerHead",
    "Provenance",
    "Reading",
    "SmallModel",
    "Table",
    "Trajectory",
    "decode",
    "encode",
]

PER = ("head", "layer", "run")


@dataclass(frozen=True, kw_only=True, eq=False)
class PerHead:
    """Named numbers for each head of each layer; drawn as curves over steps."""

    columns: dict[str, np.ndarray]
    """Each (run, layer, head)."""
    unit: str
    log: bool = False
    units: dict[str, str] = field(default_factory=dict)
    """Units of the columns whose unit is not `unit`."""
    linear: tuple[str, ...] = ()
    """Columns that keep a linear axis although `log` is true."""
    not_applicable: dict[str, str] = field(default_factory=dict)
    """Columns that mean nothing in this model, each with its reason; none of them is in `columns`."""
    per: str = "head"
    """What one number belongs to: "head", "layer" or "run"; axes that it has not have length 1."""
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        if not self.columns:
            raise InvalidData("A reading per head has no column; give at least one.")
        for name, values in self.columns.items():
            shaped(name, values, ("run", "layer", "head"))
        shapes = {values.shape for values in self.columns.values()}
        if len(shapes) > 1:
            raise InvalidData(f"The columns of one reading have shapes {sorted(shapes)}; they must agree.")
        if self.per not in PER or any(n != 1 for n in next(iter(shapes))[1 + PER[::-1].index(self.per) :]):
            raise InvalidData(
                f"Numbers per {self.per} have shape {next(iter(shapes))}; choose one of {', '.join(PER)}, "
                "with axes of length 1 for what they do not depend on."
            )
        unknown = sorted({*self.units, *self.linear} - set(self.columns))
        if unknown:
            raise InvalidData(f"Units name {', '.join(unknown)}; the columns are {', '.join(self.columns)}.")
        both = sorted(set(self.not_applicable) & set(self.columns))
        if both:
            raise InvalidData(f"{', '.join(both)} has values and a reason to have none; keep one of the two.")

    def for_run(self, index: int) -> "PerHead":
        """The reading of one seed alone; the run axis stays, with length 1."""
        return replace(self, columns={name: one_row(values, index) for name, values in self.columns.items()})


@dataclass(frozen=True, kw_only=True, eq=False)
class Trajectory:
    """Labelled points in the plane; drawn where they are and where they have been."""

    points: np.ndarray
    """(run, point, 2)."""
    labels: tuple[str, ...]
    groups: tuple[str, ...]
    """One word per point, such as "prefix token" or "class 1"; points of a group share a colour."""
    explained_variance: np.ndarray | None = None
    """(run, 2): share of the present variance along each axis; None where the space is 2-D already."""
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        shaped("points", self.points, ("run", "point", 2))
        for name, words in (("labels", self.labels), ("groups", self.groups)):
            if len(words) != self.points.shape[1]:
                raise InvalidData(
                    f"There are {len(words)} {name} for {self.points.shape[1]} points; give each one."
                )
        if self.explained_variance is not None:
            shaped("explained_variance", self.explained_variance, (self.points.shape[0], 2))

    def for_run(self, index: int) -> "Trajectory":
        """The reading of one seed alone; the run axis stays, with length 1."""
        shares = self.explained_variance
        return replace(
            self,
            points=one_row(self.points, index),
            explained_variance=None if shares is None else one_row(shares, index),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class AttentionMap:
    """Attention of one sequence for every layer and head; drawn on the fixed scale 0 to 1."""

    weights: np.ndarray
    """(run, layer, head, query, key)."""
    key_labels: tuple[str, ...]
    query_labels: tuple[str, ...]
    mask: np.ndarray
    """(query, key), bool: true where the query may see the key; the other cells are hatched."""
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        cells = (len(self.query_labels), len(self.key_labels))
        shaped("weights", self.weights, ("run", "layer", "head", *cells))
        shaped("mask", self.mask, cells)

    def for_run(self, index: int) -> "AttentionMap":
        """The reading of one seed alone; the run axis stays, with length 1."""
        return replace(self, weights=one_row(self.weights, index))


Reading = PerHead | Trajectory | AttentionMap | Certificate | SmallModel | Table
Answer = Reading | NotApplicable


def encode(reading: Answer) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """What changes with the step, as arrays with a leading run axis, and the rest as JSON data.

    A NotApplicable has no columns and the meta {"not_applicable": reason}.
    """
    if isinstance(reading, NotApplicable):
        return {}, {"not_applicable": reading.reason}
    meta: dict[str, Any] = {"type": type(reading).__name__, "provenance": asdict(reading.provenance)}
    if isinstance(reading, PerHead):
        meta |= {
            "columns": list(reading.columns),
            "unit": reading.unit,
            "log": reading.log,
            "units": dict(reading.units),
            "linear": list(reading.linear),
            "without": dict(reading.not_applicable),
            "per": reading.per,
        }
        return dict(reading.columns), meta
    if isinstance(reading, Trajectory):
        columns = {"points": reading.points}
        if reading.explained_variance is not None:
            columns["explained_variance"] = reading.explained_variance
        meta |= {"columns": list(columns), "labels": list(reading.labels), "groups": list(reading.groups)}
        return columns, meta
    if isinstance(reading, Certificate):
        words = {name: list(getattr(reading, name)) for name in CERTIFICATE_WORDS}
        meta |= {"columns": list(CERTIFICATE_COLUMNS), "unit": reading.unit, **words}
        return {name: getattr(reading, name) for name in CERTIFICATE_COLUMNS}, meta
    if isinstance(reading, SmallModel):
        return {"values": reading.values}, meta | reading.meta()
    if isinstance(reading, Table):
        return {"cells": reading.cells}, meta | reading.meta()
    meta |= {
        "columns": ["weights"],
        "key_labels": list(reading.key_labels),
        "query_labels": list(reading.query_labels),
        "mask": reading.mask.astype(int).tolist(),
    }
    return {"weights": reading.weights}, meta


def decode(columns: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> Answer:
    """The reading that `encode` took apart.

    Raises InvalidData where the meta names no known type or a part is missing.
    """
    if "not_applicable" in meta:
        return NotApplicable(str(meta["not_applicable"]))
    try:
        provenance = Provenance(**meta["provenance"])
        if meta["type"] == "PerHead":
            return PerHead(
                columns={name: columns[name] for name in meta["columns"]},
                unit=meta["unit"],
                log=meta["log"],
                units=dict(meta["units"]),
                linear=tuple(meta["linear"]),
                not_applicable=dict(meta["without"]),
                per=meta.get("per", "head"),
                provenance=provenance,
            )
        if meta["type"] == "Trajectory":
            return Trajectory(
                points=columns["points"],
                labels=tuple(meta["labels"]),
                groups=tuple(meta["groups"]),
                explained_variance=columns.get("explained_variance"),
                provenance=provenance,
            )
        if meta["type"] == "AttentionMap":
            return AttentionMap(
                weights=columns["weights"],
                key_labels=tuple(meta["key_labels"]),
                query_labels=tuple(meta["query_labels"]),
                mask=np.array(meta["mask"], dtype=bool),
                provenance=provenance,
            )
        if meta["type"] == "Certificate":
            return Certificate(
                **{name: columns[name] for name in CERTIFICATE_COLUMNS},
                names=tuple(meta["names"]),
                statements=tuple(meta["statements"]),
                reasons=tuple(meta["reasons"]),
                unit=meta["unit"],
                provenance=provenance,
            )
        if meta["type"] == "SmallModel":
            return SmallModel.of_meta(columns["values"], meta, provenance)
        if meta["type"] == "Table":
            return Table(
                cells=columns["cells"],
                rows=tuple(meta["row_labels"]),
                columns=tuple(meta["column_labels"]),
                unit=meta["unit"],
                log=meta["log"],
                truth=tuple(meta["truth"]),
                provenance=provenance,
            )
    except (KeyError, TypeError) as problem:
        raise InvalidData(f"A stored reading is incomplete ({problem}); record it again.") from problem
    raise InvalidData(
        f"A stored reading has type {meta['type']!r}; this version knows PerHead, Trajectory, "
        "AttentionMap, Certificate, SmallModel, Table."
    )
