"""Gradient: batch losses of a stack of runs and what each parameter should do about them."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy


def sequence_losses(
    logits: Float[Tensor, "run batch class"], targets: Int[Tensor, "run batch"]
) -> Float[Tensor, "run batch"]:
    """Cross-entropy of every sequence, in nats."""
    flat = cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
    return flat.view(targets.shape)


def losses_and_gradients(
    logits_of: Callable[[Tensor], Tensor],
    leaves: Sequence[Tensor],
    tokens: Int[Tensor, "run batch token"],
    targets: Int[Tensor, "run batch"],
) -> tuple[Float[Tensor, " run"], list[Float[Tensor, "run parameter"]]]:
    """Mean loss of each run's batch, and its gradient by leaf, flattened.

    `logits_of` maps tokens to logits (run, batch, class) and depends on `leaves`, the runs' parameters.
    The sum over runs is what autograd differentiates: no run's loss depends on another's parameters.
    """
    loss = sequence_losses(logits_of(tokens), targets).mean(1)
    gradients = torch.autograd.grad(loss.sum(), leaves, allow_unused=True, materialize_grads=True)
    return loss.detach(), [gradient.reshape(len(loss), -1) for gradient in gradients]
