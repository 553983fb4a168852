"""Curvature of the normalization: where a tiny step becomes a large one."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("normalization curvature")
@dataclass(frozen=True, kw_only=True)
class NormalizationCurvaturePanel(Panel):
    """Smallest length of xi and the curvature there."""

    title = "Curvature at |ξ|"
    sentence = "The shortest sequence embedding; dotted: the curvature of its normalization."
    how_to_read = (
        "Where ξ comes close to zero, dividing by its length turns tiny steps into large ones, and the "
        "loss can spike. Look for a fall of the line just before a spike."
    )
    equation = "x ↦ √d x/|x|,  curvature √d/|ξ|²"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, loss spikes"
    certainty = "A: the paper's explanation; B: the curvature"
    order = 82
    place = "third"
    renderer = "curves"
    reading = "normalization curvature"
    section = "Training dynamics"
    needs = "visual model"
    curves = (
        Curve("normalization curvature/smallest", "min |ξ|"),
        Curve("normalization curvature/curvature", "curvature", style="dotted", seeds=False),
    )
    facts = (("normalization curvature/median", "median |ξ|"),)
    unit = "|ξ|"
    log = True
