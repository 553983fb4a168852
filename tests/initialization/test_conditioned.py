"""Conditioned initialization: orthonormal columns, identity values, and W_O left alone."""

import pytest
import torch

from sandbox.initialization.conditioned import ConditionedInitialization
from sandbox.models.encoder import Encoder
from sandbox.tasks.sparse_modular_addition import SparseModularAddition

TASK = SparseModularAddition()


def build(initialization=None, seed=0, **knobs):
    slots = {} if initialization is None else {"initialization": initialization}
    return Encoder(d_model=12, n_heads=3, n_layers=2, **knobs, **slots).build(TASK, seed)


def test_queries_and_keys_have_orthonormal_columns_and_differ():
    projections = build(ConditionedInitialization()).projections()
    for name in ("query", "key"):
        w = projections[name].double()
        gram = w.transpose(-2, -1) @ w
        torch.testing.assert_close(gram, torch.eye(4, dtype=torch.float64).expand_as(gram), rtol=0, atol=1e-6)
    drawn = torch.cat([projections["query"].flatten(0, 1), projections["key"].flatten(0, 1)])
    assert all(not torch.equal(a, b) for i, a in enumerate(drawn) for b in drawn[:i])


def test_values_are_the_identity_of_either_reading():
    fused = build(ConditionedInitialization()).projections()["value"]
    assert torch.equal(torch.cat(list(fused[0]), dim=1), torch.eye(12))
    first = build(ConditionedInitialization(values="first")).projections()["value"]
    assert all(torch.equal(head, torch.eye(12, 4)) for head in first[0])


def test_everything_else_starts_as_in_the_standard_arm():
    standard, conditioned = build().state_dict(), build(ConditionedInitialization()).state_dict()
    changed = {name for name in standard if not torch.equal(standard[name], conditioned[name])}
    expected = {f"blocks.{b}.attention.w_{w}.weight" for b in (0, 1) for w in ("query", "key", "value")}
    assert changed == expected


@pytest.mark.parametrize("initialization", [None, ConditionedInitialization()])
def test_the_start_depends_on_the_seed_alone(initialization):
    torch.manual_seed(1)
    first = build(initialization).state_dict()
    torch.manual_seed(2)
    second = build(initialization).state_dict()
    other = build(initialization, seed=1).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_building_leaves_the_global_random_state_alone():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    build(ConditionedInitialization())
    assert torch.equal(before, torch.get_rng_state())
