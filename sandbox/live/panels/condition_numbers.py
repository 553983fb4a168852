"""Condition numbers: how unevenly the projections stretch space."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("condition numbers")
@dataclass(frozen=True, kw_only=True)
class ConditionNumbersPanel(Panel):
    """Kappa of the projections of the chosen head, as corrected."""

    title = "Condition κ(W)"
    sentence = "Largest over smallest stretch of a projection: 1 is perfectly even."
    how_to_read = (
        "Measured on the matrix that the model uses, correction included. An arm whose line lies lower is "
        "better conditioned; whether it also learns faster is what the curves above say."
    )
    equation = "κ(W) = σ_max(W) / σ_min(W)"
    source = "Saratchandran and Lucey, arXiv:2603.07162, section 3"
    certainty = "A for κ; that a lower κ helps training is the paper's claim, its conditions are D"
    order = 6
    place = "third"
    renderer = "curves"
    reading = "condition numbers"
    curves = (
        Curve("condition numbers/query", "W_Q"),
        Curve("condition numbers/key", "W_K", on=False),
        Curve("condition numbers/value", "W_V", on=False),
    )
    one_at_a_time = True
    unit = "ratio"
    log = True
