"""Sentences and warnings of a comparison: counts, intervals, and no verdict where they allow none."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.store import RunWriter, open_run
from sandbox.ui.compare_settings import by_design, differing, setting_of, warnings
from sandbox.ui.compare_words import NO_VERDICT, Standing, of_pairs, sentences, verdict


def standings(gaps: list[float], bootstrap: tuple[float, float] | None = None) -> list[Standing]:
    base = [0.5] * len(gaps)
    other = [b + g for b, g in zip(base, gaps, strict=True)]
    return [
        Standing(label="standard", values=tuple(base)),
        Standing(label="x", values=tuple(other), difference=of_pairs(np.array(gaps)), bootstrap=bootstrap),
    ]


def said(gaps: list[float], bootstrap: tuple[float, float] | None = None, unfair: bool = False) -> str:
    return " ".join(
        sentences("test_accuracy", "step", 1500.0, standings(gaps, bootstrap), "standard", unfair)
    )


def test_a_sentence_has_its_counts_and_both_intervals() -> None:
    words = said([0.10, 0.11, 0.09, 0.10, 0.12], (0.09, 0.11))
    assert words.startswith("At step 1,500, test_accuracy, mean over seeds: standard 50 % (n = 5); x 60.4 %")
    assert "+10.4 points" in words
    assert "bootstrap +9.0 to +11.0, Student" in words
    assert "5 pairs" in words
    assert words.endswith("higher.")


@given(st.lists(st.floats(-0.4, 0.4), min_size=2, max_size=8), st.floats(-0.5, 0.5), st.floats(0, 0.5))
def test_there_is_no_verdict_where_an_interval_holds_zero(gaps: list[float], low: float, wide: float) -> None:
    found = of_pairs(np.array(gaps))
    bootstrap = (low, low + wide)
    word = verdict(found, bootstrap)
    holds_zero = found.low <= 0 <= found.high or low <= 0 <= low + wide  # type: ignore[operator]
    if holds_zero:
        assert word == NO_VERDICT
    elif word != NO_VERDICT:  # the two intervals may lie on different sides
        assert word == ("higher" if found.mean > 0 else "lower")


def test_one_pair_is_too_few_and_none_is_none() -> None:
    assert "too few to say" in said([0.3])
    assert "no pair of seeds" in said([math.nan, math.nan])
    assert "1 pair, 1 left out" in said([0.3, math.nan])


def test_an_unfair_comparison_says_so_beside_its_differences() -> None:
    assert "no difference is an arm's alone" in said([0.1, 0.2], unfair=True)


def test_nothing_common_is_said() -> None:
    (sentence,) = sentences("loss", "step", math.nan, standings([0.1]), "standard", False)
    assert "nothing is compared" in sentence


BASE: dict[str, Any] = {
    "schema": 1, "task": {"kind": "listops", "length": 9}, "model": {"kind": "encoder", "d_model": 8},
    "optimizer": {"kind": "adamw", "learning_rate": 0.001}, "batch_size": 32, "steps": 10,
    "evaluate_every": 5, "seeds": [0, 1],
    "arms": [
        {"name": "standard"},
        {"name": "spectral", "projection": {"kind": "spectral", "shift": 0.5}},
        {"name": "start", "initialization": {"kind": "mimetic"}},
    ],
}  # fmt: skip


def settings_of(tmp_path: Path, groups: list[tuple[dict[str, Any], str]]) -> list[Any]:
    found = []
    for number, (change, arm) in enumerate(groups):
        folder = tmp_path / f"run-{number}"
        RunWriter.create(folder, BASE | change).close()
        with open_run(folder) as run:
            found.append(setting_of(run, arm, f"{number} {arm}"))
    return found


def test_arms_of_one_experiment_differ_in_what_they_set_and_nothing_is_warned(tmp_path: Path) -> None:
    found = settings_of(tmp_path, [({}, "standard"), ({}, "spectral")])
    assert differing(found) == {"model.projection": [None, "spectral"], "model.projection.shift": [None, 0.5]}
    assert warnings(found) == []
    assert by_design(found) == ""


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"task": {"kind": "listops", "length": 12}}, "data are not the same"),
        ({"seeds": [1, 2]}, "1 are shared"),
        ({"seeds": [5]}, "nothing is paired"),
        ({"batch_size": 64}, "not in the same order"),
        ({"optimizer": {"kind": "adamw", "learning_rate": 0.01}}, "optimizer.learning_rate"),
        ({"steps": 20}, "steps"),
        ({"model": {"kind": "encoder", "d_model": 16}}, "model.d_model"),
    ],
)
def test_anything_else_that_differs_is_warned_of(tmp_path: Path, change: dict[str, Any], word: str) -> None:
    found = settings_of(tmp_path, [({}, "standard"), (change, "spectral")])
    (sentence,) = warnings(found)
    assert re.search(re.escape(word), sentence)


def test_an_arm_that_changes_the_start_is_named(tmp_path: Path) -> None:
    found = settings_of(tmp_path, [({}, "standard"), ({}, "start")])
    assert warnings(found) == []
    assert "starting weights" in by_design(found)
