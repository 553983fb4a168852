"""Restricted attention: softmax over those keys alone that the place of a query lets it see."""

from abc import abstractmethod

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from sandbox.attention.family import AttentionModule
from sandbox.foundations.probes import Probe


def softmax_over(
    raw: Float[Tensor, "*rows key"], seen: Bool[Tensor, "*#rows #key"]
) -> Float[Tensor, "*rows key"]:
    """Softmax over the seen keys, exactly 0 on the others; a row that sees no key is all zeros.

    Hidden scores become the lowest finite number, not minus infinity: a padded query that sees nothing
    then has a gradient of zero instead of NaN.
    """
    hidden = ~seen
    rows = torch.softmax(raw.masked_fill(hidden, torch.finfo(raw.dtype).min), dim=-1)
    return rows.masked_fill(hidden, 0.0)


class RestrictedAttention(AttentionModule):
    """softmax(Q K^T / sqrt(d_head)) V over the visible keys within reach."""

    def __init__(self, d_head: int) -> None:
        super().__init__(d_head)
        self.seen = Probe()  # (batch, query, key), for diagnostics that count visible keys

    @abstractmethod
    def reach(self, place: Int[Tensor, " token"]) -> Bool[Tensor, "query key"]:
        """True where a query may see a key, by their places in the sequence."""

    def forward(
        self,
        query: Float[Tensor, "batch head token d_head"],
        key: Float[Tensor, "batch head token d_head"],
        value: Float[Tensor, "batch head token d_head"],
        visible: Bool[Tensor, "batch token"] | None,
        scores: Probe,
        weights: Probe,
    ) -> Float[Tensor, "batch head token d_head"]:
        reach = self.reach(torch.arange(query.shape[-2], device=query.device))
        seen = reach.expand(len(query), -1, -1)
        if visible is not None:
            seen = seen & visible[:, None, :]
        seen = self.seen(seen)[:, None]  # batch 1 query key
        raw = scores(query @ key.transpose(-2, -1) * self.scale)
        mixed: Tensor = weights(softmax_over(raw, seen)) @ value
        return mixed
