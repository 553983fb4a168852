"""Parts of a model as functions of one sequence's tokens, and the norm of their derivative."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call

from sandbox.mathematics.block_norm import operator_norm_at_least

STARTS, ITERATIONS = 4, 6
MOST_ENTRIES = 1024  # tokens times channels up to which the whole Jacobian is the cheaper way to products
METHOD = f"power iteration, {STARTS} starts of {ITERATIONS} rounds, a lower estimate"

Function = Callable[[Tensor], Tensor]
"""(token, channel) to (token, channel), all tokens visible."""


class _Asked(nn.Module):
    """Makes a question to a part a forward pass, which is what functional_call can call."""

    def __init__(self, part: nn.Module, ask: Callable[[Any, Tensor], Tensor]) -> None:
        super().__init__()
        self.part, self.ask = part, ask

    def forward(self, x: Tensor) -> Tensor:
        return self.ask(self.part, x)


def function_of(
    part: nn.Module, name: str, weights: dict[str, Tensor], ask: Callable[[Any, Tensor], Tensor]
) -> Function:
    """`ask(part, x)` for x of shape (1, token, channel), with those of a run's `weights` below `name`."""
    own = {f"part.{k.removeprefix(f'{name}.')}": w for k, w in weights.items() if k.startswith(f"{name}.")}
    inside = _Asked(part, ask)

    def call(x: Tensor) -> Tensor:
        out: Tensor = functional_call(inside, own, (x[None],))[0]
        return out

    return call


def derivative_norm(function: Function, tokens: Float[np.ndarray, "token channel"]) -> float:
    """A lower estimate of the norm of the function's derivative at `tokens`, in max_i |x_i|."""
    x = torch.from_numpy(tokens).requires_grad_()
    y = function(x)
    start = np.random.default_rng(0).standard_normal((STARTS, *tokens.shape))  # fixed: no randomness
    if tokens.size <= MOST_ENTRIES:
        basis = torch.eye(tokens.size, dtype=x.dtype).reshape(-1, *x.shape)
        jacobian = _pulled(y, x, basis).numpy().reshape(tokens.size, tokens.size)
        return operator_norm_at_least(
            lambda stack: (stack.reshape(STARTS, -1) @ jacobian.T).reshape(stack.shape),
            lambda stack: (stack.reshape(STARTS, -1) @ jacobian).reshape(stack.shape),
            start,
            ITERATIONS,
        )
    # The transpose's own transpose is the forward product, without torch's forward mode.
    seed = torch.zeros_like(y, requires_grad=True)
    transpose = torch.autograd.grad(y, x, seed, create_graph=True)[0]
    return operator_norm_at_least(
        lambda stack: _pulled(transpose, seed, torch.from_numpy(stack)).numpy(),
        lambda stack: _pulled(y, x, torch.from_numpy(stack)).numpy(),
        start,
        ITERATIONS,
    )


def _pulled(y: Tensor, x: Tensor, stack: Tensor) -> Tensor:
    """The products of the transposed derivative of `y` with each of a `stack`, of shape (n, *x.shape).

    torch.func.vjp would do, and imports torch's compiler with all that it needs: a second of every process.
    """
    return torch.autograd.grad(y, x, stack, retain_graph=True, is_grads_batched=True)[0]
