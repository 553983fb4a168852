"""Sharpness: how steeply the loss bends."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("sharpness")
@dataclass(frozen=True, kw_only=True)
class SharpnessPanel(Panel):
    """Both ends of the Hessian's spectrum on training rows."""

    title = "Sharpness"
    sentence = "How strongly the loss bends in its steepest direction."
    how_to_read = (
        "Plain gradient descent with step η becomes unstable above 2/η; Adam has no such threshold, "
        "since it rescales every weight. The residual says how far an eigenvalue can be from the value "
        "shown."
    )
    equation = "λ_max(∇²L),  |H y - λ y|"
    source = "Cohen et al. 2021, arXiv:2103.00065"
    certainty = "A: the definition; B: Lanczos with its residual"
    our_reading = "Of the plain Hessian on the first training rows, not preconditioned by Adam."
    order = 81
    place = "third"
    renderer = "curves"
    reading = "sharpness"
    on_demand = True
    section = "Training dynamics"
    curves = (
        Curve("sharpness/sharpness", "largest"),
        Curve("sharpness/smallest eigenvalue", "smallest", style="dotted", on=False, seeds=False),
    )
    facts = (("sharpness/residual", "residual"),)
    unit = "eigenvalue"
