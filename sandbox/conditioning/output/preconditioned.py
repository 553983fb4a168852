"""Preconditioned attention: every row of a head's output is scaled to unit length."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sandbox.conditioning.output.family import OutputConditioning
from sandbox.foundations.knobs import knob

EPSILON = 1e-8  # keeps a zero row zero (methods.md section 2)


class EquilibrateRows(nn.Module):
    """A to C A with C = diag(1 / max(|A_i|, eps)), C a constant of the backward pass if detached."""

    def __init__(self, differentiate: bool) -> None:
        super().__init__()
        self.differentiate = differentiate

    def forward(
        self, head_output: Float[Tensor, "batch head token d_head"]
    ) -> Float[Tensor, "batch head token d_head"]:
        basis = head_output if self.differentiate else head_output.detach()
        length = torch.linalg.vector_norm(basis, dim=-1, keepdim=True)
        return head_output / length.clamp_min(EPSILON)


@OutputConditioning.variants.register("preconditioned")
@dataclass(frozen=True, kw_only=True)
class Preconditioned(OutputConditioning):
    """out = C A with unit rows (Saratchandran, arXiv 2603.27153)."""

    title: ClassVar[str] = "Preconditioned attention"
    sentence: ClassVar[str] = (
        "Scales every token's head output to length one, a diagonal preconditioner from the left."
    )
    equation: ClassVar[str] = r"A \to C A,\quad C_{ii} = 1 / \max(\|A_i\|_2, \epsilon)"
    source: ClassVar[str] = "Saratchandran, arXiv 2603.27153"
    certainty: ClassVar[str] = "B: two accounts agree; D: the theorem behind it"
    our_reading: ClassVar[str] = (
        "C is not differentiated, as in the one public implementation; the other reading is a knob."
    )

    differentiate: bool = knob(
        False,
        "Differentiate the preconditioner",
        help="Off: gradients see C as a constant. On: they pass through the row lengths too.",
        expert=True,
    )

    def build(self) -> nn.Module:
        """Row equilibration, detached or not."""
        return EquilibrateRows(self.differentiate)
