"""Token embeddings: rows of the embedding table."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("token embeddings")
@dataclass(frozen=True, kw_only=True)
class TokenEmbeddings(Panel):
    """Rows of the embedding table."""

    title = "Token embeddings"
    sentence = "Each token's row of E; the answers are read off with the same rows."
    how_to_read = (
        "The table is tied: logits are h·E[c], so a row is both where a token starts and where an answer "
        "lies. With more embeddings than the modulus the spare rows stand too."
    )
    equation = "E[x], one point for each token"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050, the pictures of embeddings"
    certainty = "A: the picture, at width 2; C: wider models are drawn in a plane fitted at the first frame"
    order = 20
    place = "third"
    renderer = "plane"
    reading = "visual weights"
    section = "Embeddings"
    needs = "visual model"
    layers = ("E",)
