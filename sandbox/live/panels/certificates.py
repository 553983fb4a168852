"""Certificates: what is proved of the attention Jacobian, and whether it holds."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("certificates")
@dataclass(frozen=True, kw_only=True)
class CertificatesPanel(Panel):
    """Both provable bounds of kappa(J) beside the measured value, with their states."""

    title = "Certificates"
    sentence = "Two proved ceilings of κ(J): whether each holds, and how near the value is."
    how_to_read = (
        "A tick holds, a cross is violated, a dash does not apply and the assumption that fails stands "
        "beside it; a clock is stale, for something that it rests on has changed since; an empty ring "
        "is not computed. Bound and value come from the same step, samples and precision."
    )
    equation = "κ(J) ≤ b where N ≤ D and rank(P X) = N"
    source = "derived for the Jacobian of Saratchandran and Lucey, arXiv:2603.07162, Thm 3.4"
    certainty = "C: derived here and verified; the paper's Eq. 10 is no certificate"
    our_reading = (
        "Violated if it is on any sample; bound and value are medians over the samples to which it applies."
    )
    order = 57
    place = "third"
    renderer = "states"
    reading = "jacobian certificates"
    on_demand = True
    section = "Conditioning"
    unit = "κ"
    log = True
