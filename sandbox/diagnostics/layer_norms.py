"""Layer norms: how much each one can stretch a token, and whether the contraction condition holds."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import nn

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.replay import module_of, parts_of, replay
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.layer_norm import layer_norm_jacobian, layer_norm_norm_bound
from sandbox.models.placement.family import Block

NO_NORMS = NotApplicable("No sublayer of this model has a layer norm, so there is nothing to contract.")
TITLES = {"norm_attention": "attention", "norm_feed_forward": "feed-forward"}


@Diagnostic.variants.register("layer norms")
@dataclass(frozen=True, kw_only=True)
class LayerNorms(Diagnostic):
    """|gamma|_inf / sigma and the Jacobian's norm of every sublayer's layer norm, at its worst token."""

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

    sequences: int = knob(
        16, "Sequences", low=1, high=64, step=1, help="How many probe sequences are read.", expert=True
    )

    def read(self, view: SnapshotView) -> Answer:
        """Per layer and sublayer: the largest bound, the norm at that token, and 1 where it contracts."""
        module = module_of(view)
        if isinstance(module, NotApplicable):
            return module
        norms = {
            f"{name}.{part}": norm
            for name, block in parts_of(module, Block)
            for part, norm in block.named_children()
            if part in TITLES and isinstance(norm, nn.LayerNorm)
        }
        if not norms:
            return NO_NORMS
        n_samples = min(self.sequences, len(view.probe.tokens))
        replayed = replay(view, n_samples)
        if isinstance(replayed, NotApplicable):
            return replayed
        layers = list(dict.fromkeys(name.rpartition(".")[0] for name in norms))
        parts = dict.fromkeys(name.rpartition(".")[2] for name in norms)
        columns: dict[str, np.ndarray] = {}
        for part in parts:
            table = np.full((3, len(view.seeds), len(layers), 1), np.nan)
            for run, found in enumerate(replayed):
                for layer, name in enumerate(layers):
                    key = f"{name}.{part}"
                    tokens = found[f"{key}:input"][view.probe.visible[:n_samples]]
                    gain = view.weights.get(f"{key}.weight")
                    table[:, run, layer, 0] = _worst(
                        tokens, np.ones(tokens.shape[-1]) if gain is None else gain[run], norms[key].eps
                    )
            title = TITLES[part]
            columns |= {f"{title} bound": table[0], f"{title} norm there": table[1]}
            columns[f"{title} contracts"] = table[2]
        return PerHead(
            columns=columns,
            unit=self.unit,
            log=True,
            units={name: "1 if below 1" for name in columns if name.endswith("contracts")},
            linear=tuple(name for name in columns if name.endswith("contracts")),
            per="layer",
            provenance=Provenance(
                precision="float64, of weights trained in float32",
                method="largest |gamma|_inf / sigma over the tokens; the spectral norm of J at that token",
                sample_size=n_samples,
                exactness="exact" if n_samples == len(view.probe.tokens) else "sampled",
                note=f"{n_samples} of {len(view.probe.tokens)} probe sequences, visible tokens only",
            ),
        )


def _worst(tokens: np.ndarray, gain: np.ndarray, epsilon: float) -> tuple[float, float, float]:
    """The largest bound, the exact norm at its token, and 1 where the bound is below 1; NaN where broken."""
    if not np.isfinite(tokens).all() or not np.isfinite(gain).all():
        return float("nan"), float("nan"), float("nan")
    bounds = layer_norm_norm_bound(tokens, gain, epsilon)
    place = int(bounds.argmax())
    exact = np.linalg.norm(layer_norm_jacobian(tokens[place], gain, epsilon), 2)
    return float(bounds[place]), float(exact), float(bounds[place] < 1)
