"""DeepNorm's constants against values worked out by hand."""

import pytest

from sandbox.initialization.deepnorm_init import sublayer_gain
from sandbox.mathematics.deepnorm import deepnorm
from sandbox.models.placement.deepnorm import residual_gain


def test_eighteen_layers_have_the_constants_of_the_paper() -> None:
    assert deepnorm(18) == pytest.approx((6**0.5, 1 / 12**0.5))


def test_the_table_shows_what_the_placement_and_the_start_use() -> None:
    for n_layers in (1, 2, 6, 100):
        assert deepnorm(n_layers) == (residual_gain(n_layers), sublayer_gain(n_layers))
