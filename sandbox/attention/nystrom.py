"""Nystrom attention: a few landmarks stand for the sequence, and softmax is rebuilt from them."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import pad

from sandbox.attention.channels import without_hidden
from sandbox.attention.family import AttentionModule, Mechanism
from sandbox.attention.restricted import softmax_over
from sandbox.attention.softmax import SoftmaxAttention
from sandbox.foundations.errors import InvalidKnob
from sandbox.foundations.knobs import knob
from sandbox.foundations.probes import Probe


def segment_means(
    visible: Bool[Tensor, "batch token"], n_landmarks: int, dtype: torch.dtype
) -> tuple[Float[Tensor, "batch landmark token"], Bool[Tensor, "batch landmark"]]:
    """Matrices that average the visible tokens of each segment, and which segments hold a token.

    The r-th of n visible tokens belongs to segment floor(r m / n), so that padding moves no border.
    """
    rank = visible.cumsum(dim=-1) - 1
    length = visible.sum(dim=-1, keepdim=True).clamp_min(1)
    segment = rank * n_landmarks // length
    numbers = torch.arange(n_landmarks, device=visible.device)
    member = (segment[:, None, :] == numbers[:, None]) & visible[:, None, :]
    size = member.sum(dim=-1, keepdim=True)
    return member.to(dtype) / size.clamp_min(1), size[..., 0] > 0


def iterated_inverse(
    matrix: Float[Tensor, "*batch landmark landmark"], steps: int
) -> Float[Tensor, "*batch landmark landmark"]:
    """Approximate pseudo-inverse of row-stochastic matrices by a matrix iteration of order three.

    Starts at A^T / (largest column sum of that matrix) (Xiong et al. 2021, arXiv 2102.03902, Eq. 11).
    """
    identity = torch.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    largest = matrix.sum(dim=-2).amax(dim=-1)[..., None, None]
    z = matrix.transpose(-2, -1) / largest
    for _ in range(steps):
        az = matrix @ z
        z = z / 4 @ (13 * identity - az @ (15 * identity - az @ (7 * identity - az)))
    return z


def banded(kernel: Float[Tensor, "head tap"], n_tokens: int) -> Float[Tensor, "head token token"]:
    """The convolution by each head's kernel, zeros beyond the ends, as a matrix: M[i, j] = k[j - i + c]."""
    reach = n_tokens - 1 - kernel.shape[-1] // 2  # negative: the kernel is longer than the sequence reaches
    by_offset = pad(kernel, (reach, reach + 1))  # offsets -(n - 1) to n - 1, and one zero
    rows = by_offset[:, None, :].expand(-1, n_tokens, -1).flatten(1)
    # Read in lines that are one shorter, each row stands one place further right than the row above.
    return rows[:, : n_tokens * (2 * n_tokens - 1)].unflatten(1, (n_tokens, -1))[..., n_tokens - 1 :]


class NystromAttention(SoftmaxAttention):
    """softmax(Q Km^T) pinv(softmax(Qm Km^T)) softmax(Qm K^T) V, Qm and Km means of segments."""

    def __init__(self, d_head: int, n_heads: int, n_landmarks: int, steps: int, taps: int | None) -> None:
        super().__init__(d_head)
        self.n_landmarks, self.steps = n_landmarks, steps
        # One kernel per head, shared by its channels. As a Linear it starts like PyTorch's own convolution:
        # uniform within 1 / sqrt(taps).
        self.convolution = None if taps is None else nn.Linear(taps, n_heads, bias=False)

    def forward(
        self,
        query: Float[Tensor, "batch head token d_head"],
        key: Float[Tensor, "batch head token d_head"],
        value: Float[Tensor, "batch head token d_head"],
        visible: Bool[Tensor, "batch token"] | None,
        scores: Probe,
        weights: Probe,
    ) -> Float[Tensor, "batch head token d_head"]:
        n_tokens = query.shape[-2]
        if self.n_landmarks >= n_tokens:
            return super().forward(query, key, value, visible, scores, weights)
        if visible is None:
            visible = torch.ones(1, n_tokens, dtype=torch.bool, device=query.device)
        means, filled = segment_means(visible, self.n_landmarks, query.dtype)
        some_queries, some_keys = means[:, None] @ query, means[:, None] @ key
        columns = filled[:, None, None, :]
        to_landmarks = softmax_over(query @ some_keys.transpose(-2, -1) * self.scale, columns)
        core = softmax_over(some_queries @ some_keys.transpose(-2, -1) * self.scale, columns)
        # An empty segment is a block of its own, so that it reaches neither the inverse nor its start.
        own = torch.eye(self.n_landmarks, dtype=core.dtype, device=core.device)
        core = torch.where(filled[:, None, :, None], core, own)
        from_landmarks = softmax_over(
            some_queries @ key.transpose(-2, -1) * self.scale, visible[:, None, None, :]
        )
        return to_landmarks @ iterated_inverse(core, self.steps) @ (from_landmarks @ value)

    def skip(
        self, value: Float[Tensor, "batch head token d_head"], visible: Bool[Tensor, "batch token"] | None
    ) -> Float[Tensor, "batch head token d_head"] | None:
        """The depth-wise convolution of V along the tokens."""
        if self.convolution is None:
            return None
        return banded(self.convolution.weight, value.shape[-2]) @ without_hidden(value, visible)


@Mechanism.variants.register("nystrom")
@dataclass(frozen=True, kw_only=True)
class Nystrom(Mechanism):
    """Nystromformer's attention (Xiong et al. 2021, arXiv 2102.03902, Eq. 13)."""

    title: ClassVar[str] = "Nystrom attention"
    sentence: ClassVar[str] = (
        "Approximates softmax attention through a few landmarks, each the mean of a segment of the sequence."
    )
    equation: ClassVar[str] = (
        r"A = \mathrm{softmax}\!\big(\tfrac{Q \tilde K^\top}{\sqrt d}\big)\,"
        r"\mathrm{softmax}\!\big(\tfrac{\tilde Q \tilde K^\top}{\sqrt d}\big)^{+}\,"
        r"\mathrm{softmax}\!\big(\tfrac{\tilde Q K^\top}{\sqrt d}\big)\, V + \mathrm{conv}(V)"
    )
    source: ClassVar[str] = "Xiong et al., arXiv 2102.03902, Eq. 13, 14 and Algorithm 1"
    certainty: ClassVar[str] = (
        "A: stated by the paper and its official code; D: preconditioned before the skip"
    )
    our_reading: ClassVar[str] = (
        "The inverse starts from each sample's and head's own largest column sum; the public code takes the "
        "batch's, which couples samples. Segments split the visible tokens evenly, so padding moves nothing. "
        "Output conditioning comes before the convolution is added. With as many landmarks as tokens it is "
        "softmax itself, as in the public code."
    )
    no_token_weights: ClassVar[str] = (
        "Nystrom attention never forms token-by-token weights, and those it implies can be negative."
    )

    landmarks: int = knob(
        4, "Landmarks", low=1, high=512, step=1, help="From the sequence's length on it is exact softmax."
    )
    steps: int = knob(6, "Inverse steps", low=1, high=20, step=1, marks=((6.0, "paper"),), expert=True)
    convolution: bool = knob(True, "Convolution of values", help="Adds a depth-wise convolution of V.")
    taps: int = knob(
        35, "Convolution kernel", low=1, high=65, step=2, help="An odd number.", marks=((35.0, "paper"),),
        expert=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.taps % 2 == 0:
            raise InvalidKnob(
                f"nystrom.taps (Convolution kernel) is {self.taps}; choose an odd number, which has a middle."
            )

    def build(self, d_head: int, n_heads: int, layer: int) -> AttentionModule:
        """Landmark attention, and one convolution kernel per head."""
        taps = self.taps if self.convolution else None
        return NystromAttention(d_head, n_heads, self.landmarks, self.steps, taps)
