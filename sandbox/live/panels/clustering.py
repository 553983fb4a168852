"""Clustering: do sequences with the same deciding tokens land together?"""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("clustering")
@dataclass(frozen=True, kw_only=True)
class ClusteringPanel(Panel):
    """Share of the variance within groups of equal prefix multiset."""

    title = "Clustering"
    sentence = "Variance left among sequences that ought to coincide: 0 is clustered."
    how_to_read = (
        "Near 0 the model has merged all sequences whose deciding tokens are the same up to order; "
        "near 1 it keeps them apart, which does not rule out a high accuracy."
    )
    equation = "within / total variance of ξ by prefix multiset;  C(k+p-1, p-1) multisets"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, clustering heads"
    certainty = "A: the clusters; C: this measure of them"
    our_reading = "ξ of the visual model, the read-out of the encoder."
    order = 83
    place = "third"
    renderer = "curves"
    reading = "clustering"
    section = "Training dynamics"
    needs = "sparse modular addition"
    curves = (Curve("clustering/within / total", "within / total"),)
    facts = (("clustering/clumps", "clumps"),)
    unit = "share"
    log = True
