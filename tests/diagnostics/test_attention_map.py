"""The attention map: the right sequence, its labels, and nothing of its padding."""

import numpy as np

from sandbox.diagnostics.attention_map import AttentionMapOfSequence
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import AttentionMap
from tests.diagnostics.views import probe, random_view, view


def test_the_map_is_the_traced_attention_of_that_sequence_bit_for_bit() -> None:
    snapshot = random_view(padded=False)
    answer = AttentionMapOfSequence(sequence=4).read(snapshot)
    assert isinstance(answer, AttentionMap) and answer.weights.dtype == np.float32
    for layer in range(2):
        traced = snapshot.trace[f"blocks.{layer}.attention.weights"][:, 4]
        assert np.array_equal(answer.weights[:, layer], traced)
    labels = tuple(map(str, snapshot.probe.tokens[4]))
    assert answer.key_labels == answer.query_labels == labels and answer.mask.all()


def test_padding_at_the_end_is_cut_off_and_said_so() -> None:
    answer = AttentionMapOfSequence(sequence=1).read(random_view())
    assert isinstance(answer, AttentionMap)
    assert answer.weights.shape == (3, 2, 2, 3, 3) and answer.mask.all()
    assert "2 padded positions cut off" in answer.provenance.note


def test_padding_inside_a_sequence_is_masked_whatever_stands_there() -> None:
    visible = np.array([[True, False, True]])
    weights = np.full((1, 1, 1, 3, 3), np.nan)
    weights[..., ::2, ::2] = 0.5
    answer = AttentionMapOfSequence().read(
        view(probe([[0, 1, 0]], visible), {"blocks.0.attention.weights": weights})
    )
    assert isinstance(answer, AttentionMap)
    assert answer.mask.tolist() == [[True, False, True], [False] * 3, [True, False, True]]
    assert answer.weights[0, 0, 0].tolist() == [[0.5, 0, 0.5], [0, 0, 0], [0.5, 0, 0.5]]


def test_a_learned_query_is_one_row_with_its_own_label() -> None:
    weights = np.full((2, 1, 1, 1, 4), 0.25)
    answer = AttentionMapOfSequence().read(view(probe([[0, 1, 1, 0]]), {"attention.weights": weights}))
    assert isinstance(answer, AttentionMap)
    assert answer.weights.shape == (2, 1, 1, 1, 4) and answer.query_labels == ("query",)
    assert answer.key_labels == ("0", "1", "1", "0")


def test_a_diverged_map_stays_nan() -> None:
    weights = np.full((1, 1, 1, 2, 2), np.nan)
    answer = AttentionMapOfSequence().read(view(probe([[0, 1]]), {"blocks.0.attention.weights": weights}))
    assert isinstance(answer, AttentionMap) and np.isnan(answer.weights).all()


def test_a_sequence_beyond_the_probe_batch_is_told_the_range() -> None:
    answer = AttentionMapOfSequence(sequence=6).read(random_view())
    assert answer == NotApplicable("The probe batch has 6 sequences; choose one from 0 to 5.")
