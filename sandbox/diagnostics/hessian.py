"""The Hessian of the training loss of several runs at once, as one product with a vector for each."""

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.func import functional_call, vmap

# Stacked runs pay only while dispatch, not arithmetic, takes the time: 8 seeds of the visual model cost 2.9
# times less together, an encoder of width 8 hardly less. A stack of one goes to other kernels than larger
# ones, so it is avoided. Rows in thirty-twos keep every number inside whole vector registers.
STACK_FLOATS = 100_000  # recorded activations of all runs
SMALLEST_STACK = 3
VECTOR_ROWS = 32


def whole_vectors(n_wanted: int, n_rows: int) -> int:
    """How many of `n_rows` rows to take for about `n_wanted`: a multiple of 32 where there are so many."""
    wanted = -(-n_wanted // VECTOR_ROWS) * VECTOR_ROWS
    return min(wanted, n_rows // VECTOR_ROWS * VECTOR_ROWS) if n_rows >= VECTOR_ROWS else n_rows


def run_stacks(n_runs: int, n_rows: int, floats_per_row: int) -> Iterator[list[int]]:
    """Which runs are computed at once; the size follows from the setting, never from who stands beside.

    A run that is alone where runs are stacked is computed twice, so that it meets the kernels of a stack.
    """
    fitting = STACK_FLOATS // (n_rows * floats_per_row)
    if n_rows % VECTOR_ROWS or fitting < SMALLEST_STACK:
        yield from ([run] for run in range(n_runs))
    elif n_runs == 1:
        yield [0, 0]
    else:
        for part in np.array_split(np.arange(n_runs), -(-n_runs // fitting)):
            yield part.tolist()


class LossHessian:
    """The Hessians of the mean cross-entropy of each run, at its weights and on its rows; one graph for all.

    Calling it with (run, entry) multiplies each run's vector by its own Hessian.
    """

    def __init__(
        self,
        module: nn.Module,
        trained: Mapping[str, Tensor],
        carried: Mapping[str, Tensor],
        tokens: Int[Tensor, "run row token"],
        targets: Int[Tensor, "run row"],
    ) -> None:
        leaves = {name: value.detach().requires_grad_() for name, value in trained.items()}

        def loss(of_run: dict[str, Tensor], fixed: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
            return nn.functional.cross_entropy(functional_call(module, {**of_run, **fixed}, (x,)), y)

        if len(tokens) == 1:
            alone = {name: value[0] for name, value in leaves.items()}
            total = loss(alone, {name: value[0] for name, value in carried.items()}, tokens[0], targets[0])
        else:
            total = vmap(loss)(leaves, dict(carried), tokens, targets).sum()
        self._leaves = list(leaves.values())
        # Runs share no number, so the gradient of the sum holds each run's own.
        gradients = torch.autograd.grad(total, self._leaves, create_graph=True, materialize_grads=True)
        self._gradient = self._joined(gradients)

    @property
    def shape(self) -> tuple[int, int]:
        """Runs, and trained parameters of each."""
        n_runs, n_entries = self._gradient.shape
        return n_runs, n_entries

    def __call__(self, vectors: Float[np.ndarray, "run entry"]) -> Float[np.ndarray, "run entry"]:
        """Hessian times vector, for every run."""
        found = torch.autograd.grad(
            (self._gradient * torch.from_numpy(vectors)).sum(),
            self._leaves,
            retain_graph=True,
            materialize_grads=True,
        )
        return self._joined(found).numpy()

    def _joined(self, parts: tuple[Tensor, ...]) -> Tensor:
        return torch.cat([part.reshape(len(part), -1) for part in parts], dim=1)
