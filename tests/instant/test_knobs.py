"""The knobs: what is taken, what is refused in a sentence, and the experiment that they make."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.engine.native.coverage import foreign
from sandbox.experiment.experiment import load
from sandbox.foundations.errors import InvalidKnob
from sandbox.runner.instant.knobs import (
    EPOCHS,
    KNOBS,
    ROWS,
    Knobs,
    check_knobs,
    defaults,
    experiment_plain,
    steps_per_epoch,
)

TURNED = st.fixed_dictionaries({knob.name: st.sampled_from(knob.stops) for knob in KNOBS})


def possible(knobs: Knobs) -> bool:
    return knobs["n_terms"] <= knobs["length"] and knobs["n_embeddings"] >= knobs["modulus"]


@given(TURNED)
def test_whatever_the_sliders_allow_is_an_experiment_that_the_native_engine_trains(knobs: Knobs) -> None:
    if not possible(knobs):
        with pytest.raises(InvalidKnob, match=r"^[^.]+\.?.*\.$"):
            check_knobs(knobs)
        return
    experiment = load(experiment_plain(check_knobs(knobs)))
    setting = experiment.setting("standard")
    assert foreign(setting) == ""
    assert experiment.steps == EPOCHS * (ROWS // knobs["batch_size"]) == EPOCHS * steps_per_epoch(knobs)
    assert setting.task.n_tokens == knobs["length"] and len(experiment.seeds) == knobs["n_seeds"]
    assert experiment.to_plain()["optimizer"]["learning_rate"] == knobs["learning_rate"]
    assert experiment.to_plain()["optimizer"]["weight_decay"] == knobs["weight_decay"]
    assert experiment.to_plain()["model"]["d_ff"] == knobs["d_ff"]


def test_what_is_not_said_stands_as_at_first() -> None:
    assert check_knobs({}) == defaults()
    assert check_knobs({"d_model": 4}) == defaults() | {"d_model": 4}
    assert (
        defaults()["learning_rate"] == 3e-3 and defaults()["batch_size"] == 32 and defaults()["length"] == 12
    )


@pytest.mark.parametrize(
    ("given_knobs", "said"),
    [
        ({"warp": 9}, "no knob 'warp'"),
        ({"learning_rate": math.nan}, "Learning rate is nan"),
        ({"learning_rate": math.inf}, "between 0.0001 and 0.3"),
        ({"learning_rate": "0.1"}, "Learning rate is '0.1'"),
        ({"learning_rate": True}, "Learning rate is True"),
        ({"d_ff": 10**2000}, "Feed-forward width is 1000"),
        ({"batch_size": 32.5}, "whole number between 16 and 512"),
        ({"n_seeds": 100}, "between 1 and 8"),
        ({"n_terms": 13}, "Terms k is 13 but the sequence has only 12 tokens"),
        ({"modulus": 3}, "2 embeddings for 3 tokens"),
        ([1, 2], "names with numbers"),
        (None, "names with numbers"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_short_sentence(given_knobs: Any, said: str) -> None:
    with pytest.raises(InvalidKnob) as refused:
        check_knobs(given_knobs)
    assert said in str(refused.value)
    assert str(refused.value).endswith(".") and len(str(refused.value)) < 300


def test_every_knob_stops_at_its_default_and_rises() -> None:
    for knob in KNOBS:
        assert knob.default in knob.stops and list(knob.stops) == sorted(set(knob.stops)), knob.name
        assert knob.check(knob.low) == knob.low and knob.check(knob.high) == knob.high
