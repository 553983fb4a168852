"""The visual model: one query, two dimensions, so that everything it does can be drawn as it is."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.errors import InvalidExperiment
from sandbox.foundations.knobs import knob
from sandbox.foundations.probes import Probe
from sandbox.foundations.seeding import torch_generator
from sandbox.models.family import Architecture, SequenceClassifier
from sandbox.models.start import untouched_global_randomness
from sandbox.tasks import Task

RMS_EPSILON = 1e-5  # added to the root mean square, not under the root (methods.md section 5)
TABLE_ROWS = 2048  # feed-forward weights come from a table that does not depend on the width
ONE_QUERY = "the visual model has one learned query and no key matrix; the toggle lives in the encoder"


def rms_normalize(x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
    """x / (rms(x) + 1e-5), without a gain."""
    return x / (x.pow(2).mean(dim=-1, keepdim=True).sqrt() + RMS_EPSILON)


@Architecture.variants.register("visual model")
@dataclass(frozen=True, kw_only=True)
class VisualModel(Architecture):
    """One-query attention and a feed-forward part (Odonnat, Bouaziz & Cabannes, arXiv 2410.24050)."""

    title: ClassVar[str] = "Visual model (one query)"
    sentence: ClassVar[str] = (
        "A transformer small enough to draw: tokens, attention and classes live in the plane."
    )
    equation: ClassVar[str] = (
        r"z_t = \mathrm{RMS}(E[x_t]+P[t]),\; a = \mathrm{softmax}(q^\top z/\sqrt{d}),\; \xi = \sum_t "
        r"a_t V z_t,\;"
        r" h = \xi + W_2\,\mathrm{gelu}(W_1 \mathrm{RMS}(\xi) + b_1) + b_2,\; \mathrm{logits} = E h"
    )
    source: ClassVar[str] = "Odonnat, Bouaziz & Cabannes, arXiv 2410.24050, section 2"
    certainty: ClassVar[str] = "A: stated by the paper and its official code"

    slots_without_effect: ClassVar[dict[str, NotApplicable]] = {
        "tokens": NotApplicable(
            "Token conditioning does nothing here: the visual model normalizes its embeddings one by one."
        ),
        "qk": NotApplicable(f"Query and key normalization does nothing here: {ONE_QUERY}."),
        "temperature": NotApplicable("The temperature is fixed here: the visual model divides by sqrt(d)."),
        "projection": NotApplicable(f"Projection conditioning does nothing here: {ONE_QUERY}."),
        "output": NotApplicable(f"Output conditioning does nothing here: {ONE_QUERY}."),
        "initialization": NotApplicable(f"Initialization of W_Q, W_K, W_V does nothing here: {ONE_QUERY}."),
        "placement": NotApplicable(
            "Normalization placement does nothing here: the visual model has no residual around attention."
        ),
        "mechanism": NotApplicable(f"The attention mechanism is fixed here: {ONE_QUERY}."),
    }
    has_reference_start: ClassVar[bool] = True

    d_model: int = knob(2, "Width d", low=2, high=64, step=1, help="2 is drawn as it is.")
    d_ff: int = knob(32, "Feed-forward width", low=1, high=TABLE_ROWS, step=1)
    n_embeddings: int = knob(
        2,
        "Embeddings",
        low=2,
        high=64,
        step=1,
        help="At least the modulus; more leaves room for a larger modulus later.",
    )
    start_scale: float = knob(
        1.0,
        "Starting scale",
        low=0.01,
        high=10.0,
        step=0.1,
        expert=True,
        help="A factor on every starting weight; 1 is the published start.",
    )

    def build(self, task: Task, seed: int, reference_start: bool = False) -> SequenceClassifier:
        """Draw the weights in the published code's order; the reference start also uses its generator."""
        if self.n_embeddings < max(task.vocab_size, task.n_classes) or task.pad_token is not None:
            raise InvalidExperiment(
                f"The visual model has {self.n_embeddings} embeddings for tokens and classes alike, but "
                f"the task "
                f"has {task.vocab_size} tokens and {task.n_classes} classes"
                + (" and padding" if task.pad_token is not None else "")
                + "; raise the embeddings to the modulus, or use the encoder."
            )
        with untouched_global_randomness():
            model = VisualModelModule(self, task.n_tokens)
        generator = (
            torch.Generator().manual_seed(seed) if reference_start else torch_generator(seed, "weights")
        )
        model.draw(generator)
        if self.start_scale != 1.0:
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.mul_(self.start_scale)
        return model


class AttentionProbes(nn.Module):
    """Gives the one attention the probe names that the encoder's layers have."""

    def __init__(self) -> None:
        super().__init__()
        self.weights, self.values = Probe(), Probe()


class VisualModelModule(SequenceClassifier):
    """The visual model of one run."""

    def __init__(self, settings: VisualModel, n_tokens: int) -> None:
        super().__init__()
        d = settings.d_model
        self.tokens = nn.Parameter(torch.empty(settings.n_embeddings, d))
        self.positions = nn.Parameter(torch.empty(n_tokens, d))
        self.query = nn.Parameter(torch.empty(d))
        self.w_value = nn.Linear(d, d, bias=False)
        self.up, self.down = nn.Linear(d, settings.d_ff), nn.Linear(settings.d_ff, d)
        self.embedding, self.xi, self.logits = Probe(), Probe(), Probe()
        self.attention = AttentionProbes()

    def draw(self, generator: torch.Generator) -> None:
        """Fill the weights: table, E, P, then q and V uniform in +-1/sqrt(d)."""
        d, h = self.tokens.shape[1], self.up.out_features
        table = torch.rand(TABLE_ROWS, 2 * d + 2, generator=generator) * 2 - 1
        bound = 1 / math.sqrt(d)
        with torch.no_grad():
            self.tokens.normal_(generator=generator)
            self.positions.normal_(generator=generator)
            self.query.uniform_(-bound, bound, generator=generator)
            self.w_value.weight.uniform_(-bound, bound, generator=generator)
            self.up.weight.copy_(table[:h, :d] / math.sqrt(d))
            self.up.bias.copy_(table[:h, 2 * d] / math.sqrt(d))
            self.down.weight.copy_(table[:h, d : 2 * d].T / math.sqrt(h))
            self.down.bias.copy_(table[:d, 2 * d + 1] / math.sqrt(h))

    def forward(self, tokens: Int[Tensor, "batch token"]) -> Float[Tensor, "batch class"]:
        z = self.embedding(rms_normalize(self.tokens[tokens] + self.positions))
        scores = z @ self.query / math.sqrt(z.shape[-1])  # batch token
        weights = self.attention.weights(torch.softmax(scores, dim=-1)[:, None, None, :])
        values = self.attention.values(self.w_value(z))
        xi = self.xi((weights[:, 0] @ values)[:, 0])
        hidden = nn.functional.gelu(self.up(rms_normalize(xi)))
        logits: Tensor = self.logits((xi + self.down(hidden)) @ self.tokens.T)
        return logits

    def projections(self) -> dict[str, Float[Tensor, "layer head d_model d_head"]]:
        return {"value": self.w_value.weight.T[None, None]}
