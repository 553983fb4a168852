"""Residual geometry: how far the stream, the attention layers and the blocks can carry a small change."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sandbox.diagnostics.family import Diagnostic, SnapshotView
from sandbox.diagnostics.heads import Heads, softmax_heads
from sandbox.diagnostics.operators import METHOD, derivative_norm, function_of
from sandbox.diagnostics.replay import weights_of
from sandbox.diagnostics.sublayers import replayed_blocks
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.knobs import knob
from sandbox.foundations.readings import Answer, PerHead, Provenance
from sandbox.mathematics.block_norm import block_norm, multi_head_bound
from sandbox.mathematics.condition import singular_values
from sandbox.mathematics.jacobian_factors import attention_weights
from sandbox.mathematics.theta import theta_bracket

NO_BOUND = "The multi-head bound is proved for softmax heads whose outputs go unchanged into W_O."
AGREEMENT = 1e-6


@Diagnostic.variants.register("residual geometry")
@dataclass(frozen=True, kw_only=True)
class ResidualGeometry(Diagnostic):
    """Norm of the stream, the multi-head bound beside the operator's measured norm, and residual gains."""

    title: ClassVar[str] = "Geometry of the residual stream"
    sentence: ClassVar[str] = (
        "How far a small change can grow in one layer: a gain near 1 with a small distance from the identity "
        "is the additive path of pre-LN, which post-LN does not have."
    )
    equation: ClassVar[str] = (
        r"|X|_{\infty,\mathrm{rms}} = \max_i |x_i|/\sqrt d,\quad L \leq |W_O| \sum_h (|W_V^h| + "
        r"(\theta_h/\tau)\,\Phi_h),\quad |J|,\ |J - I|"
    )
    unit: ClassVar[str] = "gain"
    source: ClassVar[str] = "Emadi, arXiv 2602.18849 (multi-head bound, residual geometry)"
    certainty: ClassVar[str] = "A: the bound's form; C: Phi_h, derived; lower estimates are measured"
    our_reading: ClassVar[str] = (
        "All norms are of max_i |x_i|; operator norms by power iteration, so from below; bound and operator "
        "at the same tokens, the largest over the samples."
    )
    cost: ClassVar[str] = "costly"
    usual_ms: ClassVar[float] = 93

    sequences: int = knob(
        2, "Sequences", low=1, high=16, step=1, help="How many probe sequences are read.", expert=True
    )

    def read(self, view: SnapshotView) -> Answer:
        """Per layer: "stream", "attention at least" and its bound, "block gain", "block minus identity"."""
        n_samples = min(self.sequences, len(view.probe.tokens))
        found_blocks = replayed_blocks(view, n_samples)
        if isinstance(found_blocks, NotApplicable):
            return found_blocks
        blocks, replayed = found_blocks
        table = _Table(len(view.seeds), len(blocks))
        for run, found in enumerate(replayed):
            if not np.isfinite(found["logits"]).all():
                continue
            weights = weights_of(view, run)
            for layer, (name, block) in enumerate(blocks):
                for sample in range(n_samples):
                    seen = view.probe.visible[sample]
                    stream, out = (found[f"{name}{part}"][sample, seen] for part in (":input", ".residual"))
                    table.largest("stream", run, layer, block_norm(out))
                    whole = function_of(block, name, weights, lambda part, x: part(x, None))
                    table.largest("block gain", run, layer, derivative_norm(whole, stream))
                    apart = function_of(block, name, weights, lambda part, x: part(x, None) - x)
                    table.largest("block minus identity", run, layer, derivative_norm(apart, stream))
                    tokens = found[f"{name}.attention:input"][sample, seen]
                    attention = function_of(
                        block.attention, f"{name}.attention", weights, lambda part, x: part(x, None)
                    )
                    table.largest("attention at least", run, layer, derivative_norm(attention, tokens))
        bound = _bounds(view, replayed, [f"{name}.attention" for name, _ in blocks], n_samples)
        if bound is not None:
            table.columns["attention bound"] = bound
        return PerHead(
            columns={name: values[..., None] for name, values in table.columns.items()},
            unit=self.unit,
            log=True,
            units={"stream": "max_i |x_i| / sqrt(d)"},
            per="layer",
            not_applicable={} if bound is not None else {"attention bound": NO_BOUND},
            provenance=Provenance(
                precision="float64, of weights trained in float32",
                method=f"{METHOD}; theta is the upper end of its bracket",
                sample_size=n_samples,
                exactness="estimated",
                note=f"{n_samples} of {len(view.probe.tokens)} probe sequences",
            ),
        )


@dataclass
class _Table:
    """Columns (run, layer) that keep the largest value seen; NaN where none was."""

    n_runs: int
    n_layers: int
    columns: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("stream", "attention at least", "block gain", "block minus identity"):
            self.columns[name] = np.full((self.n_runs, self.n_layers), np.nan)

    def largest(self, name: str, run: int, layer: int, value: float | np.ndarray) -> None:
        self.columns[name][run, layer] = np.fmax(self.columns[name][run, layer], float(value))


def _bounds(
    view: SnapshotView, replayed: list[dict[str, np.ndarray]], layers: list[str], n_samples: int
) -> np.ndarray | None:
    """The multi-head bound (run, layer), the largest over samples; None where it is not proved."""
    heads = softmax_heads(view, n_samples)
    if isinstance(heads, NotApplicable) or not _plain_outputs(view, heads, replayed, layers):
        return None
    n_runs, n_layers, n_heads, _ = heads.shape
    per_head = (n_runs, n_samples, n_layers, n_heads)
    theta, scale = np.full(per_head, np.nan), np.full(per_head, np.nan)
    radius = np.full((n_runs, n_samples, n_layers), np.nan)
    for head in heads.members:
        run, layer, place, sample = head.place
        weights = attention_weights(head.tokens, head.query, head.key, head.scale, head.mask)
        theta[run, sample, layer, place] = theta_bracket(weights, head.mask).upper.max()
        scale[run, sample, layer, place] = abs(head.scale)
        radius[run, sample, layer] = block_norm(head.tokens)
    norms = {
        name: singular_values(view.projections[name])[..., 0][:, None] for name in ("value", "query", "key")
    }
    out = np.stack([view.weights[f"{name}.w_out.weight"] for name in layers], axis=1)
    bound = multi_head_bound(
        np.broadcast_to(singular_values(out)[:, None, :, 0], radius.shape),
        np.broadcast_to(norms["value"], per_head),
        np.broadcast_to(norms["query"], per_head),
        np.broadcast_to(norms["key"], per_head),
        theta, scale, radius, out.shape[-1],
    )  # fmt: skip
    return np.where(np.isnan(bound).any(axis=1), np.nan, bound.max(axis=1))


def _plain_outputs(
    view: SnapshotView, heads: Heads, replayed: list[dict[str, np.ndarray]], layers: list[str]
) -> bool:
    """Whether what goes into W_O is P X W_V itself."""
    for head in heads.members:
        run, layer, place, sample = head.place
        weights = attention_weights(head.tokens, head.query, head.key, head.scale, head.mask)
        plain = weights @ head.tokens @ head.value
        recorded = replayed[run][f"{layers[layer]}.head_output"][sample, place, view.probe.visible[sample]]
        if np.abs(recorded - plain).max() > AGREEMENT * max(1.0, float(np.abs(plain).max())):
            return False
    return True
