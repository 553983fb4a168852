"""Phases and spikes: what a run went through, seed by seed."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("phases")
@dataclass(frozen=True, kw_only=True)
class PhasesPanel(Panel):
    """Named phases of training as stretches, and loss spikes with what explains them."""

    title = "Phases and spikes"
    sentence = "Each seed's phases by name, and its loss spikes as triangles; point at one."
    how_to_read = (
        "A stretch is a phase: the stronger its shade, the further the seed is, from plateau over "
        "clustering to fitting; pointing says the rule that names it. A triangle is a loss above its "
        "own recent level; pointing says what stood out before it: the shortest ξ, the curvature of "
        "its normalization, the gradient, the sharpness. A click goes to that step, arm and seed."
    )
    equation = (
        "spike: loss > median of the last 50 + max(8 robust σ, 20 %, 0.001 nats);  phases: loss over chance "
        "loss, and within / total"
    )
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050: two stages, loss spikes"
    certainty = "A: the stages and the explanation; the thresholds are our reading"
    our_reading = (
        "A change of phase counts once it has lasted three kept snapshots. Only tasks with a deciding "
        "prefix have phases."
    )
    order = 79
    place = "wide"
    renderer = "happenings"
    section = "Training dynamics"
