"""Channel attention: softmax over the channels of a head, with tokens met only inside products."""

from abc import abstractmethod

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from sandbox.attention.family import AttentionModule
from sandbox.foundations.probes import Probe


def without_hidden(
    x: Float[Tensor, "batch head token d_head"], visible: Bool[Tensor, "batch token"] | None
) -> Float[Tensor, "batch head token d_head"]:
    """The tokens with zeros at hidden ones, which then add nothing to a sum over tokens."""
    return x if visible is None else x.masked_fill(~visible[:, None, :, None], 0.0)


class ChannelAttention(AttentionModule):
    """V softmax(affinity of the channels of Q and K)^T over the visible tokens."""

    def __init__(self, d_head: int) -> None:
        super().__init__(d_head)
        self.channel_weights = Probe()  # (batch, head, channel, channel), rows sum to 1

    @abstractmethod
    def affinity(
        self, query: Float[Tensor, "batch head token d_head"], key: Float[Tensor, "batch head token d_head"]
    ) -> Float[Tensor, "batch head d_head d_head"]:
        """Scores of the query's channels with the key's; hidden tokens are zero in both."""

    def forward(
        self,
        query: Float[Tensor, "batch head token d_head"],
        key: Float[Tensor, "batch head token d_head"],
        value: Float[Tensor, "batch head token d_head"],
        visible: Bool[Tensor, "batch token"] | None,
        scores: Probe,
        weights: Probe,
    ) -> Float[Tensor, "batch head token d_head"]:
        raw = self.affinity(without_hidden(query, visible), without_hidden(key, visible))
        mixed: Tensor = value @ self.channel_weights(torch.softmax(raw, dim=-1)).transpose(-2, -1)
        return mixed
