"""Singular values: the strongest and the weakest stretch of the projections."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel

MATRICES = (("query", "W_Q"), ("key", "W_K"), ("value", "W_V"))


@Panel.variants.register("singular values")
@dataclass(frozen=True, kw_only=True)
class SingularValuesPanel(Panel):
    """Ends of the spectrum of a head's matrices, corrected and bare."""

    title = "Singular values"
    sentence = "Largest and smallest stretch of W + C; dotted: of W without its correction."
    how_to_read = (
        "Two lines far apart on this log axis are a large condition number. Where an arm corrects "
        "nothing, dotted and solid lines lie on one another; a correction lifts the lower line. κ of "
        "the bare W is printed below."
    )
    equation = "σ_max and σ_min of W + C and of W,  κ = σ_max / σ_min"
    source = "Saratchandran and Lucey, arXiv:2603.07162, section 3"
    certainty = "A: the definition"
    our_reading = "Per head, on its D × d block."
    order = 50
    place = "third"
    renderer = "curves"
    reading = "singular values"
    section = "Conditioning"
    curves = tuple(
        Curve(f"singular values/{name} {end}{extra}", f"{end}{words}", style=style, on=name == "query",
              seeds=not words, group=letter)
        for name, letter in MATRICES
        for end in ("largest", "smallest")
        for extra, words, style in (("", "", "solid"), (" of W", ", bare", "dotted"))
    )  # fmt: skip
    facts = tuple((f"singular values/{name} kappa of W", f"κ of bare {letter}") for name, letter in MATRICES)
    unit = "singular value"
    log = True
