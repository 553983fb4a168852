"""Sensitivity of the softmax as the model scales it."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("sensitivity")
@dataclass(frozen=True, kw_only=True)
class SensitivityPanel(Panel):
    """theta over tau, the softmax Jacobian's norm from infinity to one."""

    title = "θ / τ"
    sentence = "The softmax's exact sensitivity to its scores, at the model's temperature."
    how_to_read = (
        "θ is at most 1, so that this norm is at most 1/√d_head for every row. What moves is how far "
        "rows stay below it."
    )
    equation = "‖J of softmax(u/τ)‖ from ∞ to 1 = θ(p)/τ,  τ = √d_head"
    source = "Emadi, arXiv:2602.18849"
    certainty = "A: the formula"
    our_reading = "τ = √d_head. The lower end of the bracket, median over rows."
    order = 61
    place = "third"
    renderer = "curves"
    reading = "theta certificates"
    section = "Sensitivity"
    curves = (Curve("theta certificates/theta / tau", "θ / τ"),)
    unit = "norm, ∞ to 1"
