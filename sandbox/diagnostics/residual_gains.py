"""Residual gains: what a sublayer does to the stream it is added to, for every placement of the norms."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.operators import METHOD, derivative_norm
from sandbox.diagnostics.replay import weights_of
from sandbox.diagnostics.sublayers import (
    TITLES,
    Sublayer,
    gain_of,
    normalization_of,
    replayed_blocks,
    sublayers,
)
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.deep_norm import update_budget, xavier_gain
from sandbox.mathematics.layer_norm import steepest_layer_norm
from sandbox.models.placement.family import Block

NO_BUDGET = (
    "The bound on an update is stated for sublayers that are normalized after they are added, as in post-LN "
    "and DeepNorm."
)
MEASURED = ("branch", "gain", "minus identity", "identity path")


@Diagnostic.variants.register("residual gains")
@dataclass(frozen=True, kw_only=True)
class ResidualGains(Diagnostic):
    """Norms of each sublayer's derivative, with its identity path, and DeepNorm's alpha, beta and budget."""

    title: ClassVar[str] = "Residual gains of the sublayers"
    sentence: ClassVar[str] = (
        "An identity path of exactly 1 lets a change through untouched, as in pre-LN; after a norm it is "
        "stretched or shrunk with everything else."
    )
    equation: ClassVar[str] = (
        r"J_{\mathrm{pre}} = I + J_f,\quad J_{\mathrm{post}} = J_{\mathrm{LN}}(I + J_f),\quad "
        r"J_{\mathrm{deep}} = J_{\mathrm{LN}}(\alpha I + J_f)"
    )
    unit: ClassVar[str] = "gain"
    source: ClassVar[str] = "Emadi, arXiv 2602.18849 (residual geometry); Wang et al., arXiv 2203.00555"
    certainty: ClassVar[str] = "A: the three forms, alpha and beta; C: the budget that they set to 1"
    our_reading: ClassVar[str] = (
        "Norms of max_i |x_i| by power iteration, so from below, the largest over the samples; the identity "
        "path is exact: alpha times the norm's own Jacobian at the sum, or 1. A gain v or w is the root mean "
        "square of a matrix over Xavier's."
    )
    cost: ClassVar[str] = "costly"
    usual_ms: ClassVar[float] = 47

    sequences: int = knob(
        1, "Sequences", low=1, high=16, step=1, help="How many probe sequences are read.", expert=True
    )

    def read(self, view: SnapshotView) -> Answer:
        """Per layer and sublayer: branch, gain, minus identity, identity path, alpha, beta and the budget."""
        n_samples = min(self.sequences, len(view.probe.tokens))
        found_blocks = replayed_blocks(view, n_samples)
        if isinstance(found_blocks, NotApplicable):
            return found_blocks
        blocks, replayed = found_blocks
        shape = (len(view.seeds), len(blocks), 1)
        measured = {f"{t} {word}": np.full(shape, np.nan) for t in TITLES.values() for word in MEASURED}
        for run, found in enumerate(replayed):
            if not np.isfinite(found["logits"]).all():
                continue
            weights = weights_of(view, run)
            for layer, (place, block) in enumerate(blocks):
                for sample in range(n_samples):
                    stream = found[f"{place}:input"][sample, view.probe.visible[sample]]
                    for sublayer, tokens in sublayers(block, place, weights, stream):
                        for word, value in _measured(view, run, sublayer, tokens).items():
                            column = measured[f"{TITLES[sublayer.part]} {word}"]
                            column[run, layer, 0] = np.fmax(column[run, layer, 0], value)
        columns = measured | _constants(view, blocks)
        additive = all(block.additive for _, block in blocks)
        return PerHead(
            columns=columns,
            unit=self.unit,
            log=True,
            units={name: "alpha" for name in columns if name == "alpha"}
            | {name: "gain over Xavier" for name in columns if name.endswith("beta")}
            | {name: "1 at DeepNorm's start" for name in columns if name.endswith("budget")},
            per="layer",
            not_applicable={f"{t} budget": NO_BUDGET for t in TITLES.values()} if additive else {},
            provenance=Provenance(
                precision="float64, of weights trained in float32",
                method=f"{METHOD}; the identity path by singular values",
                sample_size=n_samples,
                exactness="estimated",
                note=(
                    f"{n_samples} of {len(view.probe.tokens)} probe sequences; beta is the root mean square "
                    f"of v and w, (8 N)^(-1/4) = {(8 * len(blocks)) ** -0.25:.4g} at DeepNorm's start"
                ),
            ),
        )


def _measured(view: SnapshotView, run: int, sublayer: Sublayer, tokens: np.ndarray) -> dict[str, float]:
    """The norms of one sublayer at one sequence."""
    branch = derivative_norm(sublayer.branch(), tokens)
    gain = derivative_norm(sublayer.around(), tokens)
    if sublayer.block.additive:  # what is left without the stream is the branch itself
        return {"branch": branch, "gain": gain, "minus identity": branch, "identity path": 1.0}
    with torch.no_grad():
        before = sublayer.before_norm()(torch.from_numpy(tokens)).numpy()
    kind = normalization_of(sublayer.norm)
    steepest = 1.0
    if kind is not None:
        epsilon, centred = kind
        gains = gain_of(view, f"{sublayer.place}.norm_{sublayer.part}", run, tokens.shape[-1])
        steepest = steepest_layer_norm(before, gains, epsilon, centred=centred)
    return {
        "branch": branch,
        "gain": gain,
        "minus identity": derivative_norm(sublayer.minus_identity(), tokens),
        "identity path": sublayer.block.identity * steepest,
    }


def _constants(view: SnapshotView, blocks: list[tuple[str, Block]]) -> dict[str, np.ndarray]:
    """alpha of the placement, and beta and the budget of each sublayer, from the weights alone."""
    n_runs, n_layers = len(view.seeds), len(blocks)
    columns: dict[str, np.ndarray] = {}
    for part, title in TITLES.items():
        v, w = np.empty((2, n_runs, n_layers, 1))
        for layer, (place, block) in enumerate(blocks):
            names = Sublayer(block, place, part, {}).matrices
            v[:, layer, 0], w[:, layer, 0] = (xavier_gain(view.weights[name]) for name in names)
        columns[f"{title} beta"] = np.sqrt((v**2 + w**2) / 2)
        if not all(block.additive for _, block in blocks):
            columns[f"{title} budget"] = update_budget(v, w, blocks[0][1].identity, n_layers)
    sound = np.isfinite(columns["attention beta"])
    alpha = np.array([[block.identity] for _, block in blocks])
    return {"alpha": np.where(sound, alpha, np.nan), **columns}
