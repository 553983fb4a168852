"""Layer norms: how much each one can stretch a token, and whether the contraction condition holds."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.replay import module_of, parts_of, replay
from sandbox.diagnostics.sublayers import TITLES, gain_of, normalization_of
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.layer_norm import layer_norm_norm_bound, steepest_layer_norm
from sandbox.models.placement.family import Block

NO_NORMS = NotApplicable("No sublayer of this model has a norm, so there is nothing to contract.")
WORDS = ("bound", "norm", "contracts")


@Diagnostic.variants.register("layer norms")
@dataclass(frozen=True, kw_only=True)
class LayerNorms(Diagnostic):
    """|gamma|_inf / sigma and the Jacobian's norm of every sublayer's norm, at the worst tokens."""

    title: ClassVar[str] = "Layer norms and contraction"
    sentence: ClassVar[str] = (
        "Below 1 everywhere the layer norms alone shrink every change; a token of little spread makes its "
        "norm steep."
    )
    equation: ClassVar[str] = (
        r"J = \mathrm{diag}(\gamma)/\sigma\,(I - 11^\top/d - \hat x \hat x^\top/d),\quad "
        r"|J| \leq |\gamma|_\infty/\sigma \leq \rho < 1"
    )
    unit: ClassVar[str] = "norm of J"
    source: ClassVar[str] = "Emadi, arXiv 2602.18849 (LayerNorm geometry)"
    certainty: ClassVar[str] = "B: the Jacobian and its bound; D: the paper's own condition, untested"
    our_reading: ClassVar[str] = (
        "The condition is sufficient, for the product of layer norms alone, and is read on the probe tokens."
    )
    cost: ClassVar[str] = "costly"
    usual_ms: ClassVar[float] = 3

    sequences: int = knob(
        16, "Sequences", low=1, high=64, step=1, help="How many probe sequences are read.", expert=True
    )

    def read(self, view: SnapshotView) -> Answer:
        """Per layer and sublayer: the largest bound and norm, 1 where it contracts; the product so far."""
        module = module_of(view)
        if isinstance(module, NotApplicable):
            return module
        norms = {
            (layer, part): (f"{name}.norm_{part}", kind)
            for layer, (name, block) in enumerate(parts_of(module, Block))
            for part in TITLES
            if (kind := normalization_of(getattr(block, f"norm_{part}"))) is not None
        }
        if not norms:
            return NO_NORMS
        n_samples = min(self.sequences, len(view.probe.tokens))
        replayed = replay(view, n_samples)
        if isinstance(replayed, NotApplicable):
            return replayed
        shape = (len(view.seeds), 1 + max(layer for layer, _ in norms), 1)
        columns = {f"{t} {word}": np.full(shape, np.nan) for t in TITLES.values() for word in WORDS}
        product = np.ones(shape[0])
        columns["product so far"] = np.full(shape, np.nan)
        for (layer, part), (name, (epsilon, centred)) in norms.items():
            for run, found in enumerate(replayed):
                tokens = found[f"{name}:input"][view.probe.visible[:n_samples]]
                gain = gain_of(view, name, run, tokens.shape[-1])
                if not np.isfinite(tokens).all() or not np.isfinite(gain).all():
                    product[run] = np.nan
                    continue
                bound = float(layer_norm_norm_bound(tokens, gain, epsilon, centred=centred).max())
                norm = steepest_layer_norm(tokens, gain, epsilon, centred=centred)
                product[run] *= bound
                for word, value in zip(WORDS, (bound, norm, float(bound < 1)), strict=True):
                    columns[f"{TITLES[part]} {word}"][run, layer, 0] = value
            columns["product so far"][:, layer, 0] = product
        return PerHead(
            columns=columns,
            unit=self.unit,
            log=True,
            units={name: "1 if below 1" for name in columns if name.endswith("contracts")},
            linear=tuple(name for name in columns if name.endswith("contracts")),
            per="layer",
            provenance=Provenance(
                precision="float64, of weights trained in float32",
                method="largest |gamma|_inf / sigma, and the largest spectral norm of J, over the tokens",
                sample_size=n_samples,
                exactness="exact" if n_samples == len(view.probe.tokens) else "sampled",
                note=(
                    f"{n_samples} of {len(view.probe.tokens)} probe sequences, visible tokens only; the "
                    "product is of the bounds of all norms up to the layer"
                ),
            ),
        )
