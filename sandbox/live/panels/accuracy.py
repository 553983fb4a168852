"""Accuracy: the share of right answers, beside what guessing would reach."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("accuracy")
@dataclass(frozen=True, kw_only=True)
class Accuracy(Panel):
    """Share of right answers on training and held-out rows."""

    title = "Accuracy"
    sentence = "The share of right answers; above the grey lines, something has been learned."
    how_to_read = (
        "Solid is held-out, dashed is training. The grey lines are chance, the majority class, and what "
        "simpler readers reach on the same rows; a model on a grey line has learned no more than that."
    )
    equation = "accuracy = mean over rows of [argmax logits = class]"
    source = "Odonnat, Bouaziz and Cabannes, arXiv:2410.24050: solved above 0.98 on test rows"
    certainty = "A"
    order = 3
    place = "wide"
    renderer = "curves"
    curves = (
        Curve("test_accuracy", "held-out"),
        Curve("train_accuracy", "train", style="dashed", seeds=False),
    )
    unit = "share"
    bounds = (0.0, 1.0)
    lines = "accuracy"
