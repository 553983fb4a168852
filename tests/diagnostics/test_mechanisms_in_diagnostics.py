"""Every diagnostic asked of every arm, mechanisms in particular: an answer, or the reason for none."""

import json
from functools import cache

import numpy as np
import pytest

from sandbox.attention import Mechanism
from sandbox.diagnostics import Diagnostic, SnapshotView, probe_batch
from sandbox.diagnostics.attention_entropy import AttentionEntropy
from sandbox.diagnostics.attention_map import AttentionMapOfSequence
from sandbox.diagnostics.rows import attention_rows
from sandbox.diagnostics.theta import Theta
from sandbox.engine.torch_engine import TorchGroup
from sandbox.experiment.arm import arm_kinds
from sandbox.experiment.experiment import from_plain_experiment
from sandbox.foundations.answers import NotApplicable
from sandbox.foundations.readings import AttentionMap, PerHead, decode, encode

ADDITION = {"kind": "sparse modular addition", "length": 8, "n_terms": 3, "n_train": 64, "n_test": 64}
LISTOPS = {"kind": "listops", "max_length": 16, "n_train": 64, "n_test": 64}
WITHOUT = {"nystrom", "cross-covariance"}


@cache
def trained(arm, n_layers, task):
    experiment = from_plain_experiment(
        {
            "task": {"addition": ADDITION, "listops": LISTOPS}[task],
            "model": {"kind": "encoder", "d_model": 16, "n_heads": 2, "n_layers": n_layers, "d_ff": 8},
            "arms": [arm],
            "batch_size": 5,
            "steps": 4,
            "seeds": [0, 3],
        }
    )
    group = TorchGroup(experiment.setting(arm), experiment.seeds)
    group.advance(2)
    return group, probe_batch(group.setting.task, group.task_data[0], seed=0, n_sequences=8)


def snapshot(arm, n_layers=2, task="addition"):
    """Width 16 on 8 tokens with 2 heads: channel weights have the shape of token weights."""
    group, probe = trained(arm, n_layers, task)
    return SnapshotView.of(group, probe, {})


ALONE = sorted(kind for kind, slot in arm_kinds().items() if kind != "weight-selection")
ASKED = [*((kind, "addition") for kind in ALONE), *((kind, "listops") for kind in Mechanism.variants)]
OF_ONE_NUMBER = {"sigma-reparam", "warm-up"}
"""Arms with a weight that is a single number; one in the fast suite is enough."""


@pytest.mark.parametrize(
    ("kind", "task"),
    [
        pytest.param(kind, task, marks=[] if kind in OF_ONE_NUMBER else [pytest.mark.slow])
        for kind, task in ASKED
    ],
)
def test_every_diagnostic_answers_or_says_why_not(kind, task):
    view = snapshot(kind, task=task)
    for name, diagnostic in Diagnostic.variants.items():
        answer = diagnostic().read(view)
        columns, meta = encode(answer)
        assert type(decode(columns, json.loads(json.dumps(meta)))) is type(answer), name
        if isinstance(answer, NotApplicable):
            assert answer.reason.endswith("."), name


@pytest.mark.parametrize("kind", sorted(WITHOUT))
@pytest.mark.parametrize("diagnostic", ["attention entropy", "theta", "attention map", "attention condition"])
def test_without_token_weights_the_mechanism_gives_the_reason(diagnostic, kind):
    assert diagnostic in Diagnostic.variants
    answer = Diagnostic.variants[diagnostic]().read(snapshot(kind))
    assert answer == NotApplicable(Mechanism.variants[kind].no_token_weights)


@pytest.mark.parametrize("kind", sorted(set(Mechanism.variants) - WITHOUT))
def test_no_weight_stands_where_a_query_may_not_look(kind):
    view = snapshot(kind, task="listops")
    rows = attention_rows(view)
    sound = rows.weights[~rows.broken]
    assert (sound[:, ~rows.visible] == 0).all() and (sound[:, rows.visible] > 0).any(axis=0).all()
    np.testing.assert_allclose(sound.sum(axis=-1), 1, atol=1e-5)
    entropy = AttentionEntropy().read(view)
    assert isinstance(entropy, PerHead)
    normalized = entropy.columns["normalized entropy"]
    assert (np.isnan(normalized) == rows.broken).all()
    assert (normalized[~rows.broken] > 0.5).all() and (normalized[~rows.broken] <= 1).all()


def test_causal_rows_count_the_past_alone():
    rows = attention_rows(snapshot("causal"))
    assert np.array_equal(rows.n_visible[0].reshape(8, 8), np.tile(np.arange(1, 9), (8, 1)))
    drawn = AttentionMapOfSequence().read(snapshot("causal"))
    assert isinstance(drawn, AttentionMap)
    assert np.array_equal(drawn.mask, np.tri(8, dtype=bool))
    theta = Theta().read(snapshot("causal"))
    assert isinstance(theta, PerHead) and "8 rows with one visible key left out" in theta.provenance.note


def test_shifted_windows_count_the_keys_of_each_layer():
    rows = attention_rows(snapshot("shifted-window"))
    first, second = rows.n_visible.reshape(2, 8, 8)[:, 0]
    assert first.tolist() == [2, 2, 4, 4, 4, 4, 2, 2]
    assert second.tolist() == [4] * 8
    assert rows.visible.sum() == 8 * (4 * 4 + 4 * 6)  # in some layer


def test_flat_attention_has_normalized_entropy_one_in_every_layer():
    view = snapshot("shifted-window")
    for layer in (0, 1):
        place = f"blocks.{layer}.attention."
        seen = view.trace[f"{place}mechanism.seen"][:, :, None]
        view.trace[f"{place}weights"] = np.repeat(seen / seen.sum(axis=-1, keepdims=True), 2, axis=2)
    answer = AttentionEntropy().read(view)
    assert isinstance(answer, PerHead)
    np.testing.assert_allclose(answer.columns["normalized entropy"], 1.0, atol=1e-12)


def test_a_layer_that_attends_between_channels_is_left_open():
    """Its channel weights are 8 by 8 here, as token weights are, and are not taken for them."""
    answer = AttentionEntropy().read(snapshot("dual-axis"))
    assert isinstance(answer, PerHead)
    for values in answer.columns.values():
        assert np.isnan(values[:, 0]).all() and np.isfinite(values[:, 1]).all()
    assert "no token weights in layer 1" in answer.provenance.note
    drawn = AttentionMapOfSequence().read(snapshot("dual-axis"))
    assert isinstance(drawn, AttentionMap)
    assert np.isnan(drawn.weights[:, 0][..., drawn.mask]).all()
    assert np.isfinite(drawn.weights[:, 1]).all() and "layer 1" in drawn.provenance.note


def test_channel_attention_alone_gives_its_reason():
    answer = AttentionEntropy().read(snapshot("dual-axis", n_layers=1))
    assert isinstance(answer, NotApplicable) and "channels" in answer.reason


def test_linear_attention_shows_the_rows_that_its_sums_imply():
    view = snapshot("linear")
    weights = view.trace["blocks.1.attention.weights"]
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
    mixed = weights @ view.trace["blocks.1.attention.value"]
    np.testing.assert_allclose(mixed, view.trace["blocks.1.attention.head_output"], atol=1e-5)
