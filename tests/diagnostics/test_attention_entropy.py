"""Attention entropy on snapshots whose entropy is known."""

import numpy as np
import pytest

from sandbox.diagnostics.attention_entropy import AttentionEntropy
from sandbox.diagnostics.rows import CELLS_PER_HEAD
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import PerHead
from tests.diagnostics.views import probe, random_view, view


def columns(snapshot: object) -> dict[str, np.ndarray]:
    answer = AttentionEntropy().read(snapshot)  # type: ignore[arg-type]
    assert isinstance(answer, PerHead)
    return answer.columns


def self_attention(weights: np.ndarray, visible: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """One layer; weights (run, batch, head, query, key)."""
    tokens = np.zeros((weights.shape[1], weights.shape[-1]), dtype=int)
    return columns(view(probe(tokens, visible), {"blocks.0.attention.weights": weights}))


def test_flat_attention_has_the_logarithm_of_the_number_of_keys() -> None:
    found = self_attention(np.full((2, 3, 1, 4, 4), 0.25))
    assert found["entropy"] == pytest.approx(np.full((2, 1, 1), np.log(4)))
    assert found["normalized entropy"] == pytest.approx(np.ones((2, 1, 1)))
    assert found["self-attention mass"] == pytest.approx(np.full((2, 1, 1), 0.25))


def test_attention_switched_off_has_no_entropy_and_all_of_the_self_attention_mass() -> None:
    found = self_attention(np.broadcast_to(np.eye(4), (1, 3, 1, 4, 4)))
    assert {name: float(values[0, 0, 0]) for name, values in found.items()} == {
        "entropy": 0.0,
        "normalized entropy": 0.0,
        "self-attention mass": 1.0,
    }


def test_every_head_layer_and_run_keeps_its_own_place() -> None:
    flat, sharp = np.full((1, 2, 1, 3, 3), 1 / 3), np.broadcast_to(np.eye(3), (1, 2, 1, 3, 3))
    first = np.concatenate([np.concatenate([flat, sharp], 2), np.concatenate([sharp, sharp], 2)])
    second = np.concatenate([np.concatenate([sharp, flat], 2), np.concatenate([sharp, flat], 2)])
    trace = {"blocks.10.attention.weights": second, "blocks.2.attention.weights": first}
    found = columns(view(probe(np.zeros((2, 3), int)), trace))["normalized entropy"]
    assert found == pytest.approx(np.array([[[1, 0], [0, 1]], [[0, 0], [0, 1]]]))


def test_padding_never_counts_whatever_stands_there() -> None:
    visible = np.array([[True, True, False, False]])
    weights = np.full((1, 1, 1, 4, 4), np.nan)
    weights[..., :2, :2] = 0.5
    found = self_attention(weights, visible)
    assert found["entropy"][0, 0, 0] == pytest.approx(np.log(2))
    assert found["normalized entropy"][0, 0, 0] == pytest.approx(1.0)
    assert found["self-attention mass"][0, 0, 0] == pytest.approx(0.5)


def test_a_query_with_one_visible_key_is_left_out_of_the_normalized_entropy_only() -> None:
    visible = np.array([[True, True], [True, False]])
    weights = np.array([[0.5, 0.5], [0.5, 0.5]], float)[None, None].repeat(2, 1).reshape(1, 2, 1, 2, 2)
    weights[0, 1, 0] = [[1, 0], [1, 0]]
    found = self_attention(weights, visible)
    assert found["normalized entropy"][0, 0, 0] == pytest.approx(1.0)
    assert found["entropy"][0, 0, 0] == pytest.approx(2 / 3 * np.log(2))
    answer = AttentionEntropy().read(
        view(probe(np.zeros((2, 2), int), visible), {"blocks.0.attention.weights": weights})
    )
    assert isinstance(answer, PerHead) and "leaves out 1 rows" in answer.provenance.note


def test_where_every_query_sees_one_key_the_normalized_entropy_says_why_it_is_missing() -> None:
    answer = AttentionEntropy().read(
        view(probe(np.zeros((2, 1), int)), {"attention.weights": np.ones((1, 2, 1, 1, 1))})
    )
    assert isinstance(answer, PerHead)
    assert "single key" in answer.not_applicable["normalized entropy"]
    assert "normalized entropy" not in answer.columns


def test_a_learned_query_has_entropy_but_no_self_attention() -> None:
    weights = np.full((2, 3, 1, 1, 4), 0.25)
    answer = AttentionEntropy().read(view(probe(np.zeros((3, 4), int)), {"attention.weights": weights}))
    assert isinstance(answer, PerHead)
    assert answer.columns["entropy"] == pytest.approx(np.full((2, 1, 1), np.log(4)))
    assert list(answer.columns) == ["entropy", "normalized entropy"]
    assert "no token" in answer.not_applicable["self-attention mass"]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_diverged_head_is_nan_and_leaves_the_others_alone(value: float) -> None:
    sound = columns(random_view())
    broken = random_view()
    broken.trace["blocks.1.attention.weights"][2, 0, 1, 0, 0] = value
    found = columns(broken)
    for name, values in found.items():
        assert np.isnan(values[2, 1, 1])
        values[2, 1, 1] = sound[name][2, 1, 1]
        assert np.array_equal(values, sound[name])


def test_a_large_map_is_sampled_and_says_so() -> None:
    side = 80
    weights = np.full((1, 5, 1, side, side), 1 / side)
    answer = AttentionEntropy().read(
        view(probe(np.zeros((5, side), int)), {"blocks.0.attention.weights": weights})
    )
    assert isinstance(answer, PerHead) and 5 * side**2 > CELLS_PER_HEAD
    assert answer.provenance.exactness == "sampled"
    assert answer.provenance.note.startswith("4 of 5 probe sequences")
    assert answer.provenance.sample_size == 4 * side


def test_a_model_without_attention_is_told_as_such() -> None:
    answer = AttentionEntropy().read(view(probe(np.zeros((2, 3), int)), {"embedding": np.ones((1, 2, 3, 2))}))
    assert answer == NotApplicable("This model records no attention weights, so there is nothing to measure.")
