"""What each arm costs before it trains: parameters, operations as the paper counts them, memory."""

import pytest

from sandbox.experiment.describe import check

N, D, HEADS, LAYERS, BATCH = 10, 24, 3, 2, 16
PLAIN = {
    "task": {"kind": "sparse modular addition", "length": N, "n_terms": 3, "n_train": 64, "n_test": 64},
    "model": {"kind": "encoder", "d_model": D, "n_heads": HEADS, "n_layers": LAYERS, "d_ff": 20},
    "batch_size": BATCH,
    "steps": 10,
}


def arms(*specs):
    answer = check(PLAIN | {"arms": list(specs)})
    assert answer["ok"], answer["error"]
    return {arm["name"]: arm for arm in answer["arms"]}


def test_projections_cost_what_the_papers_table_says():
    """2 N D d per head plain, N d more with the identity correction (arXiv 2603.07162)."""
    found = arms("standard", "spectral", "spectral:query=false,key=false")
    products, d = 3 * HEADS * LAYERS, D // HEADS
    assert found["standard"]["projection_flops"] == products * 2 * N * D * d
    assert found["spectral"]["projection_flops"] == products * (2 * N * D * d + N * d)
    one = found["spectral:query=false,key=false"]["projection_flops"]
    assert one == pytest.approx(products * 2 * N * D * d + products / 3 * N * d)


def test_a_steps_operations_differ_by_the_corrections_of_its_sequences():
    found = arms("standard", "spectral", "spectral-svd", "spectral-svd:every=10")
    extra = found["spectral"]["flops"] - found["standard"]["flops"]
    assert extra == pytest.approx(BATCH * 3 * HEADS * LAYERS * N * D // HEADS)
    seldom, always = (found[name]["flops"] for name in ("spectral-svd:every=10", "spectral-svd"))
    assert found["spectral"]["flops"] < seldom < always


def test_only_trained_numbers_are_parameters():
    found = arms("standard", "spectral-svd", "sigma-reparam", "warm-up", "qk-l2", "no-norm")
    counts = {name: arm["parameters"] - found["standard"]["parameters"] for name, arm in found.items()}
    assert counts == {
        "standard": 0,
        "spectral-svd": 0,
        "sigma-reparam": 3 * LAYERS,
        "warm-up": 0,
        "qk-l2": LAYERS,
        "no-norm": -2 * D * (2 * LAYERS + 1),
    }


def test_the_arms_parts_are_within_the_whole():
    answer = check(PLAIN | {"arms": ["standard", "spectral"], "seeds": [0, 1]})
    whole = answer["cost"]["flops"]
    assert sum(arm["flops"] for arm in answer["arms"]) * 10 * 2 == pytest.approx(whole, rel=0.01)
    assert all(0 < arm["bytes"] < answer["cost"]["bytes"] for arm in answer["arms"])


def test_the_visual_model_has_no_projections_to_count():
    answer = check({"model": {"kind": "visual model"}, "task": {"kind": "sparse modular addition"}})
    assert answer["arms"][0]["projection_flops"] == 0
