"""Trajectories: where embeddings are in the plane, and where they have been."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("trajectories")
@dataclass(frozen=True, kw_only=True)
class Trajectories(Panel):
    """Embeddings of sequences, or of tokens, of the chosen arm and seed, moving."""

    title = "Trajectories"
    sentence = "A dot is a sequence, coloured by its class; its tail is the way it has come."
    how_to_read = (
        "Learning shows as classes that draw apart. “tokens” shows tokens at their positions instead: what "
        "the task treats alike moves together. Each has a plane of its own, fixed for the run, so that "
        "motion is the model's and not the camera's; the axes widen when a point leaves them and never "
        "shrink."
    )
    equation = "x(t) = e(t) for width 2, else x(t) = B (e(t) - m), one B and m for each run and picture"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A for width 2, where nothing is projected; a projection shows only the share printed"
    our_reading = (
        "One basis for all steps of a run, so that pictures do not flip between frames; in the encoder the "
        "sequences' first axis is what the classifier reads at the start."
    )
    order = 0
    place = "third"
    renderer = "trajectories"
    reading = "trajectories"
    also = (
        ("trajectories", "sequences", sentence),
        (
            "token trajectories",
            "tokens",
            "A dot is a token at its position; its tail is the way it came.",
        ),
    )
