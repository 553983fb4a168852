"""Streams: independent numbers handed down from one seed, for what needs NumPy alone."""

from hashlib import blake2b

import numpy as np

MAX_SEED = 2**31 - 1


def stream(seed: int, *purpose: str | int) -> int:
    """A 63-bit number fixed by `seed` and by what the stream is for, e.g. ("order", epoch)."""
    text = "/".join([str(seed), *map(str, purpose)])
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def numpy_generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """A NumPy generator for one purpose; equal arguments give equal draws."""
    return np.random.default_rng(stream(seed, *purpose))
