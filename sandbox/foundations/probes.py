"""Probes: named points of a forward pass that a recording can read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import Tensor, nn

Trace = dict[str, Tensor]
"""Activations by dotted path, e.g. ``blocks.0.attention.weights``."""


class Probe(nn.Identity):
    """Passes its input on unchanged; its place in the module tree is its name."""

    @property
    def watched(self) -> bool:
        """Whether a recording reads it now: what nothing else needs is computed only then."""
        return bool(self._forward_hooks)


@contextmanager
def recording(model: nn.Module) -> Iterator[Trace]:
    """Collect what flows through every probe of `model` while the block runs."""
    trace: Trace = {}

    def keep(name: str) -> Callable[[nn.Module, object, Tensor], None]:
        def hook(_module: nn.Module, _inputs: object, output: Tensor) -> None:
            trace[name] = output

        return hook

    hooks = [
        module.register_forward_hook(keep(name))
        for name, module in model.named_modules()
        if isinstance(module, Probe)
    ]
    try:
        yield trace
    finally:
        for hook in hooks:
            hook.remove()
