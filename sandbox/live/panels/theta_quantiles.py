"""Quantiles of theta: not only the median row."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("theta quantiles")
@dataclass(frozen=True, kw_only=True)
class ThetaQuantilesPanel(Panel):
    """The outer deciles of 1 - theta over a head's rows."""

    title = "1 - θ, deciles"
    sentence = "The most and the least sensitive tenth of a head's rows."
    how_to_read = (
        "The median can stand near the bottom while a minority of rows, those with one dominant key, "
        "rises: then the upper line leaves the lower one. Both are outer ends of brackets, so that the "
        "true quantiles lie between them."
    )
    equation = "θ(p) = 4 max over S of p(S)(1 - p(S))"
    source = "Emadi, arXiv:2602.18849"
    certainty = "A for the formula, C for the searches that bracket it"
    order = 60
    place = "third"
    renderer = "curves"
    reading = "theta"
    section = "Sensitivity"
    curves = (
        Curve("theta/10 % quantile", "10 %", style="dashed"),
        Curve("theta/90 % quantile", "90 %"),
    )
    unit = "of rows"
    log = True
