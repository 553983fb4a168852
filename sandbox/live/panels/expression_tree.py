"""Expression tree: what a head reads of one expression, and what the model answers."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("expression tree")
@dataclass(frozen=True, kw_only=True)
class ExpressionTree(Panel):
    """One probe expression as a tree, shaded by the attention its tokens receive."""

    title = "Expression tree"
    sentence = "One held-out expression; stronger shade: more of the chosen head's attention."
    how_to_read = (
        "Operators stand above what they act on; small squares are closing brackets. The bars are the "
        "model's answer, the hollow triangle marks the true one. A model that evaluates must read the "
        "operators and the numbers that decide, and ignore the others."
    )
    equation = "mean over the queries n of P_nk, for each token k;  p(y | x) = softmax(logits)"
    source = "Nangia and Bowman 2018, arXiv:1804.06028: the expressions"
    certainty = "A: means of columns of P"
    our_reading = "The deepest of the first 16 probe sequences that has at most 40 tokens."
    order = 8
    place = "wide"
    renderer = "tree"
    reading = "expression"
    section = "Expression tree"
    needs = "listops"
    unit = "attention received"
    beside = ("probe answers",)
