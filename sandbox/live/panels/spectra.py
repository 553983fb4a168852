"""Spectra: every stretch of a projection, over the steps."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("spectra")
@dataclass(frozen=True, kw_only=True)
class SpectraPanel(Panel):
    """All singular values of one of the chosen head's matrices."""

    title = "Spectra"
    sentence = "Every singular value of a matrix as a line; thick are the largest and smallest."
    how_to_read = (
        "One line that leaves the others below is one direction that is lost; a fan that widens as a "
        "whole is a spectrum that spreads. The axis is the same for all matrices and holds over the "
        "run. Of the arm, seed and head chosen, with the correction."
    )
    equation = "σ_1 ≥ … ≥ σ_d of W + C"
    source = "Saratchandran and Lucey, arXiv:2603.07162, section 3"
    certainty = "A: the definition"
    our_reading = "Per head, on its D × d block."
    order = 49
    place = "third"
    renderer = "spectra"
    reading = "spectra"
    section = "Conditioning"
    unit = "singular value"
    log = True
