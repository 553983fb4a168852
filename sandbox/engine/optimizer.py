"""Optimizers: one update of all runs at once, each row of theta on its own."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from sandbox.foundations.idea import Idea
from sandbox.foundations.knobs import knob
from sandbox.foundations.registry import Registry

CLIP_EPSILON = 1e-6  # torch.nn.utils.clip_grad_norm_ adds it to the norm

Rows = Float[Tensor, "run parameter"]


@dataclass(frozen=True, kw_only=True)
class Optimizer(Idea, ABC):
    """Settings of one optimizer, its learning-rate schedule and its clipping."""

    variants: ClassVar[Registry["Optimizer"]] = Registry("optimizer")

    @abstractmethod
    def start(self, theta: Rows) -> dict[str, Rows]:
        """The moments before the first update: rows with the layout of `theta`."""

    @abstractmethod
    def update(self, theta: Rows, grad: Rows, state: dict[str, Rows], step: int, n_steps: int) -> None:
        """Update `theta` and `state` in place; `grad` is used up.

        `step` counts the updates already made, `n_steps` is where a decay ends.
        """


def clip_rows(grad: Rows, clip_norm: float) -> None:
    """Scale each row in place to a Euclidean norm of at most `clip_norm`; 0 leaves all as they are.

    Per run what torch.nn.utils.clip_grad_norm_ does for one model (Pascanu et al. 2013, Algorithm 1):
    a row that is not finite spoils itself alone.
    """
    if clip_norm > 0:
        norm = torch.linalg.vector_norm(grad, dim=1, keepdim=True)
        grad.mul_((clip_norm / (norm + CLIP_EPSILON)).clamp_(max=1.0))


@dataclass(frozen=True, kw_only=True)
class AdamFamily(Optimizer, ABC):
    """What Adam and AdamW share: the two moments, the schedule and the step."""

    learning_rate: float = knob(
        1e-3,
        "Learning rate",
        low=0.0,
        high=10.0,
        live=True,
        help="The size of a step; the peak where it warms up or decays.",
    )
    beta1: float = knob(
        0.9, "Beta 1", low=0.0, high=0.99999, expert=True, help="How much of the mean gradient a step keeps."
    )
    beta2: float = knob(
        0.999, "Beta 2", low=0.0, high=0.99999, expert=True, help="How much of the mean square a step keeps."
    )
    epsilon: float = knob(
        1e-8, "Epsilon", low=1e-12, high=0.1, expert=True, help="Added to the gradient's root mean square."
    )
    weight_decay: float = knob(0.0, "Weight decay", low=0.0, high=10.0, help="Pulls weights towards zero.")
    clip_norm: float = knob(
        0.0, "Clip norm", low=0.0, high=1e6, help="Longest gradient a run may have; 0 leaves gradients alone."
    )
    warmup_steps: int = knob(
        0, "Warm-up steps", low=0, high=1_000_000, help="Steps in which the learning rate rises to its peak."
    )
    decay: str = knob(
        "none",
        "Decay",
        options=("none", "linear"),
        help="linear: after warm-up, down to zero at the last step.",
    )

    def rate(self, step: int, n_steps: int) -> float:
        """The learning rate of the update after `step` updates.

        Our reading: the first warm-up step has 1/warmup_steps of the peak, so that no step is spent at zero;
        the last step before `n_steps` is the last with a rate above zero.
        """
        if step < self.warmup_steps:
            return self.learning_rate * (step + 1) / self.warmup_steps
        if self.decay == "linear":
            left = max(n_steps - step, 0) / max(n_steps - self.warmup_steps, 1)
            return self.learning_rate * min(left, 1.0)
        return self.learning_rate

    def start(self, theta: Rows) -> dict[str, Rows]:
        """Zero moments: the mean gradient and the mean square."""
        return {"exp_avg": torch.zeros_like(theta), "exp_avg_sq": torch.zeros_like(theta)}

    def update(self, theta: Rows, grad: Rows, state: dict[str, Rows], step: int, n_steps: int) -> None:
        """Make one step in place, without a copy to the host; `grad` becomes scratch space."""
        clip_rows(grad, self.clip_norm)
        rate = self.rate(step, n_steps)
        if self.weight_decay > 0:
            self.decay_weights(theta, grad, rate)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - self.beta1)
        square.mul_(self.beta2).addcmul_(grad, grad, value=1 - self.beta2)
        # The bias corrections sit in the two scalars: one pass over the rows less than dividing by them.
        correction = sqrt(1 - self.beta2 ** (step + 1))
        torch.sqrt(square, out=grad).add_(self.epsilon * correction)
        theta.addcdiv_(mean, grad, value=-rate * correction / (1 - self.beta1 ** (step + 1)))

    @abstractmethod
    def decay_weights(self, theta: Rows, grad: Rows, rate: float) -> None:
        """Apply the weight decay to `theta` or to `grad`, in place."""


@Optimizer.variants.register("adamw")
@dataclass(frozen=True, kw_only=True)
class AdamW(AdamFamily):
    """Adam with the weight decay taken out of the gradient."""

    weight_decay: float = knob(0.01, "Weight decay", low=0.0, high=10.0, help="Pulls weights towards zero.")

    title: ClassVar[str] = "AdamW"
    sentence: ClassVar[str] = (
        "Each weight moves by its mean gradient over the root of its mean square, and shrinks a little."
    )
    equation: ClassVar[str] = (
        r"\theta \leftarrow (1 - \eta w)\theta - \eta\, \hat m / (\sqrt{\hat v} + \epsilon)"
    )
    source: ClassVar[str] = "Loshchilov & Hutter, arXiv 1711.05101, Algorithm 2; decay times rate as in torch"
    certainty: ClassVar[str] = "A: compared with torch.optim.AdamW over 50 steps in float64"

    def decay_weights(self, theta: Rows, grad: Rows, rate: float) -> None:
        """theta <- (1 - rate * weight_decay) theta."""
        theta.mul_(1 - rate * self.weight_decay)


@Optimizer.variants.register("adam")
@dataclass(frozen=True, kw_only=True)
class Adam(AdamFamily):
    """Adam; its weight decay is an L2 penalty in the gradient."""

    title: ClassVar[str] = "Adam"
    sentence: ClassVar[str] = "Each weight moves by its mean gradient over the root of its mean square."
    equation: ClassVar[str] = r"\theta \leftarrow \theta - \eta\, \hat m / (\sqrt{\hat v} + \epsilon)"
    source: ClassVar[str] = "Kingma & Ba, arXiv 1412.6980, Algorithm 1; weight decay as in torch.optim.Adam"
    certainty: ClassVar[str] = "A: compared with torch.optim.Adam over 50 steps in float64"

    def decay_weights(self, theta: Rows, grad: Rows, rate: float) -> None:
        """grad <- grad + weight_decay * theta."""
        grad.add_(theta, alpha=self.weight_decay)
