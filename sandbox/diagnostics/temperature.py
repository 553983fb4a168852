"""Temperature in force: what each layer of a snapshot divides its scores by before softmax."""

import numpy as np
import torch
from jaxtyping import Float
from torch.func import functional_call

from sandbox.diagnostics.family import SnapshotView, layer_names
from sandbox.foundations.answers import NotApplicable

NO_MODEL = (
    "This snapshot does not say which model its weights belong to, so the temperature is unknown; ask with "
    "the arm's setting."
)
NO_SOFTMAX = (
    "This arm's rows are no softmax of scores over a temperature, so theta / tau is not the norm of their "
    "Jacobian."
)
NO_WIDTH = "This model has no value matrix, from which the width of a head could be read."


def temperatures(view: SnapshotView) -> Float[np.ndarray, "run layer"] | NotApplicable:
    """tau of every run and layer at this step: the arm's own, also where it moves from step to step.

    A temperature that is carried from step to step is read from the snapshot's weights, so that a stored step
    answers with its own. The layer axis has length 1 where all layers share one.
    """
    model = getattr(view.setting, "model", None)
    if model is None:
        return NotApplicable(NO_MODEL)
    if "value" not in view.projections:
        return NotApplicable(NO_WIDTH)
    width = view.projections["value"].shape[-1]
    temperature = getattr(model, "temperature", None)
    if temperature is None:  # the visual model, whose formula holds sqrt(d)
        return np.full((len(view.seeds), 1), np.sqrt(width))
    if not model.mechanism.scaled:
        return NotApplicable(NO_SOFTMAX)
    scale = temperature.build(width)
    carried = [name for name, _ in scale.named_parameters()]
    if not carried:
        return np.full((len(view.seeds), 1), 1.0 / float(scale()))
    places = {name: layer_names(view.weights, f"attention.scale.{name}") for name in carried}
    found = np.empty((len(view.seeds), len(next(iter(places.values())))))
    for run, layer in np.ndindex(found.shape):
        own = {name: torch.tensor(view.weights[places[name][layer]][run]) for name in carried}
        found[run, layer] = 1.0 / float(functional_call(scale, own, ()))
    return found
