"""Residual parts: the additive identity and DeepNorm as numbers, layer by layer."""

from dataclasses import dataclass

from sandbox.live.panels.family import Panel


@Panel.variants.register("residual parts")
@dataclass(frozen=True, kw_only=True)
class ResidualPartsPanel(Panel):
    """Branch, gain and identity path of every sublayer, with alpha, beta and the budget."""

    title = "Residual parts"
    sentence = "Each sublayer's branch, gain and identity path, and DeepNorm's numbers."
    how_to_read = (
        "An identity path of 1 is the additive identity of pre-LN, as a number. α is what this arm "
        "multiplies its stream with, β how large its sublayers' matrices are over Xavier's; DeepNorm "
        "sets the budget of an update to 1 by its α and β, which stand in the last two rows for as "
        "many layers. The budget means something after a norm alone."
    )
    equation = "J = I + J_f (pre),  J_LN (α I + J_f) (post);  α = (2N)^¼,  β = (8N)^-¼"
    source = "Emadi, arXiv:2602.18849; DeepNorm: Wang et al. 2022, arXiv:2203.00555"
    certainty = "A: the forms, α and β; C: the budget that they set to 1"
    order = 74
    place = "third"
    renderer = "layers"
    reading = "residual gains"
    on_demand = True
    section = "Geometry"
    unit = "gain"
    constants = True
    table = (
        *(
            (f"residual gains/{part} {column}", f"{part}: {column}")
            for part in ("attention", "feed-forward")
            for column in ("branch", "gain", "identity path", "beta", "budget")
        ),
        ("residual gains/alpha", "α of this arm"),
    )
