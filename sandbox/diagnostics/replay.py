"""Replay: the model of a snapshot run again in float64, with what entered and left each of its parts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from sandbox.attention.skeleton import MultiHeadAttention
from sandbox.diagnostics.family import SnapshotView
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.probes import recording
from sandbox.models.placement.family import Block

NO_SETTING = NotApplicable(
    "This snapshot does not say which model its weights belong to, so the model cannot be run again; ask "
    "with the arm's setting."
)
OTHER_NUMBERS = NotApplicable(
    "Running the model again from its weights gives other numbers than those recorded: this arm carries more "
    "from step to step than its weights, so nothing that needs the model is read."
)
FLOAT32_AGREEMENT = 1e-3  # of the largest logit: float32 over a few layers stays far below it
PARTS = (MultiHeadAttention, nn.LayerNorm, nn.RMSNorm, Block)


def module_of(view: SnapshotView) -> nn.Module | NotApplicable:
    """The arm's module in float64, built once for each view; its own weights mean nothing."""
    if "module" not in view.memo:
        if view.setting is None or not view.weights:
            return NO_SETTING
        setting = view.setting
        module = setting.model.build(setting.task, view.seeds[0], setting.reference_start)
        view.memo["trained"] = frozenset(n for n, p in module.named_parameters() if p.requires_grad)
        view.memo["module"] = module.double().requires_grad_(False)
    found: nn.Module = view.memo["module"]
    return found


def trained_names(view: SnapshotView) -> frozenset[str]:
    """Names of the weights that gradients move; others are carried from step to step."""
    names: frozenset[str] = view.memo["trained"]
    return names


def weights_of(view: SnapshotView, run: int) -> dict[str, Tensor]:
    """The weights of one run in float64, by name."""
    return {name: torch.from_numpy(np.array(rows[run], np.float64)) for name, rows in view.weights.items()}


def parts_of(module: nn.Module, kind: type[nn.Module]) -> list[tuple[str, Any]]:
    """Names and modules of one type, in the order the model lists them."""
    return [(name, part) for name, part in module.named_modules() if isinstance(part, kind)]


def replay(view: SnapshotView, n_sequences: int) -> list[dict[str, np.ndarray]] | NotApplicable:
    """One dictionary per run for the first probe sequences: probes by name, and "<part>:input" of each part.

    Parts are blocks, attention layers and norms. float64 arrays (batch, ...).
    """
    module = module_of(view)
    if isinstance(module, NotApplicable):
        return module
    name = f"replay of {n_sequences}"
    if name not in view.memo:
        tokens = torch.from_numpy(view.probe.tokens[:n_sequences])
        found = [_recorded(module, weights_of(view, run), tokens) for run in range(len(view.seeds))]
        agrees = all(_agrees(own["logits"], view.trace["logits"][run]) for run, own in enumerate(found))
        view.memo[name] = found if agrees else OTHER_NUMBERS
    kept: list[dict[str, np.ndarray]] | NotApplicable = view.memo[name]
    return kept


def _agrees(again: np.ndarray, recorded: np.ndarray) -> bool:
    """Whether float64 gives what float32 gave, as far as float32 goes; what is not finite agrees."""
    recorded = recorded[: len(again)]
    if not np.isfinite(recorded).all() or not np.isfinite(again).all():
        return True
    return bool(np.abs(again - recorded).max() <= FLOAT32_AGREEMENT * max(1.0, float(np.abs(recorded).max())))


def _recorded(module: nn.Module, weights: Mapping[str, Tensor], tokens: Tensor) -> dict[str, np.ndarray]:
    with torch.no_grad(), recording(module) as trace, _inputs(module) as inputs:  # type: ignore[arg-type]
        functional_call(module, dict(weights), (tokens,))
    return {name: value.numpy() for name, value in {**trace, **inputs}.items()}


@contextmanager
def _inputs(module: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Collect the first input of every part while the block runs."""
    found: dict[str, Tensor] = {}

    def keep(name: str) -> Any:
        def hook(_module: nn.Module, inputs: tuple[Any, ...]) -> None:
            found[f"{name}:input"] = inputs[0]

        return hook

    hooks = [
        part.register_forward_pre_hook(keep(name))
        for name, part in module.named_modules()
        if isinstance(part, PARTS)
    ]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()
