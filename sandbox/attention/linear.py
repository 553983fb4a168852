"""Linear attention: softmax's kernel is replaced by a product of features, summed over keys once."""

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import elu

from sandbox.attention.channels import without_hidden
from sandbox.attention.family import AttentionModule, Mechanism
from sandbox.foundations.probes import Probe

SMALLEST_SUM = 1e-6  # of the weights of a row; the published code adds it


class LinearAttention(AttentionModule):
    """phi(Q) (phi(K)^T V) / (phi(Q) sum_j phi(k_j)), phi(x) = elu(x) + 1, over the visible keys."""

    def forward(
        self,
        query: Float[Tensor, "batch head token d_head"],
        key: Float[Tensor, "batch head token d_head"],
        value: Float[Tensor, "batch head token d_head"],
        visible: Bool[Tensor, "batch token"] | None,
        scores: Probe,
        weights: Probe,
    ) -> Float[Tensor, "batch head token d_head"]:
        query, key = elu(query) + 1, without_hidden(elu(key) + 1, visible)
        row_sum = (query @ key.sum(dim=-2).unsqueeze(-1)).clamp_min(SMALLEST_SUM)
        if weights.watched:  # the rows that are never formed otherwise
            weights(query @ key.transpose(-2, -1) / row_sum)
        return query @ (key.transpose(-2, -1) @ value) / row_sum


@Mechanism.variants.register("linear")
@dataclass(frozen=True, kw_only=True)
class Linear(Mechanism):
    """Linear transformer, both directions (Katharopoulos et al. 2020, arXiv 2006.16236, Eq. 5)."""

    title: ClassVar[str] = "Linear attention"
    sentence: ClassVar[str] = (
        "Weighs keys by a product of positive features instead of an exponential, so that all keys can be "
        "summed up once."
    )
    equation: ClassVar[str] = (
        r"A_i = \frac{\phi(q_i)^\top \sum_j \phi(k_j) v_j^\top}{\phi(q_i)^\top \sum_j \phi(k_j)},\quad "
        r"\phi(x) = \mathrm{elu}(x) + 1"
    )
    source: ClassVar[str] = "Katharopoulos et al., arXiv 2006.16236, Eq. 5 to 7"
    certainty: ClassVar[str] = "A: stated by the paper and its official code"
    our_reading: ClassVar[str] = (
        "The published code adds 1e-6 to the denominator; here it is at least 1e-6, so that rows sum to one. "
        "Diagnostics see the token-by-token weights that the sums imply."
    )
    scaled: ClassVar[bool] = False

    def build(self, d_head: int, n_heads: int, layer: int) -> AttentionModule:
        """Linear attention over all visible keys; it has no scale."""
        return LinearAttention(d_head)
