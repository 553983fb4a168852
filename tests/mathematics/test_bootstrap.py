"""The bootstrap against all resamples of a small sample, and its answers where there is nothing to draw."""

import itertools
import json
import subprocess
import sys

import numpy as np
import pytest

from sandbox.foundations.errors import InvalidData
from sandbox.mathematics.bootstrap import bootstrap_interval
from sandbox.runner import resampling


def test_it_agrees_with_every_possible_resample_of_four_values() -> None:
    values = np.array([0.3, -0.1, 0.9, 0.4])
    means = [np.mean(drawn) for drawn in itertools.product(values, repeat=4)]
    low, high = bootstrap_interval(values[None], resamples=20_000)
    assert low[0] == pytest.approx(np.quantile(means, 0.025), abs=0.03)
    assert high[0] == pytest.approx(np.quantile(means, 0.975), abs=0.03)


def test_values_that_are_none_are_left_out_and_two_are_needed() -> None:
    sound = np.array([0.3, -0.1, 0.9])
    values = np.array([[*sound, np.nan], [np.nan, 1.0, np.inf, np.nan], [np.nan] * 4, [2.0, 2.0, 2.0, 2.0]])
    low, high = bootstrap_interval(values)
    alone = bootstrap_interval(sound[None])
    assert (low[0], high[0]) == (alone[0][0], alone[1][0])
    assert np.isnan([low[1], high[1], low[2], high[2]]).all()
    assert (low[3], high[3]) == (2.0, 2.0)


def test_the_same_question_has_the_same_answer() -> None:
    values = np.random.default_rng(3).normal(size=(5, 6))
    first, again = bootstrap_interval(values), bootstrap_interval(values)
    np.testing.assert_array_equal(first, again)
    shuffled = bootstrap_interval(values[::-1])
    np.testing.assert_array_equal(first[0], shuffled[0][::-1])


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, 2.0])
def test_a_confidence_that_is_none_is_refused(confidence: float) -> None:
    with pytest.raises(InvalidData, match="confidence"):
        bootstrap_interval(np.zeros((1, 3)), confidence)


def test_another_process_answers_the_same_and_this_one_needs_no_scipy() -> None:
    values = np.array([[0.3, -0.1, 0.9, np.nan], [1.0, 2.0, 4.0, 8.0]])
    low, high = bootstrap_interval(values)
    answered = np.array(resampling.intervals(resampling.rows(values)))
    np.testing.assert_array_equal(answered, np.stack([low, high], axis=1))
    script = (
        "import sys; from sandbox.runner import resampling; resampling.intervals(((1.0, 2.0),)); "
        "print([m for m in ('scipy', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "question", ["", "{", "[]", '{"values": [1], "seed": 0}', '{"values": [["a"]], "seed": 0}']
)
def test_a_question_that_cannot_be_read_gets_a_sentence(question: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sandbox.mathematics.bootstrap"],
        input=question,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert json.dumps(done.stdout) == '""'
