"""A row of numbers and the parameters it holds are the same thing."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from sandbox.engine.layout import ROW_MULTIPLE, Layout

shapes = st.lists(st.lists(st.integers(1, 5), max_size=3).map(tuple), min_size=1, max_size=6)


@given(shapes, st.integers(1, 4))
def test_every_number_of_a_row_belongs_to_one_parameter_in_order(
    shapes: list[tuple[int, ...]], runs: int
) -> None:
    layout = Layout(tuple(f"p{i}" for i in range(len(shapes))), tuple(shapes))
    theta = np.arange(runs * layout.stride, dtype=np.float32).reshape(runs, layout.stride)
    parts = layout.unflatten(theta)
    assert [part.shape for part in parts.values()] == [(runs, *shape) for shape in shapes]
    joined = np.concatenate([part.reshape(runs, -1) for part in parts.values()], axis=1)
    assert np.array_equal(joined, theta[:, : layout.size])


@given(shapes)
def test_padding_is_less_than_one_register_block(shapes: list[tuple[int, ...]]) -> None:
    layout = Layout(tuple(map(str, range(len(shapes)))), tuple(shapes))
    assert layout.stride % ROW_MULTIPLE == 0
    assert 0 <= layout.stride - layout.size < ROW_MULTIPLE


def test_the_parts_are_views_that_see_later_changes() -> None:
    layout = Layout(("a", "b"), ((2, 3), (4,)))
    theta = torch.zeros(2, layout.stride)
    parts = layout.unflatten(theta)
    theta[1, 6] = 7.0
    assert parts["b"][1].tolist() == [7.0, 0.0, 0.0, 0.0]


def test_a_layout_returns_from_its_plain_form() -> None:
    layout = Layout.of(torch.nn.Linear(3, 5).named_parameters())
    assert layout == Layout(("weight", "bias"), ((5, 3), (5,)))
    assert Layout.from_plain(layout.to_plain()) == layout
