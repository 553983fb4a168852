"""Gradient norms: which part of the model learns."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("gradient norms")
@dataclass(frozen=True, kw_only=True)
class GradientNormsPanel(Panel):
    """Length of the last batch's gradient, and of the update made of it, by part."""

    title = "Gradient norms"
    sentence = "Length of the gradient and, dotted, of the update made of it, part by part."
    how_to_read = (
        "The part whose gradient is largest learns most. A loss spike often shows here first, as a "
        "gradient that leaps; an update that stays small beside it was held back by the optimizer. The "
        "gradient is the batch's, before any clipping."
    )
    equation = "|∇L| and |θ(t) - θ(t-1)|, over the weights of each part"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050: gradients at loss spikes"
    certainty = "A: the definition"
    our_reading = "As the trainer measured them at its last update; stored weights alone have none."
    order = 80
    place = "third"
    renderer = "curves"
    reading = "gradient norms"
    section = "Training dynamics"
    every = True
    unit = "norm"
    log = True
