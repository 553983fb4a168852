"""The standard self-attention encoder, with slots for every conditioning."""

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from sandbox.attention import Mechanism
from sandbox.attention.skeleton import PROJECTIONS, MultiHeadAttention
from sandbox.attention.softmax import Softmax
from sandbox.conditioning.carried import settle
from sandbox.conditioning.output import OutputConditioning
from sandbox.conditioning.output.direct import DirectOutput
from sandbox.conditioning.projection import ProjectionConditioning
from sandbox.conditioning.projection.plain import PlainProjection
from sandbox.conditioning.query_key import QueryKeyNormalization
from sandbox.conditioning.query_key.qk_plain import PlainQueryKey
from sandbox.conditioning.temperature import Temperature
from sandbox.conditioning.temperature.sqrt_d import SqrtTemperature
from sandbox.conditioning.tokens import TokenConditioning
from sandbox.conditioning.tokens.plain_tokens import PlainTokens
from sandbox.foundations.errors import InvalidExperiment
from sandbox.foundations.knobs import knob
from sandbox.foundations.plain import slot
from sandbox.foundations.probes import Probe
from sandbox.foundations.seeding import torch_generator
from sandbox.initialization import Initialization
from sandbox.initialization.default import DefaultInitialization
from sandbox.initialization.family import Layer
from sandbox.models.family import Architecture, SequenceClassifier
from sandbox.models.placement import Placement
from sandbox.models.placement.family import Block
from sandbox.models.placement.pre_ln import PreLN
from sandbox.models.start import draw_default, untouched_global_randomness
from sandbox.tasks import Task


@Architecture.variants.register("encoder")
@dataclass(frozen=True, kw_only=True)
class Encoder(Architecture):
    """Transformer encoder with learned positions (Vaswani et al. 2017, arXiv 1706.03762, section 3)."""

    title: ClassVar[str] = "Self-attention encoder"
    sentence: ClassVar[str] = (
        "Layers of attention and feed-forward parts over learned token and position embeddings."
    )
    equation: ClassVar[str] = r"\mathrm{logits} = W\,\mathrm{readout}(\mathrm{blocks}(E[x_t] + P[t]))"
    source: ClassVar[str] = "Vaswani et al., arXiv 1706.03762, section 3"
    certainty: ClassVar[str] = "A: the standard definition"
    our_reading: ClassVar[str] = (
        "Projections have no bias, as in the papers' theory; no dropout; erf-GELU; embeddings start at "
        "N(0, 0.02^2), the custom since BERT (arXiv 1810.04805), not at PyTorch's N(0, 1)."
    )

    d_model: int = knob(32, "Width d_model", low=2, high=256, step=2)
    n_heads: int = knob(2, "Heads", low=1, high=16, step=1)
    n_layers: int = knob(1, "Layers", low=1, high=8, step=1)
    d_ff: int = knob(128, "Feed-forward width", low=1, high=1024, step=1, expert=True)
    embedding_std: float = knob(
        0.02,
        "Embedding scale",
        low=0.001,
        high=2.0,
        step=0.01,
        help="Standard deviation of token and position embeddings at the start; PyTorch's own 1 learns far "
        "later.",
        marks=((1.0, "PyTorch"),),
        expert=True,
    )
    readout: str = knob(
        "mean",
        "Read-out",
        options=("mean", "first", "last"),
        help="Which tokens the classifier sees: the mean of all visible ones, the first, or the last "
        "visible one.",
    )
    tokens: TokenConditioning = field(
        default_factory=PlainTokens, metadata=slot(TokenConditioning.variants, "plain-tokens")
    )
    placement: Placement = field(default_factory=PreLN, metadata=slot(Placement.variants, "pre-ln"))
    mechanism: Mechanism = field(default_factory=Softmax, metadata=slot(Mechanism.variants, "softmax"))
    projection: ProjectionConditioning = field(
        default_factory=PlainProjection, metadata=slot(ProjectionConditioning.variants, "plain")
    )
    qk: QueryKeyNormalization = field(
        default_factory=PlainQueryKey, metadata=slot(QueryKeyNormalization.variants, "qk-plain")
    )
    temperature: Temperature = field(
        default_factory=SqrtTemperature, metadata=slot(Temperature.variants, "sqrt-d")
    )
    output: OutputConditioning = field(
        default_factory=DirectOutput, metadata=slot(OutputConditioning.variants, "direct")
    )
    initialization: Initialization = field(
        default_factory=DefaultInitialization, metadata=slot(Initialization.variants, "default")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.d_model % self.n_heads:
            raise InvalidExperiment(
                f"Width {self.d_model} cannot be split over {self.n_heads} heads; choose a width that "
                f"is a multiple "
                "of the number of heads."
            )
        if not self.mechanism.scaled and self.temperature.kind != SqrtTemperature.kind:
            raise InvalidExperiment(
                f"Temperature does nothing here: the scores of {self.mechanism.kind!r} have no scale; choose "
                f"{SqrtTemperature.kind!r} or another mechanism."
            )

    def build(self, task: Task, seed: int, reference_start: bool = False) -> SequenceClassifier:
        """The module with the default start, then what the initialization overwrites."""
        with untouched_global_randomness():
            model = EncoderModel(self, task)
        draw_default(model, seed, self.embedding_std)
        layers = [
            Layer(block.attention, block.feed_forward, partial(torch_generator, seed, "attention", index))
            for index, block in enumerate(model.layers())
        ]
        self.initialization.overwrite(model, layers)
        settle(model)
        return model


class EncoderModel(SequenceClassifier):
    """The encoder of one run."""

    def __init__(self, settings: Encoder, task: Task) -> None:
        super().__init__()
        self.pad_token, self.readout_of = task.pad_token, settings.readout
        self.tokens = nn.Embedding(task.vocab_size, settings.d_model)
        self.positions = nn.Embedding(task.n_tokens, settings.d_model)
        self.condition_tokens = settings.tokens.build()
        self.embedding, self.readout, self.logits = Probe(), Probe(), Probe()
        self.blocks = nn.ModuleList(_block(settings, layer) for layer in range(settings.n_layers))
        self.final = settings.placement.build_final(settings.d_model)
        self.classify = nn.Linear(settings.d_model, task.n_classes)

    def forward(self, tokens: Int[Tensor, "batch token"]) -> Float[Tensor, "batch class"]:
        visible = None if self.pad_token is None else tokens != self.pad_token
        embedded = self.tokens(tokens) + self.positions.weight[: tokens.shape[-1]]
        x = self.embedding(self.condition_tokens(embedded, visible))
        for block in self.blocks:
            x = block(x, visible)
        logits: Tensor = self.logits(self.classify(self.readout(self._read(self.final(x), visible))))
        return logits

    def _read(
        self, x: Float[Tensor, "batch token d_model"], visible: Bool[Tensor, "batch token"] | None
    ) -> Float[Tensor, "batch d_model"]:
        if self.readout_of == "first":
            return x[:, 0]
        if visible is None:
            return x.mean(dim=1) if self.readout_of == "mean" else x[:, -1]
        length = visible.sum(dim=1, keepdim=True)
        if self.readout_of == "mean":
            return (x * visible[..., None]).sum(dim=1) / length
        last = (length - 1)[..., None].expand(-1, -1, x.shape[-1])
        return x.gather(1, last).squeeze(1)

    def layers(self) -> list[Block]:
        """The layers from the first to the last."""
        return [module for module in self.blocks if isinstance(module, Block)]

    def attentions(self) -> list[MultiHeadAttention]:
        """The attention of each layer."""
        return [module for module in self.modules() if isinstance(module, MultiHeadAttention)]

    def projections(self) -> dict[str, Float[Tensor, "layer head d_model d_head"]]:
        layers = [attention.projections() for attention in self.attentions()]
        return {name: torch.stack([layer[name] for layer in layers]) for name in PROJECTIONS}


def _block(settings: Encoder, layer: int) -> nn.Module:
    attention = MultiHeadAttention(
        settings.d_model,
        settings.n_heads,
        settings.mechanism,
        settings.projection,
        settings.output,
        layer,
        settings.qk,
        settings.temperature,
    )
    feed_forward = nn.Sequential(
        nn.Linear(settings.d_model, settings.d_ff), nn.GELU(), nn.Linear(settings.d_ff, settings.d_model)
    )
    return settings.placement.build(settings.d_model, settings.n_layers, attention, feed_forward)
