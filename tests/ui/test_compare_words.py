"""Sentences and warnings of a comparison: counts, intervals, and no verdict where they allow none."""

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.store import RunWriter, open_run
from sandbox.store.compared import Compared
from sandbox.ui import compare_standings
from sandbox.ui.compare_settings import by_design, differing, setting_of, warnings
from sandbox.ui.compare_table import settings_table
from sandbox.ui.compare_words import NO_VERDICT, Standing, of_pairs, sentences, verdict
from tests.ui import described


def standings(gaps: list[float], bootstrap: tuple[float, float] | None = None) -> list[Standing]:
    base = [0.5] * len(gaps)
    other = [b + g for b, g in zip(base, gaps, strict=True)]
    return [
        Standing(label="standard", values=tuple(base), place=1500.0),
        Standing(
            label="x", values=tuple(other), place=1500.0, difference=of_pairs(np.array(gaps)),
            paired_at=1500.0, bootstrap=bootstrap,
        ),
    ]  # fmt: skip


def said(gaps: list[float], bootstrap: tuple[float, float] | None = None, unfair: bool = False) -> str:
    found = sentences("test_accuracy", "step", 1500.0, standings(gaps, bootstrap), "standard", unfair)
    return " ".join(found).replace("\u00a0", " ")


def test_a_sentence_has_its_counts_and_both_intervals() -> None:
    words = said([0.10, 0.11, 0.09, 0.10, 0.12], (0.09, 0.11))
    assert words.startswith(
        "At step 1,500, held-out accuracy, mean over seeds: standard 50.0 % (n = 5); x 60.4 %"
    )
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


def test_one_interval_alone_clear_of_zero_is_no_verdict_and_says_so() -> None:
    gaps = [0.10, 0.11, 0.09, 0.10, 0.12]
    assert said(gaps, (-0.01, 0.2)).endswith(
        "no difference shown, since only the Student interval is clear of zero and both must agree."
    )
    assert "only the bootstrap interval" in said([0.3, -0.1, 0.2, 0.0], (0.01, 0.3))
    assert "must agree" not in said(gaps, (0.09, 0.11)) + said([0.1, -0.1], (-0.1, 0.1)) + said(gaps)


def test_arms_that_are_the_same_bit_for_bit_are_called_identical() -> None:
    first, second = standings([0.0, 0.0], (0.0, 0.0))
    _, pair = sentences("loss", "step", 1500.0, [first, replace(second, identical=True)], "standard", False)
    assert pair.endswith("identical, value for value, in 2 pairs.") and NO_VERDICT not in pair
    assert NO_VERDICT in said([0.0, 0.0], (0.0, 0.0)), "equal at one place is not yet identical"


@pytest.mark.parametrize(("value", "same"), [(0.5, True), (0.5 + 1e-16 * 4, False), (math.nan, False)])
def test_one_value_that_differs_in_its_last_bit_is_not_identical(value: float, same: bool) -> None:
    x, one = np.array([1.0, 2.0]), np.array([[0.25, 0.75], [0.5, 0.5]])
    other = one.copy()
    other[1, 1] = value
    reference = Compared("a", "run", "a", (0, 1), x, one)
    found, _, _ = compare_standings.standings(
        [reference, Compared("b", "run", "b", (0, 1), x, other)], reference, 1.0, whole=False, resting=False
    )
    assert [standing.identical for standing in found] == [False, same]


def test_one_pair_is_too_few_and_none_is_none() -> None:
    assert "too few to say" in said([0.3])
    assert "no pair of seeds" in said([math.nan, math.nan])
    assert "1 pair, 1 left out" in said([0.3, math.nan])


def test_an_unfair_comparison_says_so_beside_its_differences() -> None:
    assert "no difference is an arm's alone" in said([0.1, 0.2], unfair=True)


def test_a_mean_and_a_pair_say_where_they_were_recorded_if_not_here() -> None:
    first, second = standings([0.1, 0.2])
    earlier = [first, replace(second, place=1400.0, paired_at=1000.0)]
    mean, pair = sentences("test_accuracy", "step", 1500.0, earlier, "standard", False)
    assert mean.endswith("(n = 2); x 65.0\u00a0% (n = 2, recorded at step 1,400).")
    assert "seed by seed at step 1,000, the last that both have: +15.0 points" in pair


@pytest.mark.parametrize(("axis", "word"), [("step", "both were recorded"), ("seconds", "align by steps")])
def test_where_nothing_is_paired_the_reason_is_said(axis: Any, word: str) -> None:
    first, second = standings([math.nan, math.nan])
    apart = [first, replace(second, paired_at=math.nan)]
    _, pair = sentences("test_accuracy", axis, 1500.0, apart, "standard", False)
    assert "nothing is paired" in pair and word in pair


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


@pytest.fixture
def known(runs_folder: Path) -> None:
    """What settings are called stands in the catalogue."""
    described.put_into(runs_folder)


def settings_of(tmp_path: Path, groups: list[tuple[dict[str, Any], str]]) -> list[Any]:
    found = []
    for number, (change, arm) in enumerate(groups):
        folder = tmp_path / f"run-{number}"
        RunWriter.create(folder, BASE | change).close()
        with open_run(folder) as run:
            found.append(setting_of(run, arm, f"{number} {arm}"))
    return found


@pytest.mark.usefixtures("known")
def test_arms_of_one_experiment_differ_in_what_they_set_and_nothing_is_warned(tmp_path: Path) -> None:
    found = settings_of(tmp_path, [({}, "standard"), ({}, "spectral")])
    assert differing(found) == {"model.projection": [None, "spectral"]}
    assert warnings(found) == []
    assert by_design(found) == ""


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"task": {"kind": "listops", "length": 12}}, "data are not the same"),
        ({"seeds": [1, 2]}, "1 is shared"),
        ({"seeds": [5]}, "nothing is paired"),
        ({"batch_size": 64}, "not in the same order"),
        ({"optimizer": {"kind": "adamw", "learning_rate": 0.01}}, "Optimizer: learning rate"),
        ({"steps": 20}, "Steps"),
        ({"model": {"kind": "encoder", "d_model": 16}}, "Architecture: width"),
        ({"fork": {"run": "old", "step": 5, "stages": [], "values": []}}, "goes on from old at step 5"),
    ],
)
def test_anything_else_that_differs_is_warned_of(tmp_path: Path, change: dict[str, Any], word: str) -> None:
    found = settings_of(tmp_path, [({}, "standard"), (change, "spectral")])
    (sentence,) = warnings(found)
    assert re.search(re.escape(word), sentence)


@pytest.mark.usefixtures("known")
def test_a_knob_of_an_arm_is_listed_only_where_two_arms_have_it_otherwise(tmp_path: Path) -> None:
    both = {
        "name": "both",
        "projection": {"kind": "spectral", "shift": 0.5},
        "output": {"kind": "preconditioned"},
    }
    more = {"name": "more", "projection": {"kind": "spectral", "shift": 2.0}}
    change = {"arms": [*BASE["arms"], both, more]}
    equal = differing(
        settings_of(tmp_path / "equal", [(change, a) for a in ("standard", "spectral", "both")])
    )
    assert equal == {
        "model.projection": [None, "spectral", "spectral"], "model.output": [None, None, "preconditioned"],
    }  # fmt: skip
    apart = differing(
        settings_of(tmp_path / "apart", [(change, a) for a in ("standard", "spectral", "more")])
    )
    assert apart["model.projection.shift"] == [None, 0.5, 2.0]


@pytest.mark.usefixtures("known")
def test_an_arm_that_changes_the_start_is_named(tmp_path: Path) -> None:
    found = settings_of(tmp_path, [({}, "standard"), ({}, "start")])
    assert warnings(found) == []
    assert "starting weights" in by_design(found)


@pytest.mark.usefixtures("known")
def test_a_fork_is_set_to_what_it_goes_on_with_and_nothing_raw_is_shown(tmp_path: Path) -> None:
    value = {"step": 5, "arm": "spectral", "key": "projection.shift", "value": 2.0}
    fork = {"run": "old", "step": 5, "stages": [{"until": 5, "changes": []}], "values": [value]}
    found = settings_of(tmp_path, [({}, "spectral"), ({"fork": fork}, "spectral")])
    rows = differing(found)
    assert rows["model.projection.shift"] == [0.5, 2.0]
    table = settings_table([one.label for one in found], rows)
    assert "fork" not in table and "stages" not in table and "old at step 5" in table.replace("\\", "")
    assert "shift" not in " ".join(warnings(found)), "it is the fork's own"
