"""Kinds of theta: how close each quick certificate comes to the bracketed value."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel

KINDS = (
    ("4 p_max (1 - p_max)", "4 p(1 - p)"),
    ("1 - p_max^2", "1 - p²"),
    ("sorted prefix", "sorted prefix"),
    ("LPT", "LPT"),
    ("fill below one half", "fill below ½"),
    ("Karmarkar-Karp", "Karmarkar-Karp"),
)


@Panel.variants.register("theta kinds")
@dataclass(frozen=True, kw_only=True)
class ThetaKindsPanel(Panel):
    """Median of every certificate of theta beside the bracket."""

    title = "Kinds of θ"
    sentence = "How much each quick lower bound of θ misses, beside the bracketed value."
    how_to_read = (
        "Each row is a certificate, a sound lower bound; its mark is the median over the rows of the "
        "chosen head, the number after the minus is what it misses at the worst row. The band is the "
        "bracket that holds the median of θ itself."
    )
    equation = "c(p) ≤ θ(p) = 4 max over S of p(S)(1 - p(S))"
    source = "Emadi, arXiv:2602.18849; LPT: Graham 1969; Karmarkar and Karp 1982"
    certainty = "A: the formula; D: which certificate the paper used"
    order = 63
    place = "third"
    renderer = "ladder"
    reading = "theta certificates"
    section = "Sensitivity"
    bounds = (0.0, 1.0)
    unit = "θ"
    table = (
        ("theta certificates/lower", "lower"),
        ("theta certificates/upper", "upper"),
        *(
            (f"theta certificates/{name}{missed}", f"{label}{missed}")
            for name, label in KINDS
            for missed in ("", ", most missed")
        ),
    )
