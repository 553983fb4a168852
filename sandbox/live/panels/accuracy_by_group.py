"""Accuracy by group: which kinds of held-out rows a model already answers."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("accuracy by group")
@dataclass(frozen=True, kw_only=True)
class AccuracyByGroup(Panel):
    """Held-out accuracy of each group of rows, such as an operator or a depth, for every arm."""

    title = "Accuracy by group"
    sentence = "Held-out accuracy by kind of row: a large mark is an arm's mean, a dot a seed."
    how_to_read = (
        "A model often learns shallow expressions and some operators long before others, which the overall "
        "accuracy hides. The chips choose how rows are grouped; groups are disjoint but differ in size, so "
        "that their mean is not the overall accuracy."
    )
    equation = "accuracy(g) = mean over held-out rows in g of [argmax logits = class]"
    source = "Nangia and Bowman 2018, arXiv:1804.06028: ListOps by depth; here by every group a task names"
    certainty = "A"
    order = 7
    place = "wide"
    renderer = "groups"
    unit = "share"
    needs = "groups"
    section = "Accuracy by group of rows"
