"""Certificate: bounds with their states, for what is proved about a measured number and where."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sandbox.foundations.errors import InvalidData
from sandbox.foundations.provenance import Provenance, one_row, shaped

STATES = ("holds", "violated", "does not apply", "stale", "not computed")
HOLDS, VIOLATED, DOES_NOT_APPLY, STALE, NOT_COMPUTED = range(len(STATES))
CERTIFICATE_COLUMNS = ("bound", "measured", "state", "reason", "share")
CERTIFICATE_WORDS = ("names", "statements", "reasons")


@dataclass(frozen=True, kw_only=True, eq=False)
class Certificate:
    """Bounds with their states, each beside the measured value of the same step and precision."""

    names: tuple[str, ...]
    statements: tuple[str, ...]
    """One per name: what is claimed, and where it is proved."""
    bound: np.ndarray
    """(run, certificate, layer, head); NaN where nothing is claimed."""
    measured: np.ndarray
    """(run, certificate, layer, head): the bounded quantity where the bound applies, else NaN."""
    state: np.ndarray
    """(run, certificate, layer, head) integers: places in STATES."""
    reason: np.ndarray
    """(run, certificate, layer, head) integers: places in `reasons`, -1 where the state needs none."""
    reasons: tuple[str, ...]
    share: np.ndarray
    """(run, certificate, layer, head): share of the samples to which the bound applies."""
    unit: str
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        shaped("bound", self.bound, ("run", len(self.names), "layer", "head"))
        for name in ("measured", "state", "reason", "share"):
            shaped(name, getattr(self, name), self.bound.shape)
        if len(self.statements) != len(self.names):
            raise InvalidData(f"{len(self.names)} certificates have {len(self.statements)} statements.")
        told = (self.state == DOES_NOT_APPLY) | (self.state == STALE)
        if (self.state < 0).any() or (self.state >= len(STATES)).any():
            raise InvalidData(f"A certificate's state is outside 0 to {len(STATES) - 1}, its {STATES}.")
        if (self.reason[told] < 0).any() or (self.reason >= len(self.reasons)).any():
            raise InvalidData("A certificate that does not apply or is stale needs one of its reasons.")

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The bounds by name, each (run, layer, head)."""
        return {name: self.bound[:, i] for i, name in enumerate(self.names)}

    def for_run(self, index: int) -> "Certificate":
        """The reading of one seed alone; the run axis stays, with length 1."""
        rows: dict[str, Any] = {name: one_row(getattr(self, name), index) for name in CERTIFICATE_COLUMNS}
        return replace(self, **rows)

    def stale(self, reason: str) -> "Certificate":
        """The same certificates after something they rest on has changed: none is claimed any more."""
        return replace(
            self,
            state=np.full_like(self.state, STALE),
            reason=np.full_like(self.reason, len(self.reasons)),
            reasons=(*self.reasons, reason),
        )

    def sentence(self, run: int, certificate: int, layer: int, head: int) -> str:
        """The state in words: `holds`, or `does not apply: more tokens than channels`."""
        place = (run, certificate, layer, head)
        word = STATES[int(self.state[place])]
        reason = int(self.reason[place])
        return word if reason < 0 else f"{word}: {self.reasons[reason]}"
