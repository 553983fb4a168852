"""What moves from step to step, for a stretch of steps as the kernels take it: rates and temperatures."""

from math import sqrt

import numpy as np
from jaxtyping import Float32

from sandbox.conditioning.temperature.warm_up import WarmUpScale
from sandbox.engine.native.structures import AdamStructure, address
from sandbox.engine.optimizer import AdamFamily, AdamW
from sandbox.models import Architecture
from sandbox.models.encoder import Encoder

Scales = Float32[np.ndarray, "number step"]


def scales(optimizer: AdamFamily, first: int, n: int, until: int) -> Scales:
    """Step size, epsilon and weight shrinkage of the `n` updates after `first` updates, a row each.

    As in `AdamFamily.update`, the bias corrections (Kingma & Ba, arXiv 1412.6980) sit in the first two.
    Step by step in double precision, so that a number never depends on which steps are asked for together.
    """
    decoupled = optimizer.weight_decay if isinstance(optimizer, AdamW) else 0.0
    found = np.empty((3, n), np.float32)
    for i in range(n):
        step = first + i
        rate = optimizer.rate(step, until)
        correction = sqrt(1 - optimizer.beta2 ** (step + 1))
        found[0, i] = rate * correction / (1 - optimizer.beta1 ** (step + 1))
        found[1, i] = optimizer.epsilon * correction
        found[2, i] = 1 - rate * decoupled
    return found


def adam_structure(optimizer: AdamFamily, of_steps: Scales) -> AdamStructure:
    """The structure of native/layout.h; it keeps `of_steps` alive."""
    penalty = 0.0 if isinstance(optimizer, AdamW) else optimizer.weight_decay
    structure = AdamStructure(
        *(address(of_steps[i]) for i in range(3)),
        1 - optimizer.beta1,
        optimizer.beta2,
        1 - optimizer.beta2,
        penalty,
        optimizer.clip_norm,
    )
    structure.kept = of_steps
    return structure


def score_scales(model: Architecture, first: int, n: int) -> Float32[np.ndarray, " step"] | None:
    """What scores are multiplied by after each of the `n` updates after `first`; None where it stays."""
    if not isinstance(model, Encoder):
        return None
    scale = model.temperature.build(model.d_model // model.n_heads)
    if not isinstance(scale, WarmUpScale):
        return None
    return np.array([scale.at(first + i + 1) for i in range(n)], np.float32)
