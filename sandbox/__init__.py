"""Attention Conditioning Sandbox: train small transformers live and see what conditioning does.

`load`, `train` and `open_run` are the public functions; nothing heavy is imported before one is used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox.experiment.experiment import load
    from sandbox.runner.training import train
    from sandbox.store import open_run

__all__ = ["load", "open_run", "train"]

_HOMES = {
    "load": "sandbox.experiment.experiment",
    "train": "sandbox.runner.training",
    "open_run": "sandbox.store",
}


def __getattr__(name: str) -> Any:
    """Import a public function when it is first asked for: the app's process must stay free of torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sandbox' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
