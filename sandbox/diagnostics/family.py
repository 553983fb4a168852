"""Diagnostic: a question asked of a snapshot; the type of its answer decides how it is drawn."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Shaped

from sandbox.diagnostics.probe import Probe
from sandbox.foundations.idea import Idea
from sandbox.foundations.readings import Answer
from sandbox.foundations.registry import Registry


@runtime_checkable
class Watched(Protocol):
    """What a view needs of a group of seeds in training."""

    step: int

    @property
    def seeds(self) -> tuple[int, ...]: ...
    @property
    def setting(self) -> Any: ...
    @property
    def layout(self) -> Any: ...
    def theta(self) -> np.ndarray: ...
    def trace(self, tokens: np.ndarray, theta: np.ndarray | None = None) -> Mapping[str, np.ndarray]: ...
    def projections(self, theta: np.ndarray | None = None) -> Mapping[str, np.ndarray]: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class SnapshotView:
    """One group at one step: all that a diagnostic may look at. Every array starts with the run axis."""

    step: int
    seeds: tuple[int, ...]
    probe: Probe
    trace: Mapping[str, Shaped[np.ndarray, "run batch ..."]]
    """Activations of the probe batch by dotted probe name."""
    projections: Mapping[str, Shaped[np.ndarray, "run layer head d_model d_head"]]
    """Per-head matrices W + C as the model applies them, by "query", "key", "value"."""
    weights: Mapping[str, Shaped[np.ndarray, "run ..."]] = field(default_factory=dict)
    norms: Mapping[str, Shaped[np.ndarray, " run"]] = field(default_factory=dict)
    """Norms of the gradient and update that led here, by part; empty for stored weights."""
    setting: Any = None
    """The arm's ArmSetting, for diagnostics that need to know the model."""
    memo: dict[str, Any] = field(default_factory=dict)
    """What several diagnostics need of this one view, worked out by the first that asks."""
    basis: dict[str, np.ndarray] = field(default_factory=dict)
    """Fixed bases by name, filled once by the diagnostic that needs one and kept for the whole run."""

    @classmethod
    def of(
        cls,
        group: Watched,
        probe: Probe,
        basis: dict[str, np.ndarray],
        setting: Any = None,
        theta: np.ndarray | None = None,
        step: int | None = None,
    ) -> "SnapshotView":
        """Look at `group` as it stands, or as it stood at `step` with weights `theta` (run, parameter)."""
        return cls(
            step=group.step if step is None else step,
            seeds=tuple(group.seeds),
            probe=probe,
            trace=group.trace(probe.tokens, theta),
            projections=group.projections(theta),
            weights=group.layout.unflatten(group.theta() if theta is None else theta),
            norms=getattr(group, "norms", {}) if theta is None else {},
            setting=group.setting if setting is None else setting,
            basis=basis,
        )

    def for_run(self, index: int) -> "SnapshotView":
        """The snapshot of one seed alone; bases that were fitted seed by seed are cut alike."""
        row = slice(index, index + 1)
        return replace(
            self,
            seeds=self.seeds[row],
            trace={name: values[row] for name, values in self.trace.items()},
            projections={name: values[row] for name, values in self.projections.items()},
            weights={name: values[row] for name, values in self.weights.items()},
            norms={name: values[row] for name, values in self.norms.items()},
            basis={name: v if np.ndim(v) == 0 else v[row] for name, v in self.basis.items()},
            memo={},
        )


@dataclass(frozen=True, kw_only=True)
class Diagnostic(Idea, ABC):
    """A question, its settings and its source. A pure function of the view: no randomness, no state.

    Apart from a basis that was fitted on all of them, a seed's answer never depends on which other seeds
    stand beside it, and what is not finite in one seed gives NaN for that seed alone.
    """

    variants: ClassVar[Registry["Diagnostic"]] = Registry("diagnostic")
    unit: ClassVar[str]
    cost: ClassVar[str] = "cheap"
    """"cheap": at every snapshot; "costly": from a budget, or on demand."""
    usual_ms: ClassVar[float] = 0.0
    """About what one seed of the default preset takes; of costly ones the cheapest are read first."""

    @abstractmethod
    def read(self, view: SnapshotView) -> Answer:
        """Answer for every run of the view at once, in float64, or say why the question means nothing."""


def layer_probes(trace: Mapping[str, np.ndarray], ending: str) -> Sequence[np.ndarray]:
    """The probes whose name ends in `ending`, from the first layer to the last."""
    return [trace[name] for name in layer_names(trace, ending)]


def layer_names(trace: Mapping[str, np.ndarray], ending: str) -> list[str]:
    """The names of `layer_probes`, in the same order."""
    names = [name for name in trace if name == ending or name.endswith(f".{ending}")]
    return sorted(names, key=_layer)


def _layer(name: str) -> int:
    return next((int(part) for part in name.split(".") if part.isdigit()), 0)
