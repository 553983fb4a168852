"""Stacking: how many runs go through a model at once, and the model's call over rows of theta."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.func import functional_call, vmap

from sandbox.conditioning.carried import renewals
from sandbox.engine.layout import Layout, in_row_order
from sandbox.foundations.probes import Trace, recording
from sandbox.models import SequenceClassifier

STACK_FLOATS = 100_000  # runs x batch x tokens x width from which arithmetic, not dispatch, takes the time
SMALLEST_STACK = 3  # two runs at once gain nothing over one after the other (benchmarks/engine_throughput.py)
LARGEST_STACK = 128
VECTOR_ROWS = 32  # sequences; so many make every activation fill whole vector registers

Parameters = dict[str, Tensor]
"""Parameters by name, each (run, *shape)."""


def stack_size(batch_size: int, floats_per_sequence: int) -> int:
    """How many runs to compute at once: a function of the setting alone, never of the number of runs.

    1 means one ordinary call per run. Stacked and single calls use different matrix kernels, so a choice
    that looked at the number of runs would make a run alone differ from itself in a group. Batches that are
    not a multiple of 32 are not stacked: the last numbers of a stack would leave the vector kernels.
    """
    if batch_size % VECTOR_ROWS:
        return 1
    fitting = STACK_FLOATS // (batch_size * floats_per_sequence)
    return min(fitting, LARGEST_STACK) if fitting >= SMALLEST_STACK else 1


def stacks(n_runs: int, size: int) -> list[slice]:
    """Split the runs into as few and as even stacks as `size` allows."""
    n_stacks = -(-n_runs // size)
    edges = [n_runs * i // n_stacks for i in range(n_stacks + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def with_companion(n_runs: int, size: int) -> list[int]:
    """The runs to compute, by index: a run alone in a setting that stacks is computed twice.

    A batch of one matrix goes to another kernel than a batch of two or more, which all agree.
    """
    return [0, 0] if n_runs == 1 and size > 1 else list(range(n_runs))


def floats_per_sequence(module: nn.Module, tokens: Int[Tensor, "1 token"]) -> int:
    """Tokens times width of one sequence, read off the module's probe `embedding`."""
    with torch.no_grad(), recording(module) as trace:
        module(tokens)
    return trace["embedding"].numel()


class StackedModel:
    """An ordinary single-run module, called with the parameters of several runs.

    A stack of more than one goes through torch.func.vmap; autograd stays outside of it, so that the
    backward pass runs plain kernels over the runs dimension. Tokens are laid out run by run first: the
    layout of the activations, and with it the choice of matrix kernels, follows theirs.
    """

    def __init__(self, module: SequenceClassifier, size: int) -> None:
        self.module, self.size = module, size

    def logits(
        self, parameters: Parameters, tokens: Int[Tensor, "run batch token"]
    ) -> Float[Tensor, "run batch class"]:
        """Logits of one stack."""
        if self.size == 1:
            return self._call({name: value[0] for name, value in parameters.items()}, tokens[0])[None]
        return vmap(self._call)(parameters, tokens.contiguous())

    def trace(self, parameters: Parameters, tokens: Int[Tensor, "run batch token"]) -> Trace:
        """What flows through every probe, each (run, batch, ...), for one stack."""
        if self.size == 1:
            alone = self._record({name: value[0] for name, value in parameters.items()}, tokens[0])
            return {name: value[None] for name, value in alone.items()}
        return vmap(self._record)(parameters, tokens.contiguous())

    def projections(self, parameters: Parameters) -> dict[str, Tensor]:
        """The module's `projections()`, each (run, layer, head, d_model, d_head)."""
        return self._one_by_one(lambda module: module.projections(), parameters)

    def renewals(self, parameters: Parameters, step: int) -> dict[str, Tensor]:
        """The carried numbers after `step` updates, each (run, *shape); a run never sees another's."""
        return self._one_by_one(partial(renewals, step=step), parameters)

    def _one_by_one(
        self, ask: Callable[[SequenceClassifier], dict[str, Tensor]], parameters: Parameters
    ) -> dict[str, Tensor]:
        n_runs = len(next(iter(parameters.values())))
        inside = _Asked(self.module, ask)
        answers = [
            functional_call(inside, {f"module.{name}": value[run] for name, value in parameters.items()}, ())
            for run in range(n_runs)
        ]
        return {name: torch.stack([answer[name] for answer in answers]) for name in answers[0]}

    def _call(self, parameters: dict[str, Tensor], tokens: Tensor) -> Tensor:
        return functional_call(self.module, parameters, (tokens,))

    def _record(self, parameters: dict[str, Tensor], tokens: Tensor) -> Trace:
        with recording(self.module) as trace:
            self._call(parameters, tokens)
        return trace


def attach(layout: Layout, theta: Float[Tensor, "run stride"]) -> tuple[Parameters, list[Tensor]]:
    """Views of `theta` that autograd can follow: all of them by name, and the trained ones."""
    views = {name: value.detach() for name, value in layout.unflatten(theta).items()}
    trained = [value.requires_grad_() for name, value in views.items() if name not in layout.carried]
    return views, trained


def bind(
    module: SequenceClassifier, parameters: Parameters
) -> tuple[list[Tensor], Callable[[Tensor], Tensor]]:
    """Let the module's own parameters live in the one row of `parameters`; returns the trained and its call.

    A run that is not stacked trains like any module, without the price of a functional call.
    """
    own = in_row_order(module)
    for name, parameter in own:
        parameter.data = parameters[name][0]
    trained: list[Tensor] = [parameter for _, parameter in own if parameter.requires_grad]
    return trained, lambda tokens: module(tokens[0])[None]


class _Asked(nn.Module):
    """Makes a question to a module a forward pass, which is what functional_call can call."""

    def __init__(
        self, module: SequenceClassifier, ask: Callable[[SequenceClassifier], dict[str, Tensor]]
    ) -> None:
        super().__init__()
        self.module, self.ask = module, ask

    def forward(self) -> dict[str, Tensor]:
        return self.ask(self.module)
