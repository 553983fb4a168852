"""Expression: which tokens of one nested expression each head looks at, for the picture of its tree."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.probe import Probe
from sandbox.diagnostics.probe_answers import ProbeAnswers
from sandbox.diagnostics.rows import token_attention
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, Provenance, Table

NO_EXPRESSIONS = NotApplicable("The sequences of this task are no nested expressions, so they have no tree.")


@Diagnostic.variants.register("expression")
@dataclass(frozen=True, kw_only=True)
class Expression(Diagnostic):
    """Attention that each token of the deepest short probe expression receives, the mean over its queries."""

    title: ClassVar[str] = "Attention over an expression"
    sentence: ClassVar[str] = (
        "Which operators and numbers of one expression a head reads, drawn on the tree that has to be "
        "evaluated."
    )
    equation: ClassVar[str] = r"\bar P_k = \frac{1}{N}\sum_n P_{nk}"
    unit: ClassVar[str] = "attention received"
    source: ClassVar[str] = "Nangia & Bowman 2018, arXiv 1804.06028 (the expressions)"
    certainty: ClassVar[str] = "A: the mean of the columns of P"
    our_reading: ClassVar[str] = (
        "The deepest of the first 16 probe sequences that is short enough, the longest of several."
    )

    most_tokens: int = knob(
        40, "Tokens", low=4, high=512, step=1, help="The longest expression that is drawn.", expert=True
    )

    def read(self, view: SnapshotView) -> Answer:
        """Rows are the expression's tokens, the one column is the attention that they receive."""
        if not any(label.startswith("[") for label in view.probe.token_labels):
            return NO_EXPRESSIONS
        layers = token_attention(view)
        if isinstance(layers, NotApplicable):
            return layers
        place = deepest(view.probe, self.most_tokens)
        seen = view.probe.visible[place]
        received = []
        for weights in layers.weights:
            own = weights[:, place].astype(np.float64)  # run head query key
            queries = seen if own.shape[-2] == len(seen) else np.ones(own.shape[-2], dtype=np.bool_)
            received.append(own[:, :, queries][..., seen].mean(axis=-2))
        return Table(
            cells=np.stack(received, axis=1)[..., None].astype(np.float32),
            rows=view.probe.sequence(place),
            columns=("received",),
            unit=self.unit,
            provenance=Provenance(
                precision="float32",
                method="mean over the queries of one sequence",
                sample_size=int(seen.sum()),
                note=f"probe sequence {place}, class {view.probe.labels[place]}",
            ),
        )


def deepest(probe: Probe, most_tokens: int) -> int:
    """Place of the deepest expression of at most `most_tokens` tokens, else of the shortest one."""
    n_read = min(ProbeAnswers().sequences, len(probe.tokens))
    lengths = probe.visible[:n_read].sum(axis=1)
    if lengths.min() > most_tokens:
        return int(lengths.argmin())
    ranks = [
        (nesting(probe, row), int(lengths[row]), -row) if lengths[row] <= most_tokens else (-1, 0, 0)
        for row in range(n_read)
    ]
    return max(range(n_read), key=ranks.__getitem__)


def nesting(probe: Probe, row: int) -> int:
    """How many brackets are open at most."""
    tokens = probe.sequence(row)
    steps: Int[np.ndarray, " token"] = np.array(
        [t.startswith("[") - int(t == "]") for t in tokens], dtype=int
    )
    return int(steps.cumsum().max())
