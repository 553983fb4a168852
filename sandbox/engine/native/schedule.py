"""The optimizer's numbers for a stretch of steps, as the kernels take them."""

from math import sqrt

import numpy as np
from jaxtyping import Float32

from sandbox.engine.native.structures import AdamStructure, address
from sandbox.engine.optimizer import AdamFamily, AdamW

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
