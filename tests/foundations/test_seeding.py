"""Seeding: one seed gives many streams that are fixed, apart from each other, and nobody else's."""

import random

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.seeding import MAX_SEED, numpy_generator, stream, torch_generator

purposes = st.lists(st.text("abc", min_size=1, max_size=3) | st.integers(0, 99), max_size=3).map(tuple)
seeds = st.integers(0, MAX_SEED)


@given(seed=seeds, purpose=purposes)
def test_a_stream_is_fixed_and_fits_every_generator(seed: int, purpose: tuple[str | int, ...]) -> None:
    assert stream(seed, *purpose) == stream(seed, *purpose)
    assert 0 <= stream(seed, *purpose) < 2**63


def test_a_stream_keeps_its_number_for_ever() -> None:
    assert stream(0, "order", 3) == 228291028133782092


@given(seed=seeds, other=seeds)
def test_two_seeds_or_two_purposes_never_share_a_stream(seed: int, other: int) -> None:
    assert (stream(seed, "data") == stream(other, "data")) == (seed == other)
    assert stream(seed, "data") != stream(seed, "order")


def test_equal_arguments_draw_alike_and_others_do_not() -> None:
    def torch_draw(*purpose: str) -> list[float]:
        return torch.rand(4, generator=torch_generator(7, *purpose)).tolist()

    def numpy_draw(*purpose: str) -> list[float]:
        return numpy_generator(7, *purpose).random(4).tolist()

    for draw in (torch_draw, numpy_draw):
        assert draw("a") == draw("a") != draw("b")


def test_no_global_random_state_is_touched() -> None:
    before = (torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate())  # noqa: NPY002
    torch_generator(1, "a").initial_seed()
    numpy_generator(1, "a").random(3)
    after = (torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate())  # noqa: NPY002
    assert torch.equal(before[0], after[0]) and before[1:] == after[1:]
