"""Multi-head attention as a skeleton with slots: project, score, weigh, mix, condition, read out."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from sandbox.attention.family import Mechanism
from sandbox.conditioning.carried import Carrier
from sandbox.conditioning.output import OutputConditioning
from sandbox.conditioning.projection import ProjectionConditioning
from sandbox.conditioning.projection.family import CarriedCorrection
from sandbox.conditioning.query_key import QueryKeyNormalization
from sandbox.conditioning.query_key.qk_plain import PlainQueryKey
from sandbox.conditioning.temperature import Temperature
from sandbox.conditioning.temperature.sqrt_d import SqrtTemperature
from sandbox.foundations.probes import Probe

PROJECTIONS = ("query", "key", "value")


class MultiHeadAttention(Carrier):
    """One attention layer; the slots decide how projections, weights and outputs are computed.

    Parameters `w_query`, `w_key`, `w_value` (d_model out, d_model in) have no bias, as in the papers'
    theory; head h owns the output rows h d_head to (h + 1) d_head. `w_out` is a Linear without bias.
    The probes `query` and `key` see the projections, before `qk` normalizes them.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        mechanism: Mechanism,
        projection: ProjectionConditioning,
        output: OutputConditioning,
        layer: int = 0,
        qk: QueryKeyNormalization | None = None,
        temperature: Temperature | None = None,
    ) -> None:
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.w_query = nn.Linear(d_model, d_model, bias=False)
        self.w_key = nn.Linear(d_model, d_model, bias=False)
        self.w_value = nn.Linear(d_model, d_model, bias=False)
        self.correct_query = projection.build(d_model, n_heads, "query")
        self.correct_key = projection.build(d_model, n_heads, "key")
        self.correct_value = projection.build(d_model, n_heads, "value")
        self.query, self.key, self.value = Probe(), Probe(), Probe()
        normalization = PlainQueryKey() if qk is None else qk
        self.normalize_query = normalization.build(self.d_head, "query")
        self.normalize_key = normalization.build(self.d_head, "key")
        self.scale = (SqrtTemperature() if temperature is None else temperature).build(self.d_head)
        self.scores, self.weights = Probe(), Probe()
        self.scaled = mechanism.scaled
        self.mechanism = mechanism.build(self.d_head, n_heads, layer)
        self.condition_output = output.build()
        self.head_output = Probe()
        self.w_out = nn.Linear(d_model, d_model, bias=False)

    def forward(
        self, x: Float[Tensor, "batch token d_model"], visible: Bool[Tensor, "batch token"] | None
    ) -> Float[Tensor, "batch token d_model"]:
        query, key, value = (
            probe(self._heads(x @ correct(linear.weight).T))
            for probe, correct, linear in (
                (self.query, self.correct_query, self.w_query),
                (self.key, self.correct_key, self.w_key),
                (self.value, self.correct_value, self.w_value),
            )
        )
        query, key = self.normalize_query(query), self.normalize_key(key)
        if self.scaled:
            self.mechanism.scale = self.scale()
        mixed = self.mechanism(query, key, value, visible, self.scores, self.weights)
        conditioned = self.condition_output(mixed)
        skip = self.mechanism.skip(value, visible)
        if skip is not None:
            conditioned = conditioned + skip
        conditioned = self.head_output(conditioned)
        joined: Tensor = self.w_out(conditioned.transpose(1, 2).flatten(-2))
        return joined

    def _heads(self, x: Float[Tensor, "batch token d_model"]) -> Float[Tensor, "batch head token d_head"]:
        return x.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)

    def renewed(self, step: int) -> dict[str, Tensor]:
        """What the corrections carry, from the weights they correct."""
        return {
            f"correct_{which}.{name}": value
            for which in PROJECTIONS
            if isinstance(correct := getattr(self, f"correct_{which}"), CarriedCorrection)
            for name, value in correct.renewed(getattr(self, f"w_{which}").weight, step).items()
        }

    def projections(self) -> dict[str, Float[Tensor, "head d_model d_head"]]:
        """The corrected W_Q, W_K, W_V of each head, in the papers' orientation (tokens on the left)."""
        corrected = {
            "query": self.correct_query(self.w_query.weight),
            "key": self.correct_key(self.w_key.weight),
            "value": self.correct_value(self.w_value.weight),
        }
        return {
            name: torch.stack(weight.split(self.d_head)).transpose(-2, -1)
            for name, weight in corrected.items()
        }
