"""The smallest difference between two sides of a row, by a complete search that meets in the middle."""

import numpy as np
from jaxtyping import Int

from sandbox.mathematics.fixed_point import DifferenceBracket, FixedPointRows
from sandbox.mathematics.theta_compiled import compiled_difference, is_compiled

MOST_SEARCHED_KEYS = 24  # 2^11 + 2^12 subset sums a row, about 0.2 ms; compiled 0.02 ms
MOST_EXACT_KEYS = 32  # where it is asked for: 2^15 + 2^16 subset sums a row
CHUNK_SUMS = 2**18  # subset sums held at once: 2 MB, so that sorting stays in cache


def smallest_difference(units: Int[np.ndarray, "row key"]) -> Int[np.ndarray, " row"]:
    """min over all subsets S of |sum(S) - sum(rest)| for rows of at most 32 non-negative integers below 2^61.

    Compiled (native/theta_search.h) where the kernels are built, to the same integers.

    The first key is held on one side. Sums of one half and what the other half asks for are sorted together:
    the closest pair of different kinds has nothing between it, so it stands side by side.
    (Horowitz & Sahni 1974)
    """
    return compiled_difference(units) if units.shape[1] and is_compiled() else _search_all(units)


def _search_all(units: Int[np.ndarray, "row key"]) -> Int[np.ndarray, " row"]:
    n_rows, n_keys = units.shape
    sums_per_row = 2 ** (n_keys // 2) + 2 ** (n_keys - n_keys // 2)
    step = max(1, CHUNK_SUMS // sums_per_row)
    best = np.empty(n_rows, dtype=np.int64)
    for start in range(0, n_rows, step):
        best[start : start + step] = _search(units[start : start + step])
    return best


def heads_against_tail(rows: FixedPointRows, n_heads: int) -> DifferenceBracket:
    """Bracket from a complete search over the `n_heads` largest keys, all others put on the lighter side.

    Where the heads' smallest difference outweighs all other keys, that split is the optimum. (derived)
    """
    difference = smallest_difference(rows.units[:, :n_heads]) - rows.units[:, n_heads:].sum(axis=1)
    return DifferenceBracket(attained=np.abs(difference), bound=np.maximum(difference, 0))


def _search(units: np.ndarray) -> np.ndarray:
    total = units.sum(axis=1, keepdims=True)
    half = (units.shape[1] + 1) // 2  # the first half holds the fixed key
    sums = units[:, :1] + _subset_sums(units[:, 1:half])
    targets = total - 2 * _subset_sums(units[:, half:])
    # The difference is |2 sum - (total - 2 other)|; doubling again frees the last bit for an entry's kind.
    entries = np.concatenate([4 * sums, 2 * targets + 1], axis=1)
    entries.sort(axis=1)
    kinds_differ = ((entries[:, 1:] ^ entries[:, :-1]) & 1).astype(np.bool_)
    entries >>= 1
    gaps = np.diff(entries, axis=1)
    return gaps.min(axis=1, where=kinds_differ, initial=np.iinfo(np.int64).max)


def _subset_sums(units: np.ndarray) -> np.ndarray:
    n_rows, n_keys = units.shape
    sums = np.zeros((n_rows, 2**n_keys), dtype=np.int64)
    for key in range(n_keys):
        filled = 2**key
        np.add(sums[:, :filled], units[:, key : key + 1], out=sums[:, filled : 2 * filled])
    return sums
