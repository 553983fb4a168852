"""Theta: how close softmax's sensitivity is to its worst case."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("theta")
@dataclass(frozen=True, kw_only=True)
class ThetaPanel(Panel):
    """One minus theta on a log axis, with its bracket and p_max."""

    title = "1 - θ(p)"
    sentence = "How far softmax is from its most sensitive; only a dominant key lifts it."
    how_to_read = (
        "Near the bottom, attention reacts to its scores as strongly as softmax allows. θ falls below 8/9 "
        "exactly when the largest weight, p_max (dotted), exceeds 2/3. The line is the bracket's lower end, "
        "the shade reaches to its upper end; values of 0 stand on a rail under the axis."
    )
    equation = "θ(p) = 4 max over S of p(S)(1 - p(S)),  1 - θ = min over S of (p(S) - p(Sᶜ))²"
    source = "Emadi, arXiv:2602.18849: the norm of softmax's Jacobian from ∞ to 1 is θ(p)/τ"
    certainty = "A for the formula, C for the closed forms and searches that bracket it"
    order = 5
    place = "third"
    renderer = "curves"
    reading = "theta"
    curves = (
        Curve("theta/lower", "1 - θ", to="theta/upper"),
        Curve("theta/median p_max", "p_max", style="dotted", seeds=False),
    )
    facts = (("theta/share exact", "% of rows exact"), ("theta/share p_max > 1/2", "% with p_max > 1/2"))
    unit = "median of rows"
    log = True
