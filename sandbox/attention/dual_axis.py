"""Dual attention: layers take turns to look within windows of tokens and between channels."""

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from sandbox.attention.channels import ChannelAttention
from sandbox.attention.family import AttentionModule, Mechanism
from sandbox.attention.window import WindowAttention
from sandbox.foundations.knobs import knob


class ChannelGroupAttention(ChannelAttention):
    """V softmax(Q^T K / sqrt(d_head))^T over the visible tokens; each head is one group of channels."""

    def affinity(
        self, query: Float[Tensor, "batch head token d_head"], key: Float[Tensor, "batch head token d_head"]
    ) -> Float[Tensor, "batch head d_head d_head"]:
        return query.transpose(-2, -1) @ key * self.scale


@Mechanism.variants.register("dual-axis")
@dataclass(frozen=True, kw_only=True)
class DualAxis(Mechanism):
    """DaViT's spatial window and channel group attention (Ding et al. 2022, arXiv 2204.03645)."""

    title: ClassVar[str] = "Dual attention (windows, channels)"
    sentence: ClassVar[str] = (
        "Every other layer lets channels look at channels over the whole sequence, the others let tokens "
        "look within a window."
    )
    equation: ClassVar[str] = (
        r"A = V\,\mathrm{softmax}(Q^\top K / \sqrt{d})^\top \text{ in turn with } A_i = \sum_{j \in W(i)} "
        r"P_{ij} V_j"
    )
    source: ClassVar[str] = "Ding et al., arXiv 2204.03645, section 3"
    certainty: ClassVar[str] = "B: the paper's formula; its code gives Q, K and V other names"
    our_reading: ClassVar[str] = (
        "A head is a channel group, Q meets K and weighs V as in the formula (the published code lets K meet "
        "V and weighs Q). DaViT begins with windows; here the first layer attends between channels by "
        "default, since a model of one layer would otherwise not differ from plain windows. No convolutional "
        "position encoding."
    )
    no_token_weights: ClassVar[str] = (
        "Channel group attention weighs channels, not tokens, and no other layer stands here; with two "
        "layers the windows have rows of token weights."
    )

    window: int = knob(4, "Window", low=1, high=4096, step=1, help="Tokens per window in window layers.")
    first: str = knob(
        "channels",
        "First layer",
        options=("channels", "windows"),
        help="What the first layer does; layers alternate. DaViT begins with windows.",
        expert=True,
    )

    def build(self, d_head: int, n_heads: int, layer: int) -> AttentionModule:
        """Channel group attention in every other layer, windows in between."""
        channels = (layer % 2 == 0) == (self.first == "channels")
        return ChannelGroupAttention(d_head) if channels else WindowAttention(d_head, self.window)
