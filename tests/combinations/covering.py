"""A covering array: few settings in which every allowed pair of kinds from two families meets."""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations

Setting = dict[str, str]
Pair = tuple[tuple[str, str], tuple[str, str]]
Allowed = Callable[[Mapping[str, str]], bool]

CANDIDATES = 40
"""Settings tried for each place of the array; the one that covers most new pairs is taken."""


def pairs_of(setting: Mapping[str, str]) -> set[Pair]:
    """Every pair of (family, kind) that meets in the setting."""
    return set(combinations(setting.items(), 2))


def all_pairs(families: Mapping[str, Sequence[str]], allowed: Allowed) -> set[Pair]:
    """Every pair that may meet; `allowed` is asked with the two alone."""
    return {
        ((one, a), (other, b))
        for one, other in combinations(families, 2)
        for a in families[one]
        for b in families[other]
        if allowed({one: a, other: b})
    }


def covering_array(families: Mapping[str, Sequence[str]], allowed: Allowed, seed: int = 0) -> list[Setting]:
    """Settings that together hold every allowed pair; greedy, and the same for the same seed."""
    draw = random.Random(seed)
    missing = all_pairs(families, allowed)
    array = []
    while missing:
        candidates = [_candidate(families, allowed, missing, draw) for _ in range(CANDIDATES)]
        best = max(candidates, key=lambda setting: len(pairs_of(setting) & missing))
        missing -= pairs_of(best)
        array.append(best)
    return array


def _candidate(
    families: Mapping[str, Sequence[str]], allowed: Allowed, missing: set[Pair], draw: random.Random
) -> Setting:
    """Start from a missing pair, then give each other family the kind that adds most."""
    setting = dict(draw.choice(sorted(missing)))
    for family in draw.sample(list(families), len(families)):
        if family in setting:
            continue
        kinds = [kind for kind in families[family] if allowed(setting | {family: kind})]
        draw.shuffle(kinds)
        setting[family] = max(kinds, key=partial(_gain, families, missing, setting, family))
    return {family: setting[family] for family in families}


def _gain(
    families: Mapping[str, Sequence[str]], missing: set[Pair], setting: Setting, family: str, kind: str
) -> int:
    return sum(_in_order(families, (family, kind), other) in missing for other in setting.items())


def _in_order(families: Mapping[str, Sequence[str]], one: tuple[str, str], other: tuple[str, str]) -> Pair:
    order = list(families)
    return (one, other) if order.index(one[0]) < order.index(other[0]) else (other, one)
