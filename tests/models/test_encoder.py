"""The encoder: padding leaks nothing, read-outs, and a depth-independent start."""

import pytest
import torch

from sandbox.foundations.errors import InvalidExperiment
from sandbox.foundations.probes import recording
from sandbox.models.encoder import Encoder
from sandbox.models.placement.post_ln import PostLN
from sandbox.tasks.listops import ListOps
from sandbox.tasks.sparse_modular_addition import SparseModularAddition

LISTOPS = ListOps(n_train=64, n_test=64)


@pytest.mark.parametrize("placement", ["pre-ln", "post-ln"])
@pytest.mark.parametrize("readout", ["mean", "first", "last"])
def test_padding_changes_no_answer(readout, placement):
    slots = {"placement": PostLN()} if placement == "post-ln" else {}
    model = Encoder(d_model=12, n_heads=3, n_layers=2, readout=readout, **slots).build(LISTOPS, 0)
    tokens = torch.tensor(LISTOPS.data(0).test_tokens[:20]).long()
    length = int((tokens != 0).sum(1).min())
    short = tokens[(tokens != 0).sum(1) == length]
    torch.testing.assert_close(model(short), model(short[:, :length]), rtol=0, atol=2e-6)


def test_probe_names_are_those_that_diagnostics_read():
    model = Encoder(d_model=12, n_heads=3, n_layers=2).build(LISTOPS, 0)
    with recording(model) as trace:
        model(torch.tensor(LISTOPS.data(0).test_tokens[:5]).long())
    assert trace["embedding"].shape == (5, 32, 12)
    assert trace["blocks.1.attention.weights"].shape == (5, 3, 32, 32)
    assert trace["blocks.1.attention.head_output"].shape == (5, 3, 32, 4)
    assert trace["blocks.0.residual"].shape == (5, 32, 12)
    assert trace["readout"].shape == (5, 12) and trace["logits"].shape == (5, 10)


def test_a_second_layer_does_not_move_the_start_of_the_first():
    one = Encoder(n_layers=1).build(LISTOPS, 0).state_dict()
    two = Encoder(n_layers=2).build(LISTOPS, 0).state_dict()
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_a_width_that_heads_cannot_share_is_refused():
    with pytest.raises(InvalidExperiment, match="Width 32 cannot be split over 3 heads"):
        Encoder(d_model=32, n_heads=3)


def test_the_default_start_has_pytorchs_bounds():
    model = Encoder(d_model=32).build(SparseModularAddition(), 0)
    weight = dict(model.named_parameters())["blocks.0.attention.w_query.weight"]
    assert weight.abs().max() <= 32**-0.5 and weight.abs().max() > 0.95 * 32**-0.5
