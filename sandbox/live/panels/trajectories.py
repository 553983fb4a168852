"""Token trajectories: where embeddings are in the plane, and where they have been."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("trajectories")
@dataclass(frozen=True, kw_only=True)
class Trajectories(Panel):
    """Token embeddings of the chosen arm and seed, moving."""

    title = "Trajectories"
    sentence = "Each dot is one embedding; its tail is the way it has come while training."
    how_to_read = (
        "What the task treats alike moves together. The axes are fixed for the run, so that motion is the "
        "model's and not the camera's; they widen when a point leaves them and never shrink."
    )
    equation = "x(t) = e(t) for width 2, else x(t) = B (e(t) - m) with one basis B and centre m per run"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A for width 2, where nothing is projected; a projection shows only the share printed"
    our_reading = "One basis for all steps and seeds of a run, so that pictures do not flip between frames."
    order = 0
    place = "third"
    renderer = "trajectories"
    reading = "trajectories"
