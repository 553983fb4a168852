"""Carried numbers: what a module keeps from step to step without training it, such as singular vectors."""

from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Carrier(nn.Module, ABC):
    """A module whose carried numbers follow from the step and the weights, not from a gradient.

    They are parameters without gradient, so they lie in the run's row of theta with everything else that a
    checkpoint, a snapshot or a neighbour in a group must treat as the run's own.
    """

    @abstractmethod
    def renewed(self, step: int) -> dict[str, Tensor]:
        """The carried numbers after `step` updates, by name within the module; those left out stay."""


def carried(value: Float[Tensor, "..."]) -> nn.Parameter:
    """A parameter that no gradient reaches."""
    return nn.Parameter(value, requires_grad=False)


def renewals(module: nn.Module, step: int) -> dict[str, Tensor]:
    """What every carrier inside `module` makes of the weights after `step` updates, by parameter name."""
    with torch.no_grad():
        return {
            f"{name}.{key}" if name else key: value
            for name, part in module.named_modules()
            if isinstance(part, Carrier)
            for key, value in part.renewed(step).items()
        }


def settle(module: nn.Module) -> None:
    """Give every carried number of a freshly drawn model its value before the first step."""
    own = dict(module.named_parameters())
    with torch.no_grad():
        for name, value in renewals(module, 0).items():
            own[name].copy_(value)
