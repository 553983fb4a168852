"""Loss: how wrong each arm is, on its own rows and on held-out ones."""

from dataclasses import dataclass

from sandbox.live.panels.family import Curve, Panel


@Panel.variants.register("loss")
@dataclass(frozen=True, kw_only=True)
class Loss(Panel):
    """Cross-entropy on training and held-out rows."""

    title = "Loss"
    sentence = "How surprised the model is by the right answers; lower is better."
    how_to_read = (
        "Solid is held-out, dashed is training; a gap that opens between them is memorizing. The grey lines "
        "are what guessing costs. “every step” is the loss of each batch, thinned so that no spike is lost."
    )
    equation = "L = -mean over rows of ln p(correct class)"
    source = "torch.nn.functional.cross_entropy, in nats"
    certainty = "A"
    order = 2
    place = "wide"
    renderer = "curves"
    curves = (
        Curve("test_loss", "held-out"),
        Curve("train_loss", "train", style="dashed", seeds=False),
        Curve("loss", "every step", on=False),
    )
    unit = "nats"
    lines = "loss"
